#include "datasets/programs/code_problem.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/parse_json.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "datasets/programs/bigcodebench.h"
#include "datasets/programs/code_columns.h"
#include "datasets/programs/cruxeval.h"
#include "datasets/programs/evalplus.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

using nlohmann::json;

// Calls fn(word, the text behind it) for every name in Python code that does
// not follow a full stop.
template <typename Fn>
void ForEachName(std::string_view code, const Fn& fn) {
  for (size_t i = 0; i < code.size();) {
    if (!IsWordByte(code[i])) {
      ++i;
      continue;
    }
    size_t end = i;
    while (end < code.size() && IsWordByte(code[end])) ++end;
    if (i == 0 || code[i - 1] != '.') {
      fn(code.substr(i, end - i), code.substr(end));
    }
    i = end;
  }
}

// The names defined at a program's top level.
std::set<std::string> DefinedNames(std::string_view code) {
  std::set<std::string> names;
  for (absl::string_view line : absl::StrSplit(AbslView(code), '\n')) {
    for (const absl::string_view word : {"async def ", "def ", "class "}) {
      if (line.substr(0, word.size()) == word) {
        line.remove_prefix(word.size());
        line = absl::StripLeadingAsciiWhitespace(line);
        size_t end = 0;
        while (end < line.size() && IsWordByte(line[end])) ++end;
        names.emplace(line.substr(0, end));
      }
    }
    size_t end = 0;
    while (end < line.size() && IsWordByte(line[end])) ++end;
    const absl::string_view rest =
        absl::StripLeadingAsciiWhitespace(line.substr(end));
    if (end > 0 && !rest.empty() && rest[0] == '=') {
      names.emplace(line.substr(0, end));
    }
  }
  return names;
}

// The imports at a program's top level: some tests rely on them.
std::string OutermostImports(std::string_view code) {
  std::string imports;
  for (const absl::string_view line : absl::StrSplit(AbslView(code), '\n')) {
    const bool whole = line.find_first_of("(\\") == absl::string_view::npos;
    if (whole &&
        (line.substr(0, 7) == "import " || line.substr(0, 5) == "from ")) {
      absl::StrAppend(&imports, line, "\n");
    }
  }
  return imports;
}

// Names that have a built-in meaning where tests call them: a program's own
// must not shadow them.
bool IsWordOfPython(const std::string& name) {
  static const std::set<std::string> known = {
      "abs",        "aiter",        "all",         "and",       "anext",
      "any",        "as",           "ascii",       "assert",    "await",
      "bin",        "bool",         "breakpoint",  "bytearray", "bytes",
      "callable",   "chr",          "classmethod", "compile",   "complex",
      "delattr",    "dict",         "dir",         "divmod",    "elif",
      "enumerate",  "eval",         "except",      "exec",      "filter",
      "float",      "for",          "format",      "frozenset", "getattr",
      "globals",    "hasattr",      "hash",        "help",      "hex",
      "id",         "if",           "in",          "input",     "int",
      "is",         "isinstance",   "issubclass",  "iter",      "lambda",
      "len",        "list",         "locals",      "map",       "max",
      "memoryview", "min",          "next",        "not",       "object",
      "oct",        "open",         "or",          "ord",       "pow",
      "print",      "property",     "range",       "repr",      "return",
      "reversed",   "round",        "set",         "setattr",   "slice",
      "sorted",     "staticmethod", "str",         "sum",       "super",
      "tuple",      "type",         "vars",        "while",     "with",
      "yield",      "zip",          "__import__"};
  return known.contains(name);
}

// The names that MBPP's tests take from the program: those that the published
// program defines and the tests use. Without a published program, those that
// the tests call and that neither Python nor the tests define, except errors.
std::vector<std::string> NamesOfTests(const std::string& solution,
                                      const std::string& tests,
                                      const std::string& own) {
  const std::set<std::string> defined =
      DefinedNames(solution.empty() ? own : solution);
  std::set<std::string> imported, names;
  ForEachName(OutermostImports(own),
              [&](std::string_view word, std::string_view) {
                imported.insert(std::string(word));
              });
  ForEachName(tests, [&](std::string_view word, std::string_view rest) {
    const std::string name(word);
    const bool called = rest.starts_with("(");
    if (!solution.empty()) {
      if (defined.contains(name)) names.insert(name);
    } else if (called && !IsWordOfPython(name) && !defined.contains(name) &&
               !imported.contains(name) && !name.ends_with("Error") &&
               name != "Exception") {
      names.insert(name);
    }
  });
  return {names.begin(), names.end()};
}

// The methods of the classes in Python code.
std::vector<std::string> MethodsOf(std::string_view code) {
  std::set<std::string> names;
  bool inside = false;
  size_t depth = 0;  // indentation of the enclosing class
  for (absl::string_view line : absl::StrSplit(AbslView(code), '\n')) {
    const absl::string_view text = absl::StripLeadingAsciiWhitespace(line);
    if (text.empty() || text[0] == '#') continue;
    const size_t indent = line.size() - text.size();
    if (inside && indent <= depth) inside = false;
    if (!inside && absl::StartsWith(text, "class ")) {
      inside = true;
      depth = indent;
    }
    if (!inside) continue;
    for (absl::string_view word : {"async def ", "def "}) {
      if (!absl::StartsWith(text, word)) continue;
      word = absl::StripLeadingAsciiWhitespace(text.substr(word.size()));
      size_t end = 0;
      while (end < word.size() && IsWordByte(word[end])) ++end;
      names.emplace(word.substr(0, end));
    }
  }
  return {names.begin(), names.end()};
}

// Sets with several languages mark them in the ids: "CPP/0".
absl::Status CheckLanguage(const json& fields) {
  ESP_ASSIGN_OR_RETURN(const std::string id,
                       TextColumn(fields, "task_id", false));
  const std::string language =
      absl::AsciiStrToLower(id.substr(0, id.find('/')));
  for (const char* other :
       {"cpp", "java", "javascript", "js", "go", "rust", "c", "typescript"}) {
    if (language != other) continue;
    return WrongColumn(
        "task_id", absl::StrCat("a Python problem, found \"", id,
                                "\": programs in other languages are not "
                                "supported; use the set's file for Python"));
  }
  return absl::OkStatus();
}

// HumanEval+ in the original format and MBPP+ at Hugging Face compare by
// numpy's allclose, for which an empty list is close to any number and vice
// versa. EvalPlus has since required the expected type and length.
constexpr char kAssertion[] = "def assertion(out, exp, atol):";
constexpr char kPublishedAssertion[] =
    "def published_assertion(out, exp, atol):";
constexpr char kOfOneKind[] = R"py(
def of_one_kind(out, exp):
    if isinstance(exp, (list, tuple)):
        return (type(out) is type(exp) and len(out) == len(exp)
                and all(map(of_one_kind, out, exp)))
    return (type(out) is type(exp)
            or type(out) in (int, float) and type(exp) in (int, float))

def assertion(out, exp, atol):
    if (out == exp) is not True:
        assert type(out) is type(exp) and of_one_kind(out, exp)
        published_assertion(out, exp, atol)
)py";

// Without stored results, they call the published function after the program,
// which could have emptied the arguments: the program gets a copy.
constexpr char kAskAfter[] = "(*inp), ref_func(*inp)";
constexpr char kAskOfCopy[] =
    "(*__import__('copy').deepcopy(inp)), ref_func(*inp)";

// The published tests; if they compare that way, with a check that both values
// are of one kind.
std::string OfOneKind(const std::string& test) {
  if (test.find(kAssertion) == std::string::npos) return test;
  return absl::StrCat(
      kOfOneKind, "\n",
      absl::StrReplaceAll(
          test, {{kAssertion, kPublishedAssertion}, {kAskAfter, kAskOfCopy}}));
}

// HumanEval/32 of HumanEval+ in the original format unpacks the root that a
// program returns and takes it for the coefficients: it fails every correct
// program and passes one that returns a list of no coefficients. It also
// accepts polynomial values far below 0, which are not roots. EvalPlus has
// since fixed both. The program gets a copy, since it could remove all
// coefficients from the polynomial.
constexpr char kRootTest[] = "_poly(*candidate(*inp), inp) <= ";
constexpr char kMendedRootTest[] =
    "abs(_poly(*inp, candidate(*map(list, inp)))) <= ";

absl::StatusOr<CodeProblem> ReadHumanEval(const json& fields) {
  CodeProblem problem;
  problem.style = CodeStyle::kHumanEval;
  ESP_ASSIGN_OR_RETURN(problem.prompt, TextColumn(fields, "prompt", true));
  ESP_ASSIGN_OR_RETURN(problem.solution,
                       TextColumn(fields, "canonical_solution", false));
  ESP_ASSIGN_OR_RETURN(std::string entry, NameColumn(fields, "entry_point"));
  ESP_RETURN_IF_ERROR(CheckLanguage(fields));
  ESP_ASSIGN_OR_RETURN(std::string test, TextColumn(fields, "test", true));
  if (!DefinedNames(absl::StrCat(problem.prompt, "\n", problem.solution))
           .contains(entry)) {
    return WrongColumn("entry_point",
                       absl::StrCat("a function that the prompt or the "
                                    "published solution defines, found \"",
                                    entry, "\""));
  }
  test = absl::StrReplaceAll(test, {{kRootTest, kMendedRootTest}});
  problem.before = absl::StrCat(problem.prompt, "\n    pass\n");
  problem.tests = {absl::StrCat(OfOneKind(test), "\n\ncheck(", entry, ")\n")};
  problem.names = {std::move(entry)};
  return problem;
}

// The function that the last "def" of `declaration` begins.
absl::StatusOr<std::string> DeclaredName(const json& fields) {
  ESP_ASSIGN_OR_RETURN(const std::string declaration,
                       TextColumn(fields, "declaration", true));
  std::string name;
  for (const absl::string_view line :
       absl::StrSplit(AbslView(declaration), '\n')) {
    if (line.substr(0, 4) != "def ") continue;
    size_t end = 4;
    while (end < line.size() && IsWordByte(line[end])) ++end;
    name = std::string(line.substr(4, end - 4));
  }
  if (!name.empty()) return name;
  return WrongColumn("declaration", "a line \"def NAME(\" of Python");
}

absl::StatusOr<CodeProblem> ReadHumanEvalX(const json& fields) {
  ESP_RETURN_IF_ERROR(CheckLanguage(fields));
  ESP_ASSIGN_OR_RETURN(const std::string entry, DeclaredName(fields));
  json with_entry = fields;
  with_entry["entry_point"] = entry;
  ESP_ASSIGN_OR_RETURN(CodeProblem problem, ReadHumanEval(with_entry));
  // Its tests call check themselves.
  ESP_ASSIGN_OR_RETURN(const std::string test,
                       TextColumn(fields, "test", true));
  if (test.find("\ncheck(") != std::string::npos) problem.tests = {test};
  return problem;
}

absl::StatusOr<CodeProblem> ReadMbpp(const json& fields) {
  CodeProblem problem;
  problem.style = CodeStyle::kMbpp;
  ESP_ASSIGN_OR_RETURN(
      problem.prompt,
      TextColumn(fields, HasColumn(fields, "text") ? "text" : "prompt", true));
  ESP_ASSIGN_OR_RETURN(problem.solution, TextColumn(fields, "code", false));
  ESP_ASSIGN_OR_RETURN(problem.after,
                       TextColumn(fields, "test_setup_code", false));
  ESP_ASSIGN_OR_RETURN(problem.tests, TextsColumn(fields, "test_list"));
  ESP_ASSIGN_OR_RETURN(const std::vector<std::string> imports,
                       TextsColumn(fields, "test_imports"));
  if (problem.tests.empty()) {
    return WrongColumn("test_list", "at least one test");
  }
  ESP_ASSIGN_OR_RETURN(const std::string more,
                       TextColumn(fields, "test", false));
  if (!more.empty()) problem.tests = {OfOneKind(more)};
  problem.plus = !more.empty();
  problem.before = absl::StrCat(absl::StrJoin(imports, "\n"), "\n",
                                OutermostImports(problem.solution));
  const std::string tests = absl::StrJoin(problem.tests, "\n");
  problem.names =
      NamesOfTests(problem.solution, absl::StrCat(problem.after, "\n", tests),
                   absl::StrCat(problem.before, problem.after, "\n", tests));
  return problem;
}

// Some publishers store JSON in a text.
json Unpacked(const json& value) {
  if (!value.is_string()) return value;
  return ParseJsonOrNull(value.get<std::string>());
}

// A text, or a list of its lines.
bool ReadLines(const json& value, std::string& text) {
  if (value.is_string()) {
    text = value.get<std::string>();
    return true;
  }
  if (!value.is_array()) return false;
  text.clear();
  for (const json& line : value) {
    if (!line.is_string()) return false;
    absl::StrAppend(&text, line.get<std::string>(), "\n");
  }
  return true;
}

// The list under "NAME" or "NAMEs"; null if there is none.
const json* ListIn(const json& object, const std::string& name) {
  for (const std::string& key : {name, name + "s"}) {
    const auto it = object.find(key);
    if (it != object.end() && it->is_array()) return &*it;
  }
  return nullptr;
}

// The input/output cases in `column`; none if there is no such column.
absl::StatusOr<std::vector<InputCase>> ReadCases(const json& fields,
                                                 const char* column) {
  std::vector<InputCase> cases;
  const auto it = fields.find(column);
  if (it == fields.end() || it->is_null()) return cases;
  const json value = Unpacked(*it);
  const auto Wrong = [&](size_t i, std::string_view expected) {
    return WrongColumn(
        column, absl::StrCat("case ", i + 1, " to have ", AbslView(expected)));
  };
  if (value.is_array()) {
    for (const json& one : value) {
      const size_t i = cases.size();
      InputCase& read = cases.emplace_back();
      if (!one.is_object() || !one.contains("input") ||
          !one.contains("output") || !ReadLines(one["input"], read.input) ||
          !ReadLines(one["output"], read.output)) {
        return Wrong(i, "texts \"input\" and \"output\"");
      }
      if (one.value("testtype", json()) == "functional") {
        return Wrong(i, "testtype \"stdin\": function calls are not supported");
      }
    }
    return cases;
  }
  if (!value.is_object()) {
    return WrongColumn(column,
                       "a list of {\"input\", \"output\"} objects or an object "
                       "of lists \"inputs\" and \"outputs\", as it is or as "
                       "JSON in a text");
  }
  if (value.contains("fn_name") && !value["fn_name"].is_null()) {
    return WrongColumn(column,
                       "cases of standard input, found \"fn_name\": function "
                       "calls are not supported");
  }
  const json* inputs = ListIn(value, "input");
  const json* outputs = ListIn(value, "output");
  if (inputs == nullptr || outputs == nullptr) {
    return WrongColumn(column, "lists \"inputs\" and \"outputs\"");
  }
  if (inputs->size() != outputs->size()) {
    return WrongColumn(column,
                       absl::StrCat("as many outputs as inputs, found ",
                                    outputs->size(), " and ", inputs->size()));
  }
  for (size_t i = 0; i < inputs->size(); ++i) {
    InputCase& read = cases.emplace_back();
    if (!ReadLines((*inputs)[i], read.input) ||
        !ReadLines((*outputs)[i], read.output)) {
      return Wrong(i, "texts as input and output");
    }
  }
  return cases;
}

// The published program, or the first of a list of them.
absl::StatusOr<std::string> InputSolution(const json& fields) {
  if (HasColumn(fields, "solution") || !HasColumn(fields, "solutions")) {
    return TextColumn(fields, "solution", false);
  }
  const json list = Unpacked(fields["solutions"]);
  if (!list.is_array() || list.empty() || !list[0].is_string()) return "";
  return list[0].get<std::string>();
}

absl::StatusOr<CodeProblem> ReadInput(const json& fields) {
  CodeProblem problem;
  problem.style = CodeStyle::kInput;
  ESP_ASSIGN_OR_RETURN(problem.prompt, TextColumn(fields, "question", false));
  ESP_ASSIGN_OR_RETURN(problem.solution, InputSolution(fields));
  const char* column = HasColumn(fields, "tests") ? "tests" : "input_output";
  ESP_ASSIGN_OR_RETURN(std::vector<InputCase> cases, ReadCases(fields, column));
  if (cases.empty()) return WrongColumn(column, "at least one case");
  ESP_ASSIGN_OR_RETURN(problem.public_cases, ReadCases(fields, "public_tests"));
  problem.cases = problem.public_cases;
  for (InputCase& one : cases) {
    const bool there =
        std::find(problem.public_cases.begin(), problem.public_cases.end(),
                  one) != problem.public_cases.end();
    if (!there) problem.cases.push_back(std::move(one));
  }
  return problem;
}

// The lines of the trimmed text, without trailing blanks.
std::vector<std::string> Lines(std::string_view text) {
  std::vector<std::string> lines;
  for (const absl::string_view line :
       absl::StrSplit(absl::StripAsciiWhitespace(AbslView(text)), '\n')) {
    lines.emplace_back(absl::StripTrailingAsciiWhitespace(line));
  }
  return lines;
}

// "" if equal, else the first difference.
std::string Difference(std::string_view expected, std::string_view found) {
  const std::vector<std::string> want = Lines(expected), have = Lines(found);
  for (size_t i = 0; i < want.size() || i < have.size(); ++i) {
    const auto Show = [i](const std::vector<std::string>& lines) {
      return i < lines.size()
                 ? absl::StrCat("\"", lines[i].substr(0, 100), "\"")
                 : std::string("the end");
    };
    if (i < want.size() && i < have.size() && want[i] == have[i]) continue;
    return absl::StrCat("output line ", i + 1, ": expected ", Show(want),
                        ", found ", Show(have));
  }
  return "";
}

absl::StatusOr<ProgramVerdict> GradeByInput(Sandbox& sandbox,
                                            const CodeProblem& problem,
                                            std::string_view program) {
  ProgramVerdict verdict;
  for (const InputCase& one : problem.cases) {
    ++verdict.test;
    ESP_ASSIGN_OR_RETURN(InputVerdict run,
                         sandbox.RunInput(program, one.input));
    verdict.kind = run.kind;
    verdict.message = std::move(run.message);
    verdict.cpu_seconds += run.cpu_seconds;
    if (run.kind != VerdictKind::kPassed) return verdict;
    verdict.message = Difference(one.output, run.output);
    if (!verdict.message.empty()) {
      verdict.kind = VerdictKind::kFailed;
      return verdict;
    }
  }
  return verdict;
}

}  // namespace

absl::StatusOr<CodeProblem> ReadCodeProblem(const json& fields) {
  if (!fields.is_object()) {
    return absl::InvalidArgumentError("expected a JSON object");
  }
  const auto Read = [&]() -> absl::StatusOr<CodeProblem> {
    if (HasColumn(fields, "base_input")) return ReadEvalPlus(fields);
    if (HasColumn(fields, "code_prompt")) return ReadBigCodeBench(fields);
    if (HasColumn(fields, "entry_point")) return ReadHumanEval(fields);
    if (HasColumn(fields, "predict")) return ReadCruxEval(fields);
    if (HasColumn(fields, "declaration")) return ReadHumanEvalX(fields);
    if (HasColumn(fields, "test_list")) return ReadMbpp(fields);
    if (HasColumn(fields, "tests") || HasColumn(fields, "input_output")) {
      return ReadInput(fields);
    }
    return absl::InvalidArgumentError(
        "no tests: expected the columns prompt, entry_point and test "
        "(HumanEval), text and test_list (MBPP), or tests or input_output");
  };
  ESP_ASSIGN_OR_RETURN(CodeProblem problem, Read());
  ESP_ASSIGN_OR_RETURN(problem.id, TextColumn(fields, "task_id", false));
  return problem;
}

bool SameOutput(std::string_view expected, std::string_view found) {
  return Lines(expected) == Lines(found);
}

std::string SolutionProgram(const CodeProblem& problem) {
  if (problem.style == CodeStyle::kHumanEval) {
    return problem.prompt + problem.solution;
  }
  const bool answers = problem.style == CodeStyle::kOutput ||
                       problem.style == CodeStyle::kArguments;
  return answers ? CruxProgram(problem, problem.solution) : problem.solution;
}

absl::StatusOr<ProgramVerdict> GradeProgram(Sandbox& sandbox,
                                            const CodeProblem& problem,
                                            std::string_view program) {
  if (problem.style == CodeStyle::kInput) {
    return GradeByInput(sandbox, problem, program);
  }
  return sandbox.Run({.code = std::string(program),
                      .names = problem.names,
                      .methods = MethodsOf(
                          absl::StrCat(problem.prompt, "\n", problem.solution)),
                      .given = problem.given_code,
                      .before = problem.before,
                      .after = problem.after,
                      .tests = problem.tests});
}

}  // namespace espalier
