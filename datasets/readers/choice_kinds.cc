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

// How whole numbers tell options.
struct Counting {
  int64_t from = 0;
  bool given = false;  // by the user
  bool only = false;   // they are no texts of options
};

// What a gold value tells: the option, from 0 on, or what is wrong.
struct Told {
  std::optional<size_t> option;
  std::string wrong;
  bool wrong_set = false;  // as in SetRecord
};

Told ToldByIndex(int64_t number, size_t options, Counting counting) {
  const int64_t index = number - counting.from;
  const auto size = static_cast<int64_t>(options);
  if (index >= 0 && index < size) {
    return {.option = static_cast<size_t>(index)};
  }
  Told told{.wrong = absl::StrCat("the right option ", number,
                                  " is none of the ", options,
                                  " options, counted from ", counting.from)};
  // One too far: all that fit may be off by one.
  if (!counting.given && index == size) {
    told.wrong_set = true;
    absl::StrAppend(&told.wrong,
                    "; if the set counts them from 1, say --kind "
                    "choice-from-1, and if only this record is wrong --kind "
                    "choice-from-0");
  } else if (counting.given && counting.from == 1 && index == -1) {
    told.wrong_set = true;
    absl::StrAppend(&told.wrong, "; say --kind choice-from-0");
  }
  return told;
}

// The option that one value of a gold column tells.
Told OptionTold(const Json& gold, const std::vector<std::string>& options,
                Counting counting) {
  const std::string text =
      gold.is_string() ? Trimmed(gold.get<std::string>()) : gold.dump();
  // "B", "(B)" or "B. twelve".
  for (size_t i = 0; i < options.size(); ++i) {
    if (text == std::string(1, Letter(i)) ||
        text == std::string(1, absl::ascii_tolower(Letter(i)))) {
      return {.option = i};
    }
    const size_t mark = MarkAt(text, i);
    if (mark == 0) continue;
    if (mark == text.size() || text.substr(mark) == Trimmed(options[i])) {
      return {.option = i};
    }
  }
  std::optional<size_t> by_text;
  for (size_t i = 0; i < options.size() && !by_text; ++i) {
    if (text == Trimmed(options[i])) by_text = i;
  }
  int64_t number = 0;
  if (!absl::SimpleAtoi(text, &number)) {
    if (by_text) return {.option = by_text};
    return {.wrong = absl::StrCat("the right option \"", text,
                                  "\" is no letter and no text of the ",
                                  options.size(), " options")};
  }
  const Told by_index = ToldByIndex(number, options.size(), counting);
  if (!by_text || counting.only || by_text == by_index.option) return by_index;
  // A text is the option of that text, if it cannot be an index.
  if (!by_index.option && gold.is_string()) return {.option = by_text};
  if (!by_index.option) return by_index;
  return {.wrong = absl::StrCat(
              "the right option ", gold.dump(),
              " is one by its text and another one as an index from 0; write "
              "its letter, or say --kind choice-from-0 or choice-from-1 if it "
              "is an index")};
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

// The letters of the right options into record.answer, "" where no column tells
// them; returns what is wrong.
std::string ReadGold(const std::vector<std::string>& options, Counting counting,
                     SetRecord& record) {
  const Json* gold = nullptr;
  std::string_view column;
  for (const char* name : {"correct", "label", "answer", "answer_index", "gold",
                           "expected_answer", "answerKey"}) {
    column = name;
    gold = FindColumn(record.fields, column);
    if (!Unknown(gold)) break;
  }
  if (Unknown(gold)) return "";
  // MMLU at Hugging Face has numbers for options and an index for the answer.
  const bool mmlu = gold->is_number_integer() &&
                    FindColumn(record.fields, "subject") != nullptr &&
                    FindColumn(record.fields, "choices") != nullptr;
  counting.only = counting.given || mmlu || column == "answer_index";
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
    const Told told = OptionTold(one, options, counting);
    if (!told.option) {
      record.wrong_set = told.wrong_set;
      return told.wrong;
    }
    letters += Letter(*told.option);
  }
  std::sort(letters.begin(), letters.end());
  record.answer = letters;
  return "";
}

// Question and options as they are asked.
void Ask(const std::string& question, const std::vector<std::string>& options,
         SetRecord& record) {
  record.question = Trimmed(question);
  std::vector<std::string> bare;
  for (size_t i = 0; i < options.size(); ++i) {
    bare.push_back(Trimmed(options[i]));
    absl::StrAppend(&record.question, "\n", std::string(1, Letter(i)), ". ",
                    bare.back());
  }
  record.fields["options"] = bare;
}

std::string Finish(const std::vector<std::string>& options, Counting counting,
                   SetRecord& record) {
  std::string wrong = CheckOptions(options);
  if (!wrong.empty()) return wrong;
  std::string question = ColumnText(record.fields, "question");
  if (question.empty()) question = ColumnText(record.fields, "problem");
  if (Trimmed(question).empty()) return "the question is empty or not text";
  wrong = ReadGold(options, counting, record);
  if (!wrong.empty()) return wrong;
  for (const char* column : {"rationale", "solution", "cot_content"}) {
    if (!record.solution.empty()) break;
    record.solution = ColumnText(record.fields, column);
  }
  Ask(question, options, record);
  return "";
}

std::string ReadList(Counting counting, SetRecord& record) {
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
  return wrong.empty() ? Finish(options, counting, record) : wrong;
}

std::string ReadColumns(Counting counting, SetRecord& record) {
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
  return Finish(options, counting, record);
}

std::string ReadCounted(int64_t from, SetRecord& record) {
  const Counting counting{.from = from, .given = true, .only = true};
  return FindColumn(record.fields, "B") != nullptr
             ? ReadColumns(counting, record)
             : ReadList(counting, record);
}

}  // namespace

std::string ReadChoiceList(SetRecord& record) { return ReadList({}, record); }

std::string ReadChoiceColumns(SetRecord& record) {
  return ReadColumns({}, record);
}

std::string ReadChoiceFrom0(SetRecord& record) {
  return ReadCounted(0, record);
}

std::string ReadChoiceFrom1(SetRecord& record) {
  return ReadCounted(1, record);
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
