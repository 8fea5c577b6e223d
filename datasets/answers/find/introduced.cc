#include "datasets/answers/find/introduced.h"

#include <algorithm>
#include <string>

#include "datasets/answers/find/claimed_boxes.h"
#include "datasets/answers/find/lead_words.h"
#include "datasets/answers/find/readings.h"
#include "datasets/answers/find/stated_number.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/phrases.h"
#include "datasets/answers/words/stance.h"

namespace espalier {
namespace {

std::string_view WithoutBlanks(std::string_view text) {
  while (!text.empty() &&
         (Blank(text[0]) || text[0] == ':' || text[0] == '*')) {
    text.remove_prefix(1);
  }
  return text;
}

// "no.", "none", "false": an answer, although such a word may also deny one.
bool IsVerdict(std::string_view next) {
  for (const std::string_view word : Phrases(Reading::kMeans)) {
    if (next.starts_with(word) &&
        (next.size() == word.size() || !Letter(next[word.size()]))) {
      const std::string_view rest = TrimBlanks(next.substr(word.size()));
      if (rest.empty() || !Letter(rest[0])) return true;
      if (word.find(' ') != kNowhere) return true;
    }
  }
  return false;
}

}  // namespace

Introduced LastClaimed(std::string_view text, std::string_view lower,
                       const std::vector<std::string_view>& marks) {
  // The search stops after this many that claim nothing.
  constexpr int kMost = 12;
  Introduced out;
  // The last position of each mark before the current one; the text is searched
  // once per mark, and again only for marks that occur in it.
  std::vector<size_t> last;
  for (const std::string_view mark : marks) last.push_back(lower.rfind(mark));
  size_t before = kNowhere;
  for (int tries = 0; tries < kMost; ++tries) {
    size_t at = kNowhere, length = 0;
    for (size_t i = 0; i < marks.size(); ++i) {
      const std::string_view mark = marks[i];
      size_t& found = last[i];
      if (found != kNowhere && found >= before) {
        found = before == 0 ? kNowhere : lower.rfind(mark, before - 1);
      }
      if (found == kNowhere) continue;
      if (at == kNowhere || found > at ||
          (found == at && mark.size() > length)) {
        at = found;
        length = mark.size();
      }
    }
    if (at == kNowhere) return out;
    before = at;
    const size_t behind = at + length;
    const bool word = !Letter(lower[at]) || at == 0 || !Letter(lower[at - 1]);
    const bool ends = !Letter(lower[behind - 1]) || behind >= lower.size() ||
                      (!Letter(lower[behind]) && lower[behind] != '\'');
    if (!word || (!ends && !lower.substr(behind).starts_with("n't"))) continue;
    std::string next = PlainLower(WithoutBlanks(text.substr(behind, 40)));
    while (const size_t lead = BeginsIn(next, Reading::kLeadsOn)) {
      next = std::string(WithoutBlanks(std::string_view(next).substr(lead)));
    }
    const bool claims = ends &&
                        !PartOfMore(text.substr(0, at), text.substr(at)) &&
                        StanceAt(text, at, behind) != Stance::kDenies &&
                        BeginsIn(next, Reading::kDenies) == 0;
    if (claims) {
      out.at = at;
      out.behind = behind;
      return out;
    }
    // "The answer is not 12 but 13."
    if (const size_t but = text.substr(behind, 48).find(" but ");
        ends && next.starts_with("not ") && but != kNowhere &&
        BeginsNumber(text.substr(behind + but + 5)) &&
        StanceAt(text.substr(0, behind), at, behind) != Stance::kDenies) {
      out.at = at;
      out.behind = behind + but + 5;
      return out;
    }
    // "The answer is no" is an answer.
    if (ends && IsVerdict(next) &&
        StanceAt(text.substr(0, behind), at, behind) != Stance::kDenies) {
      out.at = at;
      out.behind = behind;
      return out;
    }
    if (!out.unsure) {
      const std::string rest =
          PlainLower(text.substr(behind, SentenceLength(text.substr(behind))));
      size_t end = rest.size();
      for (const std::string_view joint : {"; ", " but ", ", it "}) {
        end = std::min(end, rest.find(joint));
      }
      out.denied_up_to = behind + end;
    }
    out.unsure = true;
  }
  return out;
}

}  // namespace espalier
