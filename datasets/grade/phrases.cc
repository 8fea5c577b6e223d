#include "datasets/grade/phrases.h"

#include <algorithm>

#include "datasets/grade/characters.h"

namespace espalier {
namespace {

constexpr Phrase kPhrases[] = {
    {"no solution", Reading::kMeans, "\\emptyset"},
    {"no solutions", Reading::kMeans, "\\emptyset"},
    {"no real solution", Reading::kMeans, "\\emptyset"},
    {"no real solutions", Reading::kMeans, "\\emptyset"},
    {"empty set", Reading::kMeans, "\\emptyset"},
    {"emptyset", Reading::kMeans, "\\emptyset"},
    {"none", Reading::kMeans, "\\emptyset"},
    {"there are no solutions", Reading::kMeans, "\\emptyset"},
    {"there is no solution", Reading::kMeans, "\\emptyset"},
    {"no such x", Reading::kMeans, "\\emptyset"},
    {"no real roots", Reading::kMeans, "\\emptyset"},
    {"no real root", Reading::kMeans, "\\emptyset"},
    {"all real numbers", Reading::kMeans, "\\mathbb{R}"},
    {"real numbers", Reading::kMeans, "\\mathbb{R}"},
    {"all reals", Reading::kMeans, "\\mathbb{R}"},
    {"all real x", Reading::kMeans, "\\mathbb{R}"},
    {"reals", Reading::kMeans, "\\mathbb{R}"},
    {"all real numbers x", Reading::kMeans, "\\mathbb{R}"},
    {"infinite", Reading::kMeans, "infinitely many"},
    {"infinite number", Reading::kMeans, "infinitely many"},
    {"infinite solutions", Reading::kMeans, "infinitely many"},
    {"infinitely many solutions", Reading::kMeans, "infinitely many"},
    {"infinite number of solutions", Reading::kMeans, "infinitely many"},
    {"infinitely many", Reading::kMeans, "infinitely many"},
    {"does not exist", Reading::kMeans, "undefined"},
    {"dne", Reading::kMeans, "undefined"},
    {"undefined", Reading::kMeans, "undefined"},
    {"yes", Reading::kMeans, "yes"},
    {"no", Reading::kMeans, "no"},
    {"true", Reading::kMeans, "true"},
    {"false", Reading::kMeans, "false"},

    {"is", Reading::kStates},
    {"are", Reading::kStates},
    {"was", Reading::kStates},
    {"were", Reading::kStates},
    {"be", Reading::kStates},
    {"it's", Reading::kStates},
    {"that's", Reading::kStates},
    {"equals", Reading::kStates},
    {"equal to", Reading::kStates},
    {"comes to", Reading::kStates},
    {"adds up to", Reading::kStates},
    {"amounts to", Reading::kStates},
    {"becomes", Reading::kStates},
    {"gives", Reading::kStates},
    {"get", Reading::kStates},
    {"gets", Reading::kStates},
    {"got", Reading::kStates},
    {"makes", Reading::kStates},
    {"made", Reading::kStates},
    {"has", Reading::kStates},
    {"have", Reading::kStates},
    {"had", Reading::kStates},
    {"costs", Reading::kStates},
    {"cost", Reading::kStates},
    {"pays", Reading::kStates},
    {"paid", Reading::kStates},
    {"earns", Reading::kStates},
    {"earned", Reading::kStates},
    {"needs", Reading::kStates},
    {"saves", Reading::kStates},
    {"sold", Reading::kStates},
    {"leaves", Reading::kStates},
    {"takes", Reading::kStates},
    {"exactly", Reading::kStates},
    {"precisely", Reading::kStates},
    {"only", Reading::kStates},
    {"just", Reading::kStates},
    {"about", Reading::kStates},
    {"approximately", Reading::kStates},
    {"therefore", Reading::kStates},
    {"total of", Reading::kStates},
    {"increase of", Reading::kStates},
    {"decrease of", Reading::kStates},
    {"profit of", Reading::kStates},

    {"at most", Reading::kBounds},
    {"at least", Reading::kBounds},
    {"than", Reading::kBounds},
    {"than or equal to", Reading::kBounds},
    {"up to", Reading::kBounds},
    {"to", Reading::kBounds},
    {"between", Reading::kBounds},
    {"above", Reading::kBounds},
    {"below", Reading::kBounds},
    {"over", Reading::kBounds},
    {"under", Reading::kBounds},
    {"beyond", Reading::kBounds},
    {"exceeds", Reading::kBounds},
    {"nearly", Reading::kBounds},
    {"almost", Reading::kBounds},
    {"cannot be", Reading::kBounds},
    {"can't be", Reading::kBounds},
    {"not be", Reading::kBounds},
    {"never be", Reading::kBounds},
    {"is not", Reading::kBounds},
    {"are not", Reading::kBounds},
    {"is at most", Reading::kBounds},
    {"is at least", Reading::kBounds},
    {"but", Reading::kBounds},
    {"except", Reading::kBounds},
    {"excluding", Reading::kBounds},
    {"not", Reading::kBounds},
    {"isn't", Reading::kBounds},
    {"never", Reading::kBounds},
    {"without", Reading::kBounds},
    {"half of", Reading::kBounds},
    {"thirds of", Reading::kBounds},
    {"quarters of", Reading::kBounds},
    {"or", Reading::kBounds},
    {"multiple of", Reading::kBounds},
    {"divisor of", Reading::kBounds},
    {"factor of", Reading::kBounds},
    {"minus", Reading::kBounds},
    {"plus", Reading::kBounds},
    {"times", Reading::kBounds},

    {"or more", Reading::kBoundBehind},
    {"or less", Reading::kBoundBehind},
    {"or fewer", Reading::kBoundBehind},
    {"or greater", Reading::kBoundBehind},
    {"or higher", Reading::kBoundBehind},
    {"at most", Reading::kBoundBehind},
    {"at least", Reading::kBoundBehind},
    {"minimum", Reading::kBoundBehind},
    {"maximum", Reading::kBoundBehind},
    {"and up", Reading::kBoundBehind},
    {"does not", Reading::kBoundBehind},
    {"is not", Reading::kBoundBehind},
    {"is wrong", Reading::kBoundBehind},
    {"is incorrect", Reading::kBoundBehind},
    {"isn't", Reading::kBoundBehind},

    {"the", Reading::kFunction},
    {"all", Reading::kFunction},
    {"any", Reading::kFunction},
    {"not", Reading::kFunction},
    {"no", Reading::kFunction},
    {"yes", Reading::kFunction},
    {"is", Reading::kFunction},
    {"are", Reading::kFunction},
    {"be", Reading::kFunction},
    {"was", Reading::kFunction},
    {"has", Reading::kFunction},
    {"can", Reading::kFunction},
    {"it", Reading::kFunction},
    {"we", Reading::kFunction},
    {"of", Reading::kFunction},
    {"if", Reading::kFunction},
    {"at", Reading::kFunction},
    {"on", Reading::kFunction},
    {"to", Reading::kFunction},
    {"for", Reading::kFunction},
    {"per", Reading::kFunction},
    {"by", Reading::kFunction},
    {"as", Reading::kFunction},
    {"an", Reading::kFunction},
    {"so", Reading::kFunction},
    {"am", Reading::kFunction},
    {"pm", Reading::kFunction},
    {"one", Reading::kFunction},
    {"two", Reading::kFunction},
    {"six", Reading::kFunction},
    {"ten", Reading::kFunction},

    {"greater than or equal to", Reading::kRelation, "\\ge"},
    {"less than or equal to", Reading::kRelation, "\\le"},
    {"at least", Reading::kRelation, "\\ge"},
    {"at most", Reading::kRelation, "\\le"},
    {"no less than", Reading::kRelation, "\\ge"},
    {"no more than", Reading::kRelation, "\\le"},
    {"greater than", Reading::kRelation, ">"},
    {"more than", Reading::kRelation, ">"},
    {"less than", Reading::kRelation, "<"},
    {"positive", Reading::kSign, "x > 0"},
    {"negative", Reading::kSign, "x < 0"},
    {"nonnegative", Reading::kSign, "x \\ge 0"},
    {"non negative", Reading::kSign, "x \\ge 0"},
    {"nonpositive", Reading::kSign, "x \\le 0"},
    {"non positive", Reading::kSign, "x \\le 0"},

    {"about", Reading::kNearly},
    {"approximately", Reading::kNearly},

    {"point", Reading::kShape},
    {"vertex", Reading::kShape},
    {"center", Reading::kShape},
    {"centre", Reading::kShape},
    {"interval", Reading::kShape},
    {"set", Reading::kShape},
    {"pair", Reading::kShape},
    {"vector", Reading::kShape},
    {"triple", Reading::kShape},
    {"ordered pair", Reading::kShape},

    {"answer is", Reading::kAnswer},
    {"answer:", Reading::kAnswer},
    {"answers are", Reading::kAnswer},
    {"answer =", Reading::kAnswer},
    {"answer would be", Reading::kAnswer},
    {"answer must be", Reading::kAnswer},
    {"answer should be", Reading::kAnswer},
    {"answer will be", Reading::kAnswer},
    {"option is", Reading::kAnswer},
    {"choice is", Reading::kAnswer},
    {"answer**", Reading::kAnswer},
    {"answer\n", Reading::kAnswer},
    {"ans:", Reading::kAnswer},
    {"ans =", Reading::kAnswer},
    {"\u7b54\u6848", Reading::kAnswer},
    {"\u6545\u9009", Reading::kAnswer},
    {"\u6545\u9078", Reading::kAnswer},
    {"\u5e94\u9009", Reading::kAnswer},

    {"\u662f", Reading::kIsInChinese},
    {"\u4e3a", Reading::kIsInChinese},
    {"\u70ba", Reading::kIsInChinese},

    {"is ", Reading::kLeadsOn},
    {"is:", Reading::kLeadsOn},
    {"Is ", Reading::kLeadsOn},
    {"are ", Reading::kLeadsOn},
    {"therefore ", Reading::kLeadsOn},
    {"thus ", Reading::kLeadsOn},
    {"hence ", Reading::kLeadsOn},
    {"then ", Reading::kLeadsOn},
    {"simply ", Reading::kLeadsOn},
    {"clearly ", Reading::kLeadsOn},

    {" is ", Reading::kSays},
    {" are ", Reading::kSays},
    {" equals ", Reading::kSays},

    {" is ", Reading::kVerb},
    {" are ", Reading::kVerb},
    {" be ", Reading::kVerb},
    {" was ", Reading::kVerb},
    {" were ", Reading::kVerb},
    {" equals ", Reading::kVerb},
    {" becomes ", Reading::kVerb},
    {"'s ", Reading::kVerb},
    {" is: ", Reading::kVerb},
    {" are: ", Reading::kVerb},

    {" because ", Reading::kReason},
    {" since ", Reading::kReason},
    {", as ", Reading::kReason},

    {"approximately", Reading::kExplains},
    {"roughly", Reading::kExplains},
    {"attained", Reading::kExplains},
    {"achieved", Reading::kExplains},
    {"reached", Reading::kExplains},
    {"obtained", Reading::kExplains},
    {"which occurs", Reading::kExplains},
    {"occurring", Reading::kExplains},
    {"when ", Reading::kExplains},
    {"since ", Reading::kExplains},
    {"because ", Reading::kExplains},
    {"where ", Reading::kExplains},

    {" so ", Reading::kConcludes},
    {" thus ", Reading::kConcludes},
    {" hence ", Reading::kConcludes},
    {" therefore ", Reading::kConcludes},
    {" gives ", Reading::kConcludes},
    {" implies ", Reading::kConcludes},

    {"therefore", Reading::kTherefore},
    {"thus", Reading::kTherefore},
    {"hence", Reading::kTherefore},
    {"so", Reading::kTherefore},

    {", so ", Reading::kClause},
    {", which ", Reading::kClause},
    {"; ", Reading::kClause},
    {" so ", Reading::kClause},

    {"yes", Reading::kVerdict},
    {"no", Reading::kVerdict},
    {"true", Reading::kVerdict},
    {"false", Reading::kVerdict},

    {" not ", Reading::kDenies},
    {"n't ", Reading::kDenies},
    {" never ", Reading::kDenies},
    {" false ", Reading::kDenies},
    {" neither ", Reading::kDenies},
    {" cannot ", Reading::kDenies},
    {" no ", Reading::kDenies},
    {"?", Reading::kDenies},
    {"incorrect", Reading::kDenies},
    {"wrong", Reading::kDenies},

    {"extraneous", Reading::kDeniesBehind},
    {"rejected", Reading::kDeniesBehind},
    {"not", Reading::kDeniesBehind},
    {"no", Reading::kDeniesBehind},
    {"impossible", Reading::kDeniesBehind},
    {"invalid", Reading::kDeniesBehind},

    {" is true", Reading::kJudges},
    {" is false", Reading::kJudges},
    {" is correct", Reading::kJudges},
    {" is incorrect", Reading::kJudges},
    {" are true", Reading::kJudges},
    {" are false", Reading::kJudges},

    {"option", Reading::kChoice},
    {"choice", Reading::kChoice},
    {"choose", Reading::kChoice},
    {"pick", Reading::kChoice},
    {"select", Reading::kChoice},

    {"is correct", Reading::kChoiceTaken},
    {"is the correct", Reading::kChoiceTaken},
    {"is right", Reading::kChoiceTaken},
    {"is the answer", Reading::kChoiceTaken},
    {"is the right", Reading::kChoiceTaken},

    {"is wrong", Reading::kChoiceDenied},
    {"is incorrect", Reading::kChoiceDenied},
    {"is false", Reading::kChoiceDenied},
    {"is not", Reading::kChoiceDenied},

    {"january", Reading::kMonth},
    {"february", Reading::kMonth},
    {"march", Reading::kMonth},
    {"april", Reading::kMonth},
    {"may", Reading::kMonth},
    {"june", Reading::kMonth},
    {"july", Reading::kMonth},
    {"august", Reading::kMonth},
    {"september", Reading::kMonth},
    {"october", Reading::kMonth},
    {"november", Reading::kMonth},
    {"december", Reading::kMonth},
};

template <typename Matches>
size_t Longest(Reading reading, Matches matches) {
  size_t longest = 0;
  for (const Phrase& phrase : kPhrases) {
    if (phrase.reading == reading && phrase.pattern.size() > longest &&
        matches(phrase.pattern)) {
      longest = phrase.pattern.size();
    }
  }
  return longest;
}

}  // namespace

std::string_view ReadAs(std::string_view folded) {
  for (const Phrase& phrase : kPhrases) {
    if (phrase.reading == Reading::kMeans && phrase.pattern == folded) {
      return phrase.meaning;
    }
  }
  return {};
}

size_t EndsIn(std::string_view text, Reading reading) {
  return Longest(reading, [text](std::string_view pattern) {
    return text.ends_with(pattern) &&
           (text.size() == pattern.size() ||
            !Letter(text[text.size() - pattern.size() - 1]));
  });
}

size_t BeginsIn(std::string_view text, Reading reading) {
  return Longest(reading, [text](std::string_view pattern) {
    return text.starts_with(pattern) &&
           (text.size() == pattern.size() || !Letter(text[pattern.size()]));
  });
}

std::span<const Phrase> AllPhrases() { return kPhrases; }

const std::vector<std::string_view>& Phrases(Reading reading) {
  using Lists = std::vector<std::vector<std::string_view>>;
  static const Lists* const kLists = [] {
    auto* lists = new Lists;
    for (const Phrase& phrase : kPhrases) {
      const size_t at = static_cast<size_t>(phrase.reading);
      if (lists->size() <= at) lists->resize(at + 1);
      (*lists)[at].push_back(phrase.pattern);
    }
    return lists;
  }();
  return (*kLists)[static_cast<size_t>(reading)];
}

bool IsPhrase(std::string_view text, Reading reading) {
  return std::any_of(
      std::begin(kPhrases), std::end(kPhrases), [&](const Phrase& phrase) {
        return phrase.reading == reading && phrase.pattern == text;
      });
}

}  // namespace espalier
