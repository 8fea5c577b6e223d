#include "datasets/sets/choice_kinds.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/json_text.h"
#include "base/parse_json.h"
#include "base/random.h"
#include "base/text.h"
#include "datasets/sets/answer_kinds.h"
#include "datasets/sets/option_marks.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

using Json = nlohmann::json;

bool IsOneLetter(std::string_view text) {
  return text.size() == 1 && absl::ascii_isalpha(text[0]);
}

bool IsWholeNumber(std::string_view text) {
  int64_t number = 0;
  return absl::SimpleAtoi(AbslView(text), &number);
}

// Adds an option; false if its text or its label is not valid.
bool AddOption(const Json& text, const Json* label, ListedOptions& options) {
  if (!text.is_string() && !text.is_number()) return false;
  options.texts.push_back(text.is_string() ? text.get<std::string>()
                                           : text.dump());
  if (label == nullptr) return true;
  std::string name =
      label->is_string() ? Trimmed(label->get<std::string>()) : label->dump();
  if (!IsOneLetter(name) && !IsWholeNumber(name)) return false;
  options.labels.push_back(std::move(name));
  return true;
}

const Json* FirstMember(const Json& object,
                        std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const Json* member = FindColumn(object, name);
    if (member != nullptr) return member;
  }
  return nullptr;
}

// {"A": "ice", "B": "fire"} in the order of its labels.
bool AddMembers(const Json& object, ListedOptions& options) {
  std::vector<std::pair<Json, const Json*>> members;
  for (const auto& [name, text] : object.items()) {
    if (!text.is_null()) members.emplace_back(name, &text);
  }
  const auto place = [](const Json& label) {
    const std::string text = label.get<std::string>();
    int64_t number = 0;
    return std::pair(absl::SimpleAtoi(text, &number) ? number : 0, text);
  };
  std::sort(members.begin(), members.end(), [&](const auto& a, const auto& b) {
    return place(a.first) < place(b.first);
  });
  return std::all_of(members.begin(), members.end(), [&](const auto& member) {
    return AddOption(*member.second, &member.first, options);
  });
}

// One element of a list: a text, {"label": "A", "text": "ice"} or {"A": "ice"}.
bool AddElement(const Json& one, ListedOptions& options) {
  if (!one.is_object()) return AddOption(one, nullptr, options);
  const Json* text = FirstMember(one, {"text", "value", "content", "option"});
  const Json* label = FirstMember(one, {"label", "key", "letter", "id"});
  if (text != nullptr && label != nullptr) {
    return AddOption(*text, label, options);
  }
  return one.size() == 1 && AddMembers(one, options);
}

// Parses the options in a value; `wrong` is "" on success.
ListedOptions OptionsOf(const Json& value, std::string& wrong) {
  ListedOptions options;
  if (value.is_string()) {
    const std::string text = Trimmed(value.get<std::string>());
    if (text.starts_with("[") || text.starts_with("{")) {
      const absl::StatusOr<Json> inner = ParseJson(text, "the options' text");
      if (inner.ok() && inner->is_structured()) {
        return OptionsOf(*inner, wrong);
      }
      // A text that begins like JSON but does not parse is plain text.
      if (Json::accept(text)) {
        wrong = std::string(inner.status().message());
        return options;
      }
    }
    options.texts = SplitOptions(text);
    if (options.texts.empty()) {
      wrong = "the options are one text without \"A)\", \"B)\" and so on";
    }
    // MathQA also has "a ) a ) 12 , b ) b ) 15".
    options.lettered = true;
    TakeMarks(options);
    return options;
  }
  bool good = true;
  if (value.is_object()) {
    const Json* texts = FindColumn(value, "text");
    const Json* labels = FindColumn(value, "label");
    if (texts != nullptr && labels != nullptr && texts->is_array() &&
        labels->is_array() && texts->size() == labels->size()) {
      for (size_t i = 0; good && i < texts->size(); ++i) {
        good = AddOption((*texts)[i], &(*labels)[i], options);
      }
    } else {
      good = AddMembers(value, options);
    }
  } else if (value.is_array()) {
    for (const Json& one : value) good = good && AddElement(one, options);
  } else {
    wrong = "the options are neither a list nor a text";
    return options;
  }
  const std::set<std::string> labels(options.labels.begin(),
                                     options.labels.end());
  if (!good) {
    wrong = "the options are neither texts nor numbers nor texts by letter";
  } else if (!options.labels.empty() && labels.size() != options.texts.size()) {
    wrong = "expected one label per option";
  }
  TakeMarks(options);
  return options;
}

std::string CheckOptions(const std::vector<std::string>& options) {
  if (options.size() < 2 || options.size() > kMostOptions) {
    return absl::StrCat("expected 2 to ", kMostOptions, " options, found ",
                        options.size());
  }
  for (size_t i = 0; i < options.size(); ++i) {
    if (!Trimmed(options[i]).empty()) continue;
    return absl::StrCat("option ", std::string(1, OptionLetter(i)),
                        " is empty");
  }
  return "";
}

// How integers refer to options.
struct Counting {
  int64_t from = 0;
  bool given = false;  // by the user
  bool only = false;   // they are never texts of options
};

// What a gold value says: the option, from 0 on, or an error.
struct Found {
  std::optional<size_t> option;
  std::string wrong;
  bool wrong_set = false;                         // as in SetRecord
  std::optional<int64_t> counted = std::nullopt;  // same as above
};

Found FoundByIndex(int64_t number, size_t options, Counting counting) {
  const int64_t index = number - counting.from;
  const auto size = static_cast<int64_t>(options);
  if (index >= 0 && index < size) {
    Found found{.option = static_cast<size_t>(index)};
    if (!counting.given) found.counted = number;
    return found;
  }
  Found found{.wrong = absl::StrCat("the right option ", number,
                                    " is not one of the ", options,
                                    " options, counted from ", counting.from)};
  // One past the end: all that fit may be off by one.
  if (!counting.given && index == size) {
    found.wrong_set = true;
    absl::StrAppend(
        &found.wrong,
        "; if the set counts options from 1, use --kind choice-from-1; if only "
        "this record is wrong, use --kind choice-from-0");
  } else if (counting.given && counting.from == 1 && index == -1) {
    found.wrong_set = true;
    absl::StrAppend(&found.wrong, "; use --kind choice-from-0");
  }
  return found;
}

// An integer without the ".0" that a table column with gaps gives it.
std::string GoldText(const Json& gold) {
  std::string text =
      gold.is_string() ? Trimmed(gold.get<std::string>()) : gold.dump();
  if (text.ends_with(".0") && IsWholeNumber(text.substr(0, text.size() - 2))) {
    text.resize(text.size() - 2);
  }
  return text;
}

// The option that the set itself labels `text`; none, with an error in `wrong`,
// if the options have labels of this kind but none is `text`.
std::optional<size_t> Labelled(const ListedOptions& all,
                               const std::string& text, std::string& wrong) {
  for (size_t i = 0; i < all.labels.size(); ++i) {
    if (absl::EqualsIgnoreCase(text, all.labels[i])) return i;
  }
  if (all.labels.empty()) return std::nullopt;
  const bool numbers = IsWholeNumber(all.labels[0]);
  if (IsOneLetter(text) || (numbers && IsWholeNumber(text))) {
    wrong = absl::StrCat("the right option \"", text, "\" is not one of ",
                         absl::StrJoin(all.labels, ", "));
  }
  return std::nullopt;
}

// The option that one value of a gold column names.
Found FindOption(const Json& gold, const ListedOptions& all,
                 Counting counting) {
  const std::vector<std::string>& options = all.texts;
  const std::string text = GoldText(gold);
  Found found;
  found.option = Labelled(all, text, found.wrong);
  if (found.option || !found.wrong.empty()) return found;
  found.wrong = DoubtAbout(text, all);
  if (!found.wrong.empty()) return found;
  // "B", "(B)" or "B. twelve".
  for (size_t i = 0; i < options.size(); ++i) {
    if (text == std::string(1, OptionLetter(i)) ||
        text == std::string(1, absl::ascii_tolower(OptionLetter(i)))) {
      return {.option = i};
    }
    const bool labelled = !all.labels.empty() && IsOneLetter(all.labels[i]);
    const size_t mark =
        MarkAt(text, labelled ? absl::ascii_toupper(all.labels[i][0])
                              : OptionLetter(i));
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
    return {.wrong = absl::StrCat(
                "the right option \"", text,
                "\" is neither the letter nor the text of one of the ",
                options.size(), " options")};
  }
  const Found by_index = FoundByIndex(number, options.size(), counting);
  if (!by_text || counting.only || by_text == by_index.option) return by_index;
  // A text is the option with that text, if it cannot be an index.
  if (!by_index.option && gold.is_string()) return {.option = by_text};
  if (!by_index.option) return by_index;
  return {.wrong =
              absl::StrCat("the right option ", gold.dump(),
                           " names one option by its text and another as an "
                           "index from 0; write its letter, or use --kind "
                           "choice-from-0 or choice-from-1 if it is an index")};
}

// The columns that name the right option. An index comes before a text, which
// may be spelled differently.
struct GoldColumn {
  const char* name;
  bool index = false;  // an integer in it is an index
};
constexpr GoldColumn kGoldColumns[] = {
    {"correct"},
    {"label"},
    {"answer_index", true},
    {"answer_idx", true},
    {"correct_index", true},
    {"correct_idx", true},
    {"gold_index", true},
    {"cop", true},
    {"correct_option"},
    {"answer"},
    {"gold"},
    {"expected_answer"},
    {"answerKey"},
    {"correct_answer"},
    {"target"},
};

bool Unknown(const Json* gold) {
  return gold == nullptr || gold->is_null() ||
         (gold->is_array() && gold->empty()) ||
         (gold->is_string() && Trimmed(gold->get<std::string>()).empty());
}

// The letters that a text lists, "AD" or "B, C, D", separated; none if it is
// not such a list of letters of `count` options.
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

// Whether a value may be an index and is no option's text.
bool CountsOptions(const Json& value, const ListedOptions& options) {
  const std::string text = GoldText(value);
  return IsWholeNumber(text) &&
         std::find(options.texts.begin(), options.texts.end(), text) ==
             options.texts.end();
}

// Compares record.answer with what other columns give by a letter, a text or an
// index; returns the error. A number may be the requested value, unless the
// answer's is an index as well.
std::string Contradiction(const ListedOptions& options, Counting counting,
                          const GoldColumn& taken, SetRecord& record) {
  for (const GoldColumn& other : kGoldColumns) {
    const Json* gold = FindColumn(record.fields, other.name);
    if (other.name == taken.name || Unknown(gold) || gold->is_structured()) {
      continue;
    }
    const bool counts =
        CountsOptions(*gold, options) &&
        CountsOptions(*FindColumn(record.fields, taken.name), options);
    if (IsWholeNumber(GoldText(*gold)) && !other.index && !counts) continue;
    counting.only = true;
    const Found found = FindOption(*gold, options, counting);
    if (!found.option) continue;
    const std::string letter(1, OptionLetter(*found.option));
    if (letter != record.answer) {
      return absl::StrCat("\"", taken.name, "\" names option ", record.answer,
                          " and \"", other.name, "\" option ", letter);
    }
    record.counted.reset();
  }
  return "";
}

// Writes the letters of the right options into record.answer, "" if no column
// gives them; returns the error.
std::string ReadGold(const ListedOptions& all, Counting counting,
                     SetRecord& record) {
  const std::vector<std::string>& options = all.texts;
  const Json* gold = nullptr;
  const GoldColumn* column = nullptr;
  for (const GoldColumn& one : kGoldColumns) {
    column = &one;
    gold = FindColumn(record.fields, one.name);
    if (!Unknown(gold)) break;
  }
  if (Unknown(gold)) return "";
  // MMLU at Hugging Face has numbers for options and an index for the answer.
  const bool mmlu = gold->is_number_integer() &&
                    FindColumn(record.fields, "subject") != nullptr &&
                    FindColumn(record.fields, "choices") != nullptr;
  counting.only = counting.given || mmlu || column->index;
  std::vector<Json> each = gold->is_array() ? gold->get<std::vector<Json>>()
                                            : std::vector<Json>{*gold};
  if (gold->is_string() &&
      std::find(options.begin(), options.end(), gold->get<std::string>()) ==
          options.end()) {
    const std::vector<Json> listed =
        LettersListed(gold->get<std::string>(), options.size());
    if (listed.size() > 1) each = listed;
  }
  std::string letters;
  for (const Json& one : each) {
    const Found found = FindOption(one, all, counting);
    if (!found.option) {
      record.wrong_set = found.wrong_set;
      return absl::StrCat(found.wrong, "; it is under \"", column->name, "\"");
    }
    letters += OptionLetter(*found.option);
    if (found.counted) record.counted = found.counted;
  }
  std::sort(letters.begin(), letters.end());
  record.answer = letters;
  return each.size() > 1 ? "" : Contradiction(all, counting, *column, record);
}

// Question and options as shown to the model.
void Ask(const std::string& question, const std::vector<std::string>& options,
         SetRecord& record) {
  record.question = Trimmed(question);
  std::vector<std::string> bare;
  for (size_t i = 0; i < options.size(); ++i) {
    bare.push_back(Trimmed(options[i]));
    absl::StrAppend(&record.question, "\n", std::string(1, OptionLetter(i)),
                    ". ", bare.back());
  }
  record.fields["options"] = bare;
}

std::string Finish(const ListedOptions& options, Counting counting,
                   SetRecord& record) {
  std::string wrong = CheckOptions(options.texts);
  if (!wrong.empty()) return wrong;
  std::string question;
  for (const char* column :
       {"question", "problem", "question_stem", "query", "input", "ctx", "goal",
        "sentence", "question.stem"}) {
    if (!question.empty()) break;
    question = ColumnText(record.fields, column);
  }
  // ReadAs reports a question without text.
  if (Trimmed(question).empty()) return "";
  wrong = ReadGold(options, counting, record);
  if (wrong.empty()) wrong = EqualToGold(record.answer, options.texts);
  if (!wrong.empty()) return wrong;
  for (const char* column : {"rationale", "solution", "cot_content"}) {
    if (!record.solution.empty()) break;
    record.solution = ColumnText(record.fields, column);
  }
  Ask(question, options.texts, record);
  return "";
}

// A record that expects an answer in words, whose options are null or absent.
std::string ReadWithoutOptions(SetRecord& record) {
  // The answer in words is under "answer"; other columns name an option.
  for (const GoldColumn& column : kGoldColumns) {
    const Json* gold = FindColumn(record.fields, column.name);
    if (Unknown(gold) || gold->is_structured()) continue;
    const std::string text = GoldText(*gold);
    if (std::string_view(column.name) == "answer") break;
    if (!column.index && !IsOneLetter(text)) continue;
    return absl::StrCat("there are no options, and \"", column.name, "\" is ",
                        JsonText(*gold), ", which names one");
  }
  const bool question = FindColumn(record.fields, "question") != nullptr;
  std::string wrong = question ? ReadPlain(record) : ReadCompetition(record);
  const bool shown = record.question.find("B)") != std::string::npos ||
                     record.question.find("B.") != std::string::npos ||
                     record.question.find("B:") != std::string::npos;
  if (wrong.empty() && IsOneLetter(record.answer) && !shown &&
      absl::ascii_toupper(record.answer[0]) <= 'J') {
    wrong = absl::StrCat("there are no options, and the answer \"",
                         record.answer, "\" is the letter of one");
  }
  return wrong;
}

// Columns that hold a list of options.
constexpr const char* kListColumns[] = {
    "options", "choices", "possible answers", "endings", "question.choices"};

std::string ReadList(Counting counting, SetRecord& record) {
  const Json* value = nullptr;
  const char* column = nullptr;
  for (const char* name : kListColumns) {
    column = name;
    value = FindColumn(record.fields, column);
    if (value != nullptr && !value->is_null()) break;
  }
  if (value == nullptr || value->is_null() ||
      (value->is_array() && value->empty())) {
    return ReadWithoutOptions(record);
  }
  std::string wrong;
  const ListedOptions options = OptionsOf(*value, wrong);
  if (wrong.empty()) return Finish(options, counting, record);
  return absl::StrCat(wrong, "; ", WrongValue(column, "options", value));
}

// Names of option columns: this prefix, and a letter or a number counting from
// `first`. The number is not a label: PIQA's sol2 is the label 1.
struct OptionColumns {
  const char* stem;
  char first;
};

constexpr OptionColumns kOptionColumns[] = {
    {"", 'A'},       {"op", 'a'},      {"option", 'A'}, {"option_", 'a'},
    {"option", '1'}, {"option_", '1'}, {"choice", '1'}, {"choice_", 'a'},
    {"answer", 'A'}, {"answer", '0'},  {"sol", '1'},    {"ending", '0'},
    {"ans", '0'},
};

std::string ColumnOfOption(const OptionColumns& columns, size_t i) {
  return absl::StrCat(columns.stem,
                      std::string(1, static_cast<char>(columns.first + i)));
}

// PIQA's labels count from 0, however its columns count.
bool CountFrom1(const OptionColumns& columns) {
  return columns.first == '1' && std::string_view(columns.stem) != "sol";
}

// Social IQa's columns are answerA, answerB and answerC, and its labels 1, 2
// and 3.
Counting CountingOf(const OptionColumns& columns, Counting counting,
                    const SetRecord& record) {
  const bool social = columns.first == 'A' &&
                      std::string_view(columns.stem) == "answer" &&
                      !Unknown(FindColumn(record.fields, "label"));
  if (!social || counting.given) return counting;
  return {.from = 1, .given = true, .only = true};
}

std::string ReadColumns(Counting counting, SetRecord& record) {
  ListedOptions options;
  bool from_1 = false;
  for (const OptionColumns& columns : kOptionColumns) {
    from_1 = CountFrom1(columns);
    for (size_t i = 0; i < (columns.first < 'A' ? 9 : kMostOptions); ++i) {
      const std::string column = ColumnOfOption(columns, i);
      if (FindColumn(record.fields, column) == nullptr) break;
      options.texts.push_back(ColumnText(record.fields, column));
    }
    options.lettered = columns.first == 'A' || columns.first == 'a';
    if (options.texts.size() > 1) {
      counting = CountingOf(columns, counting, record);
      break;
    }
    options.texts.clear();
  }
  // A row with fewer options than the file has columns.
  while (options.texts.size() > 2 && Trimmed(options.texts.back()).empty()) {
    options.texts.pop_back();
  }
  std::string wrong = Finish(options, counting, record);
  record.columns_from_1 = from_1;
  return wrong;
}

std::string ReadCounted(int64_t from, SetRecord& record) {
  const Counting counting{.from = from, .given = true, .only = true};
  for (const char* column : kListColumns) {
    if (FindColumn(record.fields, column) != nullptr) {
      return ReadList(counting, record);
    }
  }
  return ReadColumns(counting, record);
}

}  // namespace

const std::string& ChoiceGoldColumns() {
  static const std::string columns = [] {
    std::vector<std::string> names;
    for (const GoldColumn& column : kGoldColumns) {
      names.push_back(absl::StrCat("\"", column.name, "\""));
    }
    const std::string last = names.back();
    names.pop_back();
    return absl::StrCat(absl::StrJoin(names, ", "), " or ", last);
  }();
  return columns;
}

const std::string& ChoiceListColumns() {
  static const std::string columns = absl::StrJoin(kListColumns, "|");
  return columns;
}

const std::string& ChoiceOptionColumns(size_t option) {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> columns;
    for (size_t i = 0; i < 2; ++i) {
      std::vector<std::string> names;
      for (const OptionColumns& one : kOptionColumns) {
        names.push_back(ColumnOfOption(one, i));
      }
      columns.push_back(absl::StrJoin(names, "|"));
    }
    return columns;
  }();
  return all.at(option);
}

const std::string& ChoiceColumns() {
  static const std::string columns =
      absl::StrCat(ChoiceListColumns(), "|", ChoiceOptionColumns(1));
  return columns;
}

bool HasListedOptions(const Json& fields) {
  for (const char* column : kListColumns) {
    if (!Unknown(FindColumn(fields, column))) return true;
  }
  return false;
}

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
  if (Trimmed(question).empty()) {
    return WrongValue("Question", "the question's text",
                      FindColumn(record.fields, "Question"));
  }
  const bool sciq = FindColumn(record.fields, "Correct Answer") == nullptr;
  std::vector<std::string> options = {
      ColumnText(record.fields, sciq ? "correct_answer" : "Correct Answer")};
  for (int i = 1; i <= 3; ++i) {
    const std::string column =
        absl::StrCat(sciq ? "distractor" : "Incorrect Answer ", i);
    if (FindColumn(record.fields, column) == nullptr) break;
    options.push_back(ColumnText(record.fields, column));
  }
  std::string wrong = CheckOptions(options);
  if (!wrong.empty()) return wrong;
  // The same order for the same question, independent of the file and its
  // order.
  std::vector<std::pair<uint64_t, size_t>> order;
  for (size_t i = 0; i < options.size(); ++i) {
    order.emplace_back(MixHash(StableHash(Trimmed(question)), i), i);
  }
  std::sort(order.begin(), order.end());
  std::vector<std::string> shown;
  for (const auto& [key, i] : order) {
    if (i == 0) record.answer = std::string(1, OptionLetter(shown.size()));
    shown.push_back(options[i]);
  }
  wrong = EqualToGold(record.answer, shown);
  if (!wrong.empty()) return wrong;
  record.solution = ColumnText(record.fields, "Explanation");
  Ask(question, shown, record);
  return "";
}

}  // namespace espalier
