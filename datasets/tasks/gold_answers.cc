#include "datasets/tasks/gold_answers.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/parse_json.h"
#include "nlohmann/json.hpp"

namespace espalier {

std::vector<std::string> GoldAnswers(const Reference& reference) {
  std::vector<std::string> golds;
  if (!reference.answer.empty()) golds.push_back(reference.answer);
  const auto it = reference.fields.find("golds");
  if (it == reference.fields.end()) return golds;
  const auto list = ParseJsonOrNull(it->second);
  if (!list.is_array()) return golds;
  for (const auto& gold : list) {
    std::string text = gold.is_string()   ? gold.get<std::string>()
                       : gold.is_number() ? gold.dump()
                                          : "";
    if (!text.empty() &&
        std::find(golds.begin(), golds.end(), text) == golds.end()) {
      golds.push_back(std::move(text));
    }
  }
  return golds;
}

bool HasGold(const Reference& reference) {
  static constexpr std::string_view kNone[] = {
      "",   "n/a", "#n/a",   "n.a.",   "null", "nan", "<na>", "-",
      "--", "---", "\u2013", "\u2014", "?",    "???", "tbd",
  };
  const std::vector<std::string> golds = GoldAnswers(reference);
  return std::any_of(golds.begin(), golds.end(), [](const std::string& gold) {
    const std::string text =
        absl::AsciiStrToLower(absl::StripAsciiWhitespace(gold));
    return std::find(std::begin(kNone), std::end(kNone), text) ==
           std::end(kNone);
  });
}

std::string GoldText(const std::vector<std::string>& golds) {
  std::string text;
  for (size_t i = 0; i < golds.size(); ++i) {
    absl::StrAppend(&text,
                    i == 0                  ? ""
                    : i + 1 == golds.size() ? " or "
                                            : ", ",
                    golds[i]);
  }
  return text;
}

}  // namespace espalier
