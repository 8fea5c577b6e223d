#include "datasets/programs/cruxeval.h"

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/json_text.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "datasets/programs/code_columns.h"
#include "datasets/programs/find_code.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

using nlohmann::json;

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

// The content of the last [ANSWER] tags, else of the last fenced block, else
// the last line that is an assertion, else the last line.
std::string AnswerText(std::string_view response) {
  constexpr std::string_view kOpen = "[ANSWER]";
  const size_t open = response.rfind(kOpen);
  if (open != std::string_view::npos) {
    response.remove_prefix(open + kOpen.size());
    return std::string(Trimmed(response.substr(0, response.find("[/ANSWER]"))));
  }
  if (const auto block = FindCode(response))
    return std::string(Trimmed(*block));
  std::string_view last, assertion;
  for (const absl::string_view each :
       absl::StrSplit(AbslView(response), '\n')) {
    const std::string_view line = Trimmed({each.data(), each.size()});
    if (!line.empty()) last = line;
    if (line.starts_with("assert ")) assertion = line;
  }
  if (!assertion.empty()) last = assertion;
  while (last.starts_with("`") && last.ends_with("`") && last.size() > 1) {
    last = last.substr(1, last.size() - 2);
  }
  return std::string(last);
}

// Removes a leading "assert "; returns whether it was there.
bool TakeAssert(std::string& text) {
  constexpr std::string_view kAssert = "assert ";
  if (!text.starts_with(kAssert)) return false;
  text = std::string(Trimmed(std::string_view(text).substr(kAssert.size())));
  return true;
}

// The value that `text` gives for `call`, e.g. "f(1)".
std::string ValueIn(std::string text, std::string_view call) {
  const bool assertion = TakeAssert(text);
  std::string_view rest = text;
  if (rest.starts_with(call) &&
      Trimmed(rest.substr(call.size())).starts_with("==")) {
    rest = Trimmed(rest.substr(call.size()));
    return std::string(Trimmed(rest.substr(2)));
  }
  constexpr std::string_view kBetween = ") == ";
  const size_t at = rest.find(kBetween);
  if (!assertion || at == std::string_view::npos) return text;
  return std::string(Trimmed(rest.substr(at + kBetween.size())));
}

// Tests read the answer as text: none of it is executed, since an expression
// that is not a literal could run the function in question. Some published
// arguments are not literals; those are accepted as written in the set.
constexpr char kReadAnswer[] = R"py(
import ast

def parsed_answer(text):
    assert type(text) is str and text.strip(), "there is no answer"
    return ast.parse("(\n" + text + "\n)", mode="eval").body

def read_literal(node, calls={"dict": dict, "range": range}):
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id in calls:
            return calls[node.func.id](
                *map(read_literal, node.args),
                **{x.arg: read_literal(x.value) for x in node.keywords})
    try:
        return ast.literal_eval(node)
    except (TypeError, ValueError):
        raise AssertionError("the answer is not a literal: "
                             + ast.unparse(node)[:200])

def read_arguments(call, published, arguments):
    if ast.dump(call) == ast.dump(parsed_answer(published)):
        return arguments()
    assert (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
            and call.func.id == "f"), "the answer is not a call of f"
    return ([read_literal(x) for x in call.args],
            {x.arg: read_literal(x.value) for x in call.keywords})
)py";

// The call of f that `text` gives for `output`.
std::string CallIn(std::string text, std::string_view output) {
  TakeAssert(text);
  std::string_view rest = text;
  const std::string after = absl::StrCat("== ", AbslView(output));
  const std::string before = absl::StrCat(AbslView(output), " ==");
  if (rest.ends_with(after)) {
    rest = Trimmed(rest.substr(0, rest.size() - after.size()));
  } else if (rest.starts_with(before)) {
    rest = Trimmed(rest.substr(before.size()));
  } else if (rest.rfind(") == ") != std::string_view::npos) {
    rest = rest.substr(0, rest.rfind(") == ") + 1);
  }
  if (rest.starts_with("f(")) return std::string(rest);
  return absl::StrCat("f(", AbslView(rest), ")");
}

}  // namespace

absl::StatusOr<CodeProblem> ReadCruxEval(const json& fields) {
  CodeProblem problem;
  ESP_ASSIGN_OR_RETURN(const std::string code,
                       TextColumn(fields, "code", true));
  ESP_ASSIGN_OR_RETURN(const std::string input,
                       TextColumn(fields, "input", true));
  ESP_ASSIGN_OR_RETURN(const std::string output,
                       TextColumn(fields, "output", true));
  ESP_ASSIGN_OR_RETURN(const std::string predict,
                       TextColumn(fields, "predict", true));
  if (predict != "output" && predict != "input") {
    return WrongColumn("predict", "\"output\" or \"input\"");
  }
  if (code.find("def f(") == std::string::npos) {
    return WrongColumn("code", "a function f of Python");
  }
  const bool ask_output = predict == "output";
  const std::string call = absl::StrCat("f(", input, ")");
  problem.style = ask_output ? CodeStyle::kOutput : CodeStyle::kArguments;
  problem.names = {"answer"};
  problem.after = kReadAnswer;
  problem.given = ask_output ? call : output;
  if (ask_output) {
    problem.prompt = absl::StrCat(code, "\n\nWhat does ", call,
                                  " return? Answer with the value alone, as a "
                                  "literal of Python.\n");
    problem.solution = output;
    problem.tests = {absl::StrCat(
        "assert read_literal(parsed_answer(answer)) == (\n", output, "\n)\n")};
    return problem;
  }
  problem.prompt =
      absl::StrCat(code, "\n\nFor which arguments does f return ", output,
                   "? Answer with one call of it, as f(1, 'a').\n");
  problem.solution = call;
  problem.before = code;
  problem.tests = {
      absl::StrCat("given, named = read_arguments(parsed_answer(answer), ",
                   JsonText(call), ", lambda: (lambda *a, **b: (a, b))(", input,
                   "))\nassert f(*given, **named) == (\n", output, "\n)\n")};
  return problem;
}

std::string CruxProgram(const CodeProblem& problem, std::string_view response) {
  const std::string text = AnswerText(response);
  const bool output = problem.style == CodeStyle::kOutput;
  const std::string value =
      output ? ValueIn(text, problem.given) : CallIn(text, problem.given);
  // A JSON string is also a Python string.
  return absl::StrCat("answer = ", JsonText(value), "\n");
}

}  // namespace espalier
