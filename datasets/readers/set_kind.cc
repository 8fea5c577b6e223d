#include "datasets/readers/set_kind.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "datasets/code/code_problem.h"
#include "datasets/code/input_examples.h"
#include "datasets/tasks/find_answer.h"
#include "src/base/json_text.h"
#include "src/base/text.h"

namespace espalier {
namespace {

using Json = nlohmann::json;

std::string Trimmed(std::string_view text) {
  return std::string(absl::StripAsciiWhitespace(AbslView(text)));
}

bool Blank(std::string_view text) {
  return absl::StripAsciiWhitespace(AbslView(text)).empty();
}

// The answer at the end of a worked solution: after GSM8K's mark, else in the
// last box as MATH writes it.
std::optional<std::string> FinalAnswer(std::string_view solution) {
  const size_t mark = solution.rfind("#### ");
  if (mark != std::string_view::npos) {
    return Trimmed(solution.substr(mark + 5));
  }
  std::optional<std::string> boxed = LastBoxed(solution);
  if (boxed) return Trimmed(*boxed);
  // "\boxed 5", as a few solutions of MATH have it.
  constexpr std::string_view kBare = "\\boxed ";
  const size_t bare = solution.rfind(kBare);
  if (bare == std::string_view::npos) return std::nullopt;
  const std::string_view rest = solution.substr(bare + kBare.size());
  return Trimmed(rest.substr(0, rest.find_first_of("$ \n.")));
}

std::string ReadGsm8k(SetRecord& record) {
  record.question = ColumnText(record.fields, "question");
  record.solution = ColumnText(record.fields, "answer");
  if (record.solution.rfind("#### ") == std::string::npos) {
    return "no \"#### \" before the final answer in \"answer\"";
  }
  record.answer = *FinalAnswer(record.solution);
  return "";
}

std::string ReadMath(SetRecord& record) {
  record.question = ColumnText(record.fields, "problem");
  record.solution = ColumnText(record.fields, "solution");
  const std::optional<std::string> answer = FinalAnswer(record.solution);
  if (!answer) return "no \\boxed{} answer in \"solution\"";
  record.answer = *answer;
  return "";
}

std::string ReadCompetition(SetRecord& record) {
  record.question = ColumnText(record.fields, "problem");
  record.solution = ColumnText(record.fields, "solution");
  record.answer = ColumnText(record.fields, "answer");
  return Blank(record.answer) ? "\"answer\" is empty" : "";
}

std::string ReadSvamp(SetRecord& record) {
  std::string body = Trimmed(ColumnText(record.fields, "Body"));
  if (!body.empty() && absl::ascii_isalnum(body.back())) body += '.';
  const std::string question = ColumnText(record.fields, "Question");
  if (Blank(question)) return "no text under \"Question\"";
  record.question = absl::StrCat(body, body.empty() ? "" : " ", question);
  record.answer = ColumnText(record.fields, "Answer");
  record.solution = ColumnText(record.fields, "Equation");
  return Blank(record.answer) ? "\"Answer\" is empty" : "";
}

std::string ReadOlympiadBench(SetRecord& record) {
  const std::string context = ColumnText(record.fields, "context");
  const std::string question = ColumnText(record.fields, "question");
  if (Blank(question)) return "no text under \"question\"";
  record.question =
      absl::StrCat(context, context.empty() ? "" : "\n", question);
  record.solution = ColumnText(record.fields, "solution");
  record.answer = ColumnText(record.fields, "final_answer");
  return Blank(record.answer) ? "\"final_answer\" is empty: a proof has none, "
                                "and nothing to grade it by"
                              : "";
}

// What is wrong with the tests, "" if nothing. Columns are found whatever their
// case; who runs the tests finds them by these names.
std::string ReadTests(SetRecord& record,
                      std::initializer_list<const char*> columns,
                      CodeProblem& problem) {
  for (const char* column : columns) {
    const Json* value = FindColumn(record.fields, column);
    if (value == nullptr || record.fields.contains(column)) continue;
    Json copy = *value;
    record.fields[column] = std::move(copy);
  }
  absl::StatusOr<CodeProblem> read = ReadCodeProblem(record.fields);
  if (!read.ok()) return std::string(read.status().message());
  problem = *std::move(read);
  record.question = problem.prompt;
  record.solution = problem.solution;
  return "";
}

std::string ReadHumanEval(SetRecord& record) {
  CodeProblem problem;
  return ReadTests(
      record, {"prompt", "canonical_solution", "entry_point", "test"}, problem);
}

std::string ReadMbpp(SetRecord& record) {
  CodeProblem problem;
  std::string wrong = ReadTests(record,
                                {"text", "prompt", "code", "test_list",
                                 "test_setup_code", "test_imports"},
                                problem);
  if (!wrong.empty()) return wrong;
  // As its authors asked: the tests say what the function is called.
  absl::StrAppend(&record.question, "\nThe program must pass these tests:\n",
                  absl::StrJoin(problem.tests, "\n"), "\n");
  return "";
}

std::string ReadInput(SetRecord& record) {
  CodeProblem problem;
  std::string wrong = ReadTests(record,
                                {"question", "tests", "input_output",
                                 "public_tests", "solution", "solutions"},
                                problem);
  if (!wrong.empty()) return wrong;
  if (Blank(problem.prompt)) return "no text under \"question\"";
  record.question = InputQuestion(problem);
  return "";
}

std::string ReadGame24(SetRecord& record) {
  const std::string numbers = ColumnText(record.fields, "Puzzles");
  const std::vector<std::string> parts =
      absl::StrSplit(numbers, ' ', absl::SkipEmpty());
  bool ok = parts.size() == 4;
  for (const std::string& part : parts) {
    for (const char c : part) ok = ok && absl::ascii_isdigit(c);
  }
  if (!ok) {
    return absl::StrCat("expected four numbers under \"Puzzles\", found \"",
                        numbers, "\"");
  }
  record.question = absl::StrCat("Make 24 from ", parts[0], ", ", parts[1],
                                 ", ", parts[2], " and ", parts[3], ".");
  record.answer = "24";
  return "";
}

std::string ReadPlain(SetRecord& record) {
  record.question = ColumnText(record.fields, "question");
  record.solution = ColumnText(record.fields, "solution");
  const Json* answer = FindColumn(record.fields, "answer");
  if (answer == nullptr || answer->is_null()) return "";
  if (answer->is_object() || answer->is_boolean()) {
    return "\"answer\" is neither text nor a number";
  }
  const std::string text = ColumnText(record.fields, "answer");
  const std::optional<std::string> final_answer = FinalAnswer(text);
  if (final_answer && record.solution.empty()) record.solution = text;
  record.answer = final_answer.value_or(Trimmed(text));
  return "";
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

}  // namespace

const std::vector<SetKind>& SetKinds() {
  static const std::vector<SetKind> kinds = {
      {"humaneval", "python", {"prompt", "entry_point", "test"}, ReadHumanEval},
      {"mbpp", "python", {"text|prompt", "test_list"}, ReadMbpp},
      {"input", "python", {"question", "tests|input_output"}, ReadInput},
      {"game24", "game24", {"Puzzles"}, ReadGame24},
      {"svamp", "qa", {"Body", "Question", "Answer"}, ReadSvamp},
      {"olympiadbench", "qa", {"question", "final_answer"}, ReadOlympiadBench},
      {"math500", "qa", {"problem", "answer", "unique_id"}, ReadCompetition},
      {"competition", "qa", {"problem", "answer"}, ReadCompetition},
      {"math", "qa", {"problem", "solution"}, ReadMath},
      {"gsm8k", "qa", {"question", "answer"}, ReadGsm8k},
      {"plain", "qa", {"question"}, ReadPlain},
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
    if (!HasAll(fields, kind)) continue;
    // Both are a question and an answer; the mark tells them apart.
    if (kind.name == "gsm8k" &&
        ColumnText(fields, "answer").rfind("#### ") == std::string::npos) {
      continue;
    }
    return &kind;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "no known kind of set has the columns ", Columns(fields),
      "; name those to read (--columns question=NAME,answer=NAME) or the kind ",
      "(--kind ", absl::StrJoin(KindNames(), "|"), ")"));
}

absl::StatusOr<SetRecord> ReadAs(const SetKind& kind, Record record) {
  SetRecord out{.place = std::move(record.place),
                .fields = std::move(record.fields)};
  const auto error = [&](std::string_view what) {
    return absl::InvalidArgumentError(
        absl::StrCat(out.place, ": ", AbslView(what), "; a record of kind ",
                     AbslView(kind.name), " has ", Needs(kind), ", this one ",
                     Columns(out.fields)));
  };
  for (const std::string_view column : kind.needs) {
    if (!Has(out.fields, column)) {
      return error(absl::StrCat("no column \"", AbslView(column), "\""));
    }
  }
  const std::string problem = kind.read(out);
  if (!problem.empty()) return error(problem);
  if (Blank(out.question)) return error("the question is empty or not text");
  for (const char* column :
       {"task_id", "unique_id", "id", "problem_id", "question_id"}) {
    const Json* id = FindColumn(out.fields, column);
    if (id == nullptr || id->is_structured()) continue;
    out.id = ColumnText(out.fields, column);
    if (!out.id.empty()) break;
  }
  return out;
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
