#include "datasets/programs/public_tests.h"

#include <cctype>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/json_text.h"
#include "base/text.h"
#include "datasets/programs/input_examples.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

// Runs an example in the tests' namespace, and compares.
constexpr char kRunExample[] = R"py(
def run_example(source, shown):
    import ast
    try:
        code = compile(source, "<example>", "eval")
    except SyntaxError:
        exec(compile(source, "<example>", "exec"), globals())
        return
    given = eval(code, globals())
    if shown == "":
        return
    try:
        same = given == ast.literal_eval(shown)
    except (SyntaxError, ValueError):
        same = repr(given) == shown
    assert same, "expected " + shown + ", found " + repr(given)[:200]
)py";

// The name at the beginning of `text`; "" if there is none.
std::string NameAt(absl::string_view text) {
  size_t end = 0;
  while (end < text.size() &&
         (std::isalnum(static_cast<unsigned char>(text[end])) != 0 ||
          text[end] == '_')) {
    ++end;
  }
  return std::string(text.substr(0, end));
}

bool TakePrefix(absl::string_view& text, absl::string_view prefix) {
  if (text.substr(0, prefix.size()) != prefix) return false;
  text.remove_prefix(prefix.size());
  return true;
}

}  // namespace

CodeProblem PublicTests(std::string_view question) {
  CodeProblem problem;
  problem.prompt = std::string(question);
  const std::vector<absl::string_view> lines =
      absl::StrSplit(AbslView(question), '\n');
  std::string function, called;
  for (size_t i = 0; i < lines.size(); ++i) {
    absl::string_view line = lines[i];
    if (TakePrefix(line, "def ")) function = NameAt(line);
    line = absl::StripAsciiWhitespace(lines[i]);
    if (TakePrefix(line, "assert ")) {
      problem.tests.push_back(absl::StrCat("assert ", line));
      if (called.empty()) called = NameAt(line);
    }
    if (!TakePrefix(line, ">>> ")) continue;
    std::string source(line);
    const auto Next = [&]() {
      return i + 1 < lines.size() ? absl::StripAsciiWhitespace(lines[i + 1])
                                  : absl::string_view();
    };
    for (line = Next(); TakePrefix(line, "..."); ++i, line = Next()) {
      TakePrefix(line, " ");
      absl::StrAppend(&source, "\n", line);
    }
    std::string shown;
    while (!(line = Next()).empty() && line.substr(0, 3) != ">>>" &&
           line.substr(0, 3) != "\"\"\"" && line.substr(0, 3) != "'''") {
      absl::StrAppend(&shown, shown.empty() ? "" : "\n", line);
      ++i;
    }
    // A JSON string is also a Python string.
    problem.tests.push_back(absl::StrCat("run_example(", JsonText(source), ", ",
                                         JsonText(shown), ")"));
  }
  if (!function.empty()) {
    problem.style = CodeStyle::kHumanEval;
    problem.names = {function};
    problem.before = absl::StrCat(AbslView(question), "\n    pass\n");
  } else {
    problem.style = CodeStyle::kMbpp;
    if (!called.empty()) problem.names = {called};
  }
  if (problem.tests.empty() && function.empty()) {
    problem.cases = InputExamples(question);
    if (!problem.cases.empty()) problem.style = CodeStyle::kInput;
  }
  problem.after = kRunExample;
  return problem;
}

}  // namespace espalier
