#include "datasets/programs/runnable_tests.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/json_text.h"
#include "base/mutex.h"
#include "base/parse_json.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

// A block's tests must fit into the worker's memory beside their trees.
constexpr size_t kBlockBytes = 4 << 20;
constexpr size_t kMaxReason = 200;

// Reads [[the program's names, code, code, ...], ...] and prints a list with
// one reason each.
constexpr char kChecker[] = R"py(
import ast, builtins, importlib.util, json, sys, warnings

warnings.simplefilter("ignore")
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda,
               ast.Try, ast.ListComp, ast.SetComp, ast.DictComp,
               ast.GeneratorExp)
installed = {}

def is_installed(module):
    root = module.partition(".")[0]
    if root not in installed:
        try:
            installed[root] = (root in sys.modules
                               or importlib.util.find_spec(root) is not None)
        except (ImportError, ValueError):
            installed[root] = False
    return installed[root]

def outermost(tree):
    """The nodes that run whatever happens."""
    todo = [tree]
    while todo:
        node = todo.pop()
        yield node
        todo += [child for child in ast.iter_child_nodes(node)
                 if not isinstance(child, DEFINITIONS)]

def checks(node):
    if isinstance(node, (ast.Assert, ast.Raise)):
        return True
    if not isinstance(node, ast.Call):
        return False
    called = node.func
    name = (called.attr if isinstance(called, ast.Attribute)
            else getattr(called, "id", ""))
    return "assert" in name.lower() or name in ("exit", "fail", "main")

def reason(names, pieces):
    trees = []
    for piece in pieces:
        try:
            trees.append(ast.parse(piece))
            compile(piece, "<tests>", "exec")
        except SyntaxError as error:
            line = (error.text or piece.strip()).strip().split("\n")[0][:80]
            return "SyntaxError: %s in \"%s\"" % (error.msg, line)
        except (ValueError, RecursionError, MemoryError) as error:
            return "%s: %s" % (type(error).__name__, error)
    known = set(dir(builtins)) | set(names) | {
        "__name__", "__file__", "__builtins__", "__doc__"}
    everything = False
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                for alias in node.names:
                    known.add((alias.asname or alias.name).partition(".")[0])
                    everything |= alias.name == "*"
            elif isinstance(node, ast.Name) and not isinstance(node.ctx,
                                                               ast.Load):
                known.add(node.id)
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef,
                                   ast.ClassDef)):
                known.add(node.name)
            elif isinstance(node, ast.ExceptHandler) and node.name:
                known.add(node.name)
            elif isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name:
                known.add(node.name)
            elif isinstance(node, ast.Call) and getattr(
                    node.func, "id", "") in ("exec", "globals", "vars"):
                everything = True
    for tree in trees:
        for node in outermost(tree):
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                modules = [node.module]
            else:
                modules = []
            for module in modules:
                if not is_installed(module):
                    return ("they need the module %s, which is not installed"
                            % module)
            if (isinstance(node, ast.Name) and not everything
                    and node.id not in known):
                return ("NameError: neither they nor the program define %s"
                        % node.id[:80])
    if not any(checks(node) for tree in trees for node in ast.walk(tree)):
        return "they check nothing"
    return ""

print(json.dumps([reason(one[0], one[1:]) for one in json.load(sys.stdin)]))
)py";

// The reasons of problems [begin, end). A block that ends the checker (by a
// limit on depth or memory) is halved until the problem is alone.
absl::Status CheckBlock(Sandbox& sandbox, const nlohmann::json& pieces,
                        size_t begin, size_t end,
                        absl::Span<const size_t> places,
                        std::vector<std::string>& reasons) {
  nlohmann::json block = nlohmann::json::array();
  for (size_t i = begin; i < end; ++i) block.push_back(pieces[i]);
  ESP_ASSIGN_OR_RETURN(const InputVerdict run,
                       sandbox.RunInput(kChecker, JsonText(block)));
  const nlohmann::json said = run.kind == VerdictKind::kPassed
                                  ? ParseJsonOrNull(run.output)
                                  : nlohmann::json();
  if (said.is_array() && said.size() == end - begin) {
    for (size_t i = begin; i < end; ++i) {
      reasons[places[i]] =
          said[i - begin].get<std::string>().substr(0, kMaxReason);
    }
    return absl::OkStatus();
  }
  if (end - begin == 1) {
    reasons[places[begin]] =
        absl::StrCat("reading them ended with: ", run.message.substr(0, 100));
    return absl::OkStatus();
  }
  const size_t middle = begin + (end - begin) / 2;
  ESP_RETURN_IF_ERROR(
      CheckBlock(sandbox, pieces, begin, middle, places, reasons));
  return CheckBlock(sandbox, pieces, middle, end, places, reasons);
}

// Why the published program fails its tests; "" if it passes them or there is
// none.
absl::StatusOr<std::string> WhyPublishedFails(Sandbox& sandbox,
                                              const CodeProblem& problem) {
  const bool judged = !problem.tests.empty() || !problem.cases.empty();
  if (!judged || absl::StripAsciiWhitespace(problem.solution).empty()) {
    return "";
  }
  ESP_ASSIGN_OR_RETURN(
      const ProgramVerdict verdict,
      GradeProgram(sandbox, problem, SolutionProgram(problem)));
  if (verdict.kind == VerdictKind::kPassed) return "";
  return absl::StrCat("the published solution does not pass them: ",
                      AbslView(VerdictName(verdict.kind)), ", test ",
                      verdict.test, ": ",
                      verdict.message.substr(0, kMaxReason));
}

}  // namespace

absl::StatusOr<std::vector<std::string>> WhyTestsCannotJudge(
    Sandbox& sandbox, absl::Span<const CodeProblem> problems) {
  ESP_ASSIGN_OR_RETURN(std::vector<std::string> reasons,
                       WhyTestsCannotRun(sandbox, problems));
  std::atomic<size_t> next = 0;
  Mutex mutex;
  absl::Status error;
  const auto work = [&] {
    for (size_t i; (i = next++) < problems.size();) {
      if (!reasons[i].empty()) continue;
      absl::StatusOr<std::string> why = WhyPublishedFails(sandbox, problems[i]);
      if (why.ok()) {
        reasons[i] = *std::move(why);
        continue;
      }
      MutexLock lock(mutex);
      error.Update(why.status());
      next = problems.size();
    }
  };
  std::vector<std::thread> others(
      std::min<size_t>(std::thread::hardware_concurrency(), problems.size()));
  for (std::thread& other : others) other = std::thread(work);
  work();
  for (std::thread& other : others) other.join();
  ESP_RETURN_IF_ERROR(error);
  return reasons;
}

absl::StatusOr<std::vector<std::string>> WhyTestsCannotRun(
    Sandbox& sandbox, absl::Span<const CodeProblem> problems) {
  std::vector<std::string> reasons(problems.size());
  nlohmann::json pieces = nlohmann::json::array();
  std::vector<size_t> places;
  size_t bytes = 0;
  const auto check = [&]() -> absl::Status {
    if (places.empty()) return absl::OkStatus();
    ESP_RETURN_IF_ERROR(
        CheckBlock(sandbox, pieces, 0, places.size(), places, reasons));
    pieces = nlohmann::json::array();
    places.clear();
    bytes = 0;
    return absl::OkStatus();
  };
  for (size_t i = 0; i < problems.size(); ++i) {
    const CodeProblem& problem = problems[i];
    if (problem.tests.empty()) continue;
    nlohmann::json one = {problem.names, problem.before, problem.after};
    bytes += problem.before.size() + problem.after.size();
    for (const std::string& test : problem.tests) {
      one.push_back(test);
      bytes += test.size();
    }
    pieces.push_back(std::move(one));
    places.push_back(i);
    if (bytes >= kBlockBytes) ESP_RETURN_IF_ERROR(check());
  }
  ESP_RETURN_IF_ERROR(check());
  return reasons;
}

}  // namespace espalier
