#include "datasets/programs/find_code.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "base/text.h"
#include "datasets/programs/cruxeval.h"

namespace espalier {
namespace {

bool StartsWith(std::string_view text, std::string_view beginning) {
  return text.substr(0, beginning.size()) == beginning;
}

// The line at `at`, without its end; advances `at` past it.
std::string_view TakeLine(std::string_view text, size_t& at) {
  const size_t end = std::min(text.find('\n', at), text.size());
  std::string_view line = text.substr(at, end - at);
  at = std::min(end + 1, text.size());
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

// The fence on this line, as in "```python"; "" if it has none.
std::string_view FenceOf(std::string_view line) {
  size_t from = 0;
  while (from < line.size() && from < 3 && line[from] == ' ') ++from;
  line.remove_prefix(from);
  size_t length = 0;
  while (length < line.size() && line[length] == line[0]) ++length;
  const bool fence = length >= 3 && (line[0] == '`' || line[0] == '~') &&
                     // "```x``` is ..." is text.
                     line.find('`', length) == std::string_view::npos;
  return fence ? line.substr(0, length) : std::string_view();
}

bool Defines(std::string_view code, std::string_view name) {
  const std::string heads[] = {absl::StrCat("def ", AbslView(name), "("),
                               absl::StrCat("async def ", AbslView(name), "("),
                               absl::StrCat("class ", AbslView(name)),
                               absl::StrCat(AbslView(name), " =")};
  for (size_t at = 0; at < code.size();) {
    const std::string_view line = TakeLine(code, at);
    for (const std::string& head : heads) {
      if (StartsWith(line, head)) return true;
    }
  }
  return false;
}

}  // namespace

std::optional<std::string> FindCode(std::string_view response,
                                    std::string_view name) {
  std::optional<std::string> last, defining;
  for (size_t at = 0; at < response.size();) {
    const std::string_view fence = FenceOf(TakeLine(response, at));
    if (fence.empty()) continue;
    const size_t begin = at;
    size_t end = response.size();
    while (at < response.size()) {
      const size_t line_begin = at;
      const std::string_view line = TakeLine(response, at);
      const std::string_view closing = FenceOf(line);
      if (closing.size() >= fence.size() && closing[0] == fence[0] &&
          line.find_last_not_of(" \t") < line.find(closing) + closing.size()) {
        end = line_begin;
        break;
      }
    }
    last = std::string(response.substr(begin, end - begin));
    if (!name.empty() && Defines(*last, name)) defining = last;
  }
  return defining ? defining : last;
}

std::string CutContinuation(std::string_view continuation) {
  constexpr std::string_view kStops[] = {
      "def ", "class ",  "if __name__", "print", "@",
      "#",    "assert ", "```",         "~~~",   "</"};
  size_t at = 0;
  TakeLine(continuation, at);
  while (at < continuation.size()) {
    const size_t begin = at;
    const std::string_view line = TakeLine(continuation, at);
    for (const std::string_view stop : kStops) {
      if (StartsWith(line, stop)) {
        return std::string(continuation.substr(0, begin));
      }
    }
  }
  return std::string(continuation);
}

std::string ProgramOf(const CodeProblem& problem, std::string_view response) {
  if (problem.style == CodeStyle::kOutput ||
      problem.style == CodeStyle::kArguments) {
    return CruxProgram(problem, response);
  }
  const std::string name = problem.names.empty() ? "" : problem.names[0];
  const std::optional<std::string> code = FindCode(response, name);
  if (problem.style != CodeStyle::kHumanEval) {
    return code ? *code : std::string(response);
  }
  if (code && Defines(*code, name)) {
    return absl::StrCat(problem.before, "\n", *code);
  }
  return problem.prompt +
         CutContinuation(code ? std::string_view(*code) : response);
}

}  // namespace espalier
