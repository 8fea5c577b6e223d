#include "datasets/readers/choice_kinds.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "datasets/readers/answer_kinds.h"
#include "src/base/random.h"
#include "src/base/text.h"

namespace espalier {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostOptions = 26;  // a letter each

std::string Trimmed(std::string_view text) {
  return std::string(absl::StripAsciiWhitespace(AbslView(text)));
}

char Letter(size_t option) { return static_cast<char>('A' + option); }

// How many bytes of `text` are the mark of option `i` and the blanks after it:
// "(B)", "B)", "B.", "B:", also in lower case and with blanks inside. 0 where
// it does not begin with one.
size_t MarkAt(std::string_view text, size_t i) {
  size_t at = 0;
  const auto skip = [&] {
    while (at < text.size() && absl::ascii_isspace(text[at])) ++at;
  };
  const bool open = text.starts_with("(");
  if (open) ++at;
  skip();
  if (at == text.size() || absl::ascii_toupper(text[at]) != Letter(i)) return 0;
  ++at;
  skip();
  if (at == text.size()) return 0;
  const std::string_view ends = open ? ")" : ").:";
  if (ends.find(text[at]) == std::string_view::npos) return 0;
  ++at;
  skip();
  return at;
}

// Without the letters that all of the options bear; as they are where one lacks
// its own.
std::vector<std::string> WithoutMarks(std::vector<std::string> options) {
  std::vector<std::string> bare;
  for (size_t i = 0; i < options.size(); ++i) {
    const std::string text = Trimmed(options[i]);
    const size_t mark = MarkAt(text, i);
    if (mark == 0) return options;
    bare.push_back(text.substr(mark));
  }
  return bare;
}

// The options that one text holds; none where it has no two marks.
std::vector<std::string> SplitOptions(std::string_view text) {
  // Where each mark begins and ends.
  std::vector<std::pair<size_t, size_t>> marks;
  for (size_t at = 0; at < text.size() && marks.size() < kMostOptions; ++at) {
    const bool begins = at == 0 || absl::ascii_isspace(text[at - 1]) ||
                        text[at - 1] == ',' || text[at - 1] == ';';
    if (!begins) continue;
    const size_t mark = MarkAt(text.substr(at), marks.size());
    if (mark == 0) continue;
    marks.emplace_back(at, at + mark);
    at += mark - 1;
  }
  std::vector<std::string> options;
  if (marks.size() < 2 || !Trimmed(text.substr(0, marks[0].first)).empty()) {
    return options;
  }
  for (size_t i = 0; i < marks.size(); ++i) {
    const size_t end = i + 1 < marks.size() ? marks[i + 1].first : text.size();
    std::string option =
        Trimmed(text.substr(marks[i].second, end - marks[i].second));
    if (i + 1 < marks.size() &&
        (option.ends_with(",") || option.ends_with(";"))) {
      option = Trimmed(std::string_view(option).substr(0, option.size() - 1));
    }
    options.push_back(std::move(option));
  }
  return options;
}

// What a value of options holds; "" in `wrong` where that is right.
std::vector<std::string> OptionsOf(const Json& value, std::string& wrong) {
  std::vector<std::string> options;
  if (value.is_string()) {
    options = SplitOptions(value.get<std::string>());
    if (options.empty()) {
      wrong = "the options are one text without \"A)\", \"B)\" and so on";
    }
    // MathQA has "a ) a ) 12 , b ) b ) 15" as well.
    return WithoutMarks(std::move(options));
  }
  if (!value.is_array()) {
    wrong = "the options are neither a list nor a text";
    return options;
  }
  for (const Json& one : value) {
    if (!one.is_string() && !one.is_number()) {
      wrong = "an option is neither text nor a number";
      return options;
    }
    options.push_back(one.is_string() ? one.get<std::string>() : one.dump());
  }
  return WithoutMarks(std::move(options));
}

std::string CheckOptions(const std::vector<std::string>& options) {
  if (options.size() < 2 || options.size() > kMostOptions) {
    return absl::StrCat("expected 2 to ", kMostOptions, " options, found ",
                        options.size());
  }
  for (size_t i = 0; i < options.size(); ++i) {
    if (!Trimmed(options[i]).empty()) continue;
    return absl::StrCat("option ", std::string(1, Letter(i)), " is empty");
  }
  return "";
}

// The option that one value of a gold column tells, from 0 on; "" in `wrong`
// where it tells one.
std::optional<size_t> OptionTold(const Json& gold,
                                 const std::vector<std::string>& options,
                                 std::string& wrong) {
  const auto told = [&](int64_t i) -> std::optional<size_t> {
    if (i >= 0 && i < static_cast<int64_t>(options.size())) {
      return static_cast<size_t>(i);
    }
    wrong = absl::StrCat("the right option ", gold.dump(), " is none of the ",
                         options.size(), " options");
    return std::nullopt;
  };
  if (gold.is_number_integer()) return told(gold.get<int64_t>());
  const std::string text =
      gold.is_string() ? Trimmed(gold.get<std::string>()) : gold.dump();
  // "B", "(B)" or "B. twelve".
  for (size_t i = 0; i < options.size(); ++i) {
    if (text == std::string(1, Letter(i)) ||
        text == std::string(1, absl::ascii_tolower(Letter(i)))) {
      return i;
    }
    const size_t mark = MarkAt(text, i);
    if (mark == 0) continue;
    if (mark == text.size() || text.substr(mark) == Trimmed(options[i])) {
      return i;
    }
  }
  std::optional<size_t> by_text;
  for (size_t i = 0; i < options.size() && !by_text; ++i) {
    if (text == Trimmed(options[i])) by_text = i;
  }
  int64_t index = 0;
  const bool number = absl::SimpleAtoi(text, &index);
  if (!number && by_text) return by_text;
  if (number && by_text &&
      (static_cast<int64_t>(*by_text) == index || index < 0 ||
       index >= static_cast<int64_t>(options.size()))) {
    return by_text;
  }
  if (number && !by_text) return told(index);
  wrong = number ? absl::StrCat("the right option \"", text,
                                "\" is one by its text and another one as an "
                                "index from 0; write its letter")
                 : absl::StrCat("the right option \"", text,
                                "\" is no letter and no text of the ",
                                options.size(), " options");
  return std::nullopt;
}

bool Unknown(const Json* gold) {
  return gold == nullptr || gold->is_null() ||
         (gold->is_array() && gold->empty()) ||
         (gold->is_string() && Trimmed(gold->get<std::string>()).empty());
}

// The letters that a text lists, "AD" or "B, C, D", apart; none where it is no
// such list of letters of `count` options.
std::vector<Json> LettersListed(std::string_view text, size_t count) {
  std::vector<Json> letters;
  for (const char c : text) {
    if (c == ' ' || c == ',' || c == ';') continue;
    const std::string letter(1, c);
    const bool known = c >= 'A' && static_cast<size_t>(c - 'A') < count;
    if (!known ||
        std::find(letters.begin(), letters.end(), letter) != letters.end()) {
      return {};
    }
    letters.emplace_back(letter);
  }
  return letters;
}

// The letters of the right options; "" where no column tells them.
std::string GoldLetters(const Json& fields,
                        const std::vector<std::string>& options,
                        std::string& wrong) {
  const Json* gold = nullptr;
  for (const char* column : {"correct", "label", "answer", "answer_index",
                             "gold", "expected_answer", "answerKey"}) {
    gold = FindColumn(fields, column);
    if (!Unknown(gold)) break;
  }
  if (Unknown(gold)) return "";
  std::vector<Json> each = {*gold};
  if (gold->is_array()) each.assign(gold->begin(), gold->end());
  if (gold->is_string() &&
      std::find(options.begin(), options.end(), gold->get<std::string>()) ==
          options.end()) {
    const std::vector<Json> listed =
        LettersListed(gold->get<std::string>(), options.size());
    if (listed.size() > 1) each = listed;
  }
  std::string letters;
  for (const Json& one : each) {
    const std::optional<size_t> option = OptionTold(one, options, wrong);
    if (!option) return "";
    letters += Letter(*option);
  }
  std::sort(letters.begin(), letters.end());
  return letters;
}

// Question and options as they are asked.
void Ask(const std::string& question, const std::vector<std::string>& options,
         SetRecord& record) {
  const std::string passage = ColumnText(record.fields, "passage");
  record.question =
      absl::StrCat(Trimmed(passage), Trimmed(passage).empty() ? "" : "\n",
                   Trimmed(question));
  std::vector<std::string> bare;
  for (size_t i = 0; i < options.size(); ++i) {
    bare.push_back(Trimmed(options[i]));
    absl::StrAppend(&record.question, "\n", std::string(1, Letter(i)), ". ",
                    bare.back());
  }
  record.fields["options"] = bare;
}

std::string Finish(const std::vector<std::string>& options, SetRecord& record) {
  std::string wrong = CheckOptions(options);
  if (!wrong.empty()) return wrong;
  std::string question = ColumnText(record.fields, "question");
  if (question.empty()) question = ColumnText(record.fields, "problem");
  if (Trimmed(question).empty()) return "the question is empty or not text";
  record.answer = GoldLetters(record.fields, options, wrong);
  if (!wrong.empty()) return wrong;
  for (const char* column : {"rationale", "solution", "cot_content"}) {
    if (!record.solution.empty()) break;
    record.solution = ColumnText(record.fields, column);
  }
  Ask(question, options, record);
  return "";
}

}  // namespace

std::string ReadChoiceList(SetRecord& record) {
  const Json* value = nullptr;
  for (const char* column : {"options", "choices", "possible answers"}) {
    value = FindColumn(record.fields, column);
    if (value != nullptr && !value->is_null()) break;
  }
  if (value == nullptr || value->is_null() ||
      (value->is_array() && value->empty())) {
    const bool question = FindColumn(record.fields, "question") != nullptr;
    return question ? ReadPlain(record) : ReadCompetition(record);
  }
  std::string wrong;
  const std::vector<std::string> options = OptionsOf(*value, wrong);
  return wrong.empty() ? Finish(options, record) : wrong;
}

std::string ReadChoiceColumns(SetRecord& record) {
  std::vector<std::string> options;
  for (size_t i = 0; i < kMostOptions; ++i) {
    const std::string column(1, Letter(i));
    if (FindColumn(record.fields, column) == nullptr) break;
    options.push_back(ColumnText(record.fields, column));
  }
  // A row of fewer options than the file has columns.
  while (options.size() > 2 && Trimmed(options.back()).empty()) {
    options.pop_back();
  }
  return Finish(options, record);
}

std::string ReadGpqa(SetRecord& record) {
  const std::string question = ColumnText(record.fields, "Question");
  if (Trimmed(question).empty()) return "no text under \"Question\"";
  std::vector<std::string> options = {
      ColumnText(record.fields, "Correct Answer")};
  for (int i = 1; i <= 3; ++i) {
    const std::string column = absl::StrCat("Incorrect Answer ", i);
    if (FindColumn(record.fields, column) == nullptr) break;
    options.push_back(ColumnText(record.fields, column));
  }
  const std::string wrong = CheckOptions(options);
  if (!wrong.empty()) return wrong;
  // The same order for the same question, whatever the file and its order.
  std::vector<std::pair<uint64_t, size_t>> order;
  for (size_t i = 0; i < options.size(); ++i) {
    order.emplace_back(MixHash(StableHash(Trimmed(question)), i), i);
  }
  std::sort(order.begin(), order.end());
  std::vector<std::string> shown;
  for (const auto& [key, i] : order) {
    if (i == 0) record.answer = std::string(1, Letter(shown.size()));
    shown.push_back(options[i]);
  }
  record.solution = ColumnText(record.fields, "Explanation");
  Ask(question, shown, record);
  return "";
}

}  // namespace espalier
