#include "datasets/sets/set_kind.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/json_text.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "base/utf8.h"
#include "datasets/sets/answer_kinds.h"
#include "datasets/sets/choice_kinds.h"
#include "datasets/sets/code_kinds.h"
#include "datasets/sets/row_kinds.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

using Json = nlohmann::json;

bool BlankCell(std::string_view text) {
  return absl::StripAsciiWhitespace(AbslView(text)).empty();
}

// Whether `fields` has `column`, or one of the columns of "a|b".
bool Has(const Json& fields, std::string_view column) {
  for (const absl::string_view name : absl::StrSplit(AbslView(column), '|')) {
    if (FindColumn(fields, std::string_view(name.data(), name.size()))) {
      return true;
    }
  }
  return false;
}

bool HasAll(const Json& fields, const SetKind& kind) {
  for (const std::string_view column : kind.needs) {
    if (!Has(fields, column)) return false;
  }
  return true;
}

std::string Columns(const Json& fields) {
  std::vector<std::string> names;
  for (const auto& [name, value] : fields.items()) {
    names.push_back(JsonText(name));
  }
  return absl::StrJoin(names, ", ");
}

std::string Needs(const SetKind& kind) {
  std::vector<std::string> names;
  for (const std::string_view column : kind.needs) {
    names.push_back(absl::StrCat(
        "\"", absl::StrJoin(absl::StrSplit(AbslView(column), '|'), "\" or \""),
        "\""));
  }
  return absl::StrJoin(names, ", ");
}

std::vector<std::string> KindNames() {
  std::vector<std::string> names;
  for (const SetKind& kind : SetKinds()) names.emplace_back(kind.name);
  return names;
}

const Json* FindMember(const Json& object, std::string_view name) {
  if (!object.is_object()) return nullptr;
  const auto it = object.find(std::string(name));
  if (it != object.end()) return &*it;
  for (auto other = object.begin(); other != object.end(); ++other) {
    if (absl::EqualsIgnoreCase(other.key(), AbslView(name))) return &*other;
  }
  return nullptr;
}

// The text of a column: a text, or a list of texts, one per line. Errors go to
// `wrong`.
std::string TextBlock(const Json& value, std::string& wrong) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  std::vector<std::string> parts;
  for (const Json& part : value.is_array() ? value : Json::array({value})) {
    if (!part.is_string()) {
      wrong = "is neither a text nor a list of texts";
      return "";
    }
    parts.push_back(part.get<std::string>());
  }
  return absl::StrJoin(parts, "\n");
}

// The column of `kind`'s question that the record has.
std::string_view QuestionColumn(const SetKind& kind, const Json& fields) {
  for (const absl::string_view name :
       absl::StrSplit(AbslView(kind.needs[0]), '|')) {
    const std::string_view column(name.data(), name.size());
    if (FindColumn(fields, column) != nullptr) return column;
  }
  return kind.needs[0];
}

// Gold answers that no reader takes: objects and booleans in the column of a
// kind that has only one. Returns the error.
std::string CheckGold(const SetKind& kind, const Json& fields) {
  const std::vector<absl::string_view> parts =
      absl::StrSplit(AbslView(kind.gold), '"');
  if (parts.size() != 3) return "";
  const std::string column(parts[1]);
  const Json* gold = FindColumn(fields, column);
  const bool wrong =
      gold != nullptr && (gold->is_object() || gold->is_boolean());
  return wrong ? WrongValue(column, "text or a number", gold) : "";
}

// The error for a question about an image, as OlympiadBench, ScienceQA and HLE
// have; "" if there is none.
std::string CheckImage(const Json& fields) {
  for (const char* column : {"image", "image_1", "images"}) {
    const Json* image = FindColumn(fields, column);
    const bool there =
        image != nullptr &&
        (image->is_string() ? !BlankCell(image->get_ref<const std::string&>())
                            : image->is_structured() && !image->empty());
    if (!there) continue;
    return absl::StrCat("the question needs an image, which is in \"", column,
                        "\"; only questions in text can be asked");
  }
  return "";
}

// Prepends the question's context, if the record has it in a separate column
// and the kind's reader omitted it. Returns the error.
std::string AddContext(SetRecord& record) {
  std::string all;
  for (const char* column :
       {"context", "passage", "article", "paragraph", "table"}) {
    const Json* value = FindColumn(record.fields, column);
    if (value == nullptr) continue;
    std::string wrong;
    const std::string text = TextBlock(*value, wrong);
    if (!wrong.empty()) {
      return absl::StrCat("\"", column, "\" ", wrong,
                          ", and the question may be about it; name the text "
                          "(--columns ",
                          column, "=", column, ".NAME)");
    }
    const absl::string_view trimmed =
        absl::StripAsciiWhitespace(AbslView(text));
    if (trimmed.empty() || absl::StrContains(record.question, trimmed)) {
      continue;
    }
    absl::StrAppend(&all, trimmed, "\n");
  }
  record.question.insert(0, all);
  return "";
}

}  // namespace

const std::vector<SetKind>& SetKinds() {
  static const std::vector<SetKind> kinds = {
      {"evalplus",
       "python",
       {"prompt", "entry_point", "base_input"},
       ReadEvalPlusRecord},
      {"bigcodebench",
       "python",
       {"complete_prompt", "code_prompt", "entry_point", "test"},
       ReadBigCodeComplete},
      {"bigcodebench-instruct",
       "python",
       {"instruct_prompt", "code_prompt", "entry_point", "test"},
       ReadBigCodeInstruct},
      {"humaneval",
       "python",
       {"prompt", "entry_point", "test"},
       ReadHumanEvalRecord},
      {"mbpp", "python", {"text|prompt", "test_list"}, ReadMbppRecord},
      {"humaneval-x",
       "python",
       {"prompt", "declaration", "test"},
       ReadHumanEvalXRecord},
      {"cruxeval-o", "python", {"code", "input", "output"}, ReadCruxOutput},
      {"cruxeval-i", "python", {"code", "input", "output"}, ReadCruxInput},
      {"input", "python", {"question", "tests|input_output"}, ReadInputRecord},
      {"game24", "game24", {"Puzzles"}, ReadGame24},
      {"gpqa",
       "qa",
       {"Question", "Correct Answer|correct_answer",
        "Incorrect Answer 1|distractor1"},
       ReadGpqa},
      {"choice",
       "qa",
       {"question|problem|question_stem|query|input|ctx", ChoiceListColumns()},
       ReadChoiceList,
       ChoiceGoldColumns()},
      {"mmlu",
       "qa",
       {"question|problem|goal|sentence", ChoiceOptionColumns(0),
        ChoiceOptionColumns(1)},
       ReadChoiceColumns,
       ChoiceGoldColumns()},
      {"choice-from-0",
       "qa",
       {"question|problem|question_stem|query|input|ctx|goal|sentence",
        ChoiceColumns()},
       ReadChoiceFrom0,
       ChoiceGoldColumns(),
       /*by_name=*/true},
      {"choice-from-1",
       "qa",
       {"question|problem|question_stem|query|input|ctx|goal|sentence",
        ChoiceColumns()},
       ReadChoiceFrom1,
       ChoiceGoldColumns(),
       /*by_name=*/true},
      {"verl",
       "qa",
       {"prompt", "reward_model"},
       ReadVerl,
       "\"reward_model.ground_truth\""},
      {"nemo",
       "qa",
       {"problem|question|responses_create_params|input", "expected_answer"},
       ReadNemo,
       "\"expected_answer\""},
      {"mawps",
       "qa",
       {"sQuestion|original_text", "lSolutions|ans"},
       ReadMawps,
       "\"lSolutions\" or \"ans\""},
      {"numbers",
       "qa",
       {"Question", "Numbers", "Answer"},
       ReadMaskedNumbers,
       "\"Answer\""},
      {"multiarith",
       "qa",
       {"question", "final_ans"},
       ReadMultiArith,
       "\"final_ans\""},
      {"mgsm",
       "qa",
       {"question", "answer_number"},
       ReadMgsm,
       "\"answer_number\""},
      {"target", "qa", {"input", "target"}, ReadInputTarget, "\"target\""},
      {"svamp", "qa", {"Body", "Question", "Answer"}, ReadSvamp, "\"Answer\""},
      {"olympiadbench", "qa", {"question", "final_answer"}, ReadOlympiadBench},
      {"math500",
       "qa",
       {"problem", "answer", "unique_id"},
       ReadCompetition,
       "\"answer\""},
      {"competition",
       "qa",
       {"problem", "answer"},
       ReadCompetition,
       "\"answer\""},
      {"math", "qa", {"problem", "solution"}, ReadMath},
      {"gsm8k", "qa", {"question", "answer"}, ReadGsm8k},
      {"golds", "qa", {"question|problem", "golds"}, ReadGolds, "\"golds\""},
      {"plain", "qa", {"question"}, ReadPlain, "\"answer\""},
  };
  return kinds;
}

absl::StatusOr<const SetKind*> FindKind(std::string_view name) {
  for (const SetKind& kind : SetKinds()) {
    if (kind.name == name) return &kind;
  }
  return absl::NotFoundError(UnknownName("kind of set", name, KindNames()));
}

absl::StatusOr<const SetKind*> RecogniseKind(const Json& fields) {
  for (const SetKind& kind : SetKinds()) {
    if (kind.by_name || !HasAll(fields, kind)) continue;
    // Both are a question and an answer; the mark tells them apart.
    if (kind.name == "gsm8k" &&
        ColumnText(fields, "answer").rfind("#### ") == std::string::npos) {
      continue;
    }
    return &kind;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("no known kind of set has the columns ", Columns(fields),
                   "; name the columns to read (--columns "
                   "question=NAME,answer=NAME) or the kind ",
                   "(--kind ", absl::StrJoin(KindNames(), "|"), ")"));
}

absl::StatusOr<SetRecord> ReadAs(const SetKind& kind, Record record) {
  SetRecord out{.place = std::move(record.place),
                .fields = std::move(record.fields)};
  // Some records of a file may list several answers and have no other.
  const bool one_answer = kind.name == "plain" || kind.name == "competition" ||
                          kind.name == "gsm8k" || kind.name == "math500";
  if (one_answer && ColumnText(out.fields, "answer").empty() &&
      FindColumn(out.fields, "golds") != nullptr) {
    ESP_ASSIGN_OR_RETURN(const SetKind* golds, FindKind("golds"));
    record.place = std::move(out.place);
    record.fields = std::move(out.fields);
    return ReadAs(*golds, std::move(record));
  }
  for (const std::string_view column : kind.needs) {
    if (!Has(out.fields, column)) {
      return absl::InvalidArgumentError(absl::StrCat(
          out.place, ": no column \"",
          absl::StrReplaceAll(AbslView(column), {{"|", "\" or \""}}),
          "\"; a record of kind ", AbslView(kind.name), " has ", Needs(kind),
          ", this one ", Columns(out.fields)));
    }
  }
  std::string problem;
  for (const char* column : {"question", "problem"}) {
    const Json* question = FindColumn(out.fields, column);
    if (question == nullptr || !question->is_array()) continue;
    problem = absl::StrCat("\"", column,
                           "\" is a list; expected one question per record, so "
                           "convert a file of columns to records first");
  }
  if (problem.empty() && kind.task == "qa") problem = CheckImage(out.fields);
  if (problem.empty()) problem = kind.read(out);
  if (problem.empty() && BlankCell(out.question)) {
    const std::string_view column = QuestionColumn(kind, out.fields);
    problem = absl::StrCat(
        "the question is empty or not text: ",
        WrongValue(column, "text", FindColumn(out.fields, column)));
  }
  if (problem.empty() && out.answer.empty()) {
    problem = CheckGold(kind, out.fields);
  }
  if (problem.empty() && kind.task == "qa") problem = FillMarks(out);
  if (problem.empty() && kind.task == "qa") problem = AddContext(out);
  if (!problem.empty()) {
    const std::string message = absl::StrCat(
        out.place, ": ", problem, "; the set is read as ", AbslView(kind.name));
    return out.wrong_set ? absl::FailedPreconditionError(message)
                         : absl::InvalidArgumentError(message);
  }
  for (const char* column : {"task_id", "unique_id", "id", "problem_id",
                             "question_id", "Record ID"}) {
    const Json* id = FindColumn(out.fields, column);
    if (id == nullptr || id->is_structured()) continue;
    out.id = ColumnText(out.fields, column);
    if (!out.id.empty()) break;
  }
  return out;
}

std::string WrongValue(std::string_view column, std::string_view expected,
                       const Json* found) {
  constexpr size_t kShown = 60;  // bytes
  std::string shown = found == nullptr ? "nothing" : JsonText(*found);
  if (shown.size() > kShown) {
    shown = shown.substr(0, NextUtf8Boundary(shown, kShown)) + "...";
  }
  return absl::StrCat("expected ", AbslView(expected), " in \"",
                      AbslView(column), "\", found ", shown);
}

const Json* FindColumn(const Json& fields, std::string_view column) {
  if (const Json* found = FindMember(fields, column)) return found;
  const size_t dot = column.find('.');
  if (dot == std::string_view::npos) return nullptr;
  const Json* inner = FindMember(fields, column.substr(0, dot));
  return inner == nullptr ? nullptr
                          : FindColumn(*inner, column.substr(dot + 1));
}

std::string ColumnText(const Json& fields, std::string_view column) {
  const Json* value = FindColumn(fields, column);
  if (value == nullptr) return "";
  if (value->is_string()) return value->get<std::string>();
  if (value->is_number()) return value->dump();
  if (!value->is_array()) return "";
  std::vector<std::string> parts;
  for (const Json& element : *value) {
    if (element.is_string()) parts.push_back(element.get<std::string>());
    if (element.is_number()) parts.push_back(element.dump());
  }
  return absl::StrJoin(parts, ", ");
}

}  // namespace espalier
