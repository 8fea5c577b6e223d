#include "datasets/tasks/python_task.h"

#include <cctype>
#include <memory>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/mutex.h"
#include "base/parse_json.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "datasets/programs/code_problem.h"
#include "datasets/programs/find_code.h"
#include "datasets/programs/public_tests.h"
#include "datasets/programs/runnable_tests.h"
#include "datasets/programs/sandbox.h"
#include "datasets/tasks/task_registry.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

// The sandbox used for all verdicts, or why there is none. It lives until the
// program exits: its workers end with it.
absl::StatusOr<Sandbox*> SharedSandbox() {
  static Mutex mutex;
  static absl::StatusOr<std::unique_ptr<Sandbox>>* made = nullptr;
  MutexLock lock(mutex);
  if (made == nullptr) {
    made = new absl::StatusOr<std::unique_ptr<Sandbox>>(Sandbox::Create({}));
  }
  if (!made->ok()) return made->status();
  return (*made)->get();
}

// Rebuilds the published record: columns that hold lists or objects are JSON.
nlohmann::json Columns(const Reference& reference) {
  nlohmann::json columns = nlohmann::json::object();
  for (const auto& [name, text] : reference.fields) {
    const bool list = name == "tests" || name == "test_list" ||
                      name == "test_imports" || name == "input_output" ||
                      name == "public_tests" || name == "base_input" ||
                      name == "plus_input";
    columns[name] = list ? ParseJsonOrNull(text) : nlohmann::json(text);
  }
  return columns;
}

Verdict Judge(const CodeProblem& problem, std::string_view response) {
  const absl::StatusOr<Sandbox*> sandbox = SharedSandbox();
  if (!sandbox.ok()) {
    return {false, std::string(sandbox.status().message())};
  }
  const absl::StatusOr<ProgramVerdict> verdict =
      GradeProgram(**sandbox, problem, ProgramOf(problem, response));
  if (!verdict.ok()) return {false, std::string(verdict.status().message())};
  if (verdict->kind == VerdictKind::kPassed) return {true, "passed"};
  return {false, absl::StrCat(AbslView(VerdictName(verdict->kind)), ", test ",
                              verdict->test, ": ", verdict->message)};
}

// Whether a response continues with the body of a function.
bool BeginsIndented(std::string_view response) {
  const size_t first = response.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && first > 0 &&
         (response[first - 1] == ' ' || response[first - 1] == '\t');
}

class PythonTaskImpl : public Task {
 public:
  std::string_view name() const override { return "python"; }

  absl::StatusOr<std::string> Render(const Problem& problem) const override {
    if (absl::StripAsciiWhitespace(problem.question).empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("problem \"", problem.id,
                       "\": expected a question, found only white space"));
    }
    return problem.question;
  }

  const StepFormat& format() const override { return format_; }

  // The program's text: equal texts are one vote.
  std::optional<std::string> FindAnswer(
      std::string_view response) const override {
    const std::optional<std::string> block = FindCode(response);
    const std::string code = block ? *block
                             : BeginsIndented(response)
                                 ? CutContinuation(response)
                                 : std::string(response);
    const absl::string_view stripped = absl::StripTrailingAsciiWhitespace(code);
    if (stripped.empty()) return std::nullopt;
    return std::string(stripped);
  }

  // Their texts do not show whether two programs do the same.
  bool SameAnswer(std::string_view answer,
                  std::string_view gold) const override {
    return absl::StripTrailingAsciiWhitespace(AbslView(answer)) ==
           absl::StripTrailingAsciiWhitespace(AbslView(gold));
  }

 private:
  // The published solutions have at most 80 lines; chat models add text around
  // them.
  const StepFormat format_{.max_step_tokens = 256, .max_steps = 256};
};

class ProgramVerifier : public Verifier {
 public:
  absl::Status Ready() const override { return SharedSandbox().status(); }
  bool slow() const override { return true; }

  absl::StatusOr<std::vector<StepVerdict>> CheckSteps(
      const Problem&, const Reference&, std::string_view) const override {
    return absl::UnimplementedError(
        "lines of a program cannot be judged one by one; use a set with exact "
        "steps (stories, countdown)");
  }
};

class HiddenTestsVerifier : public ProgramVerifier {
 public:
  std::string_view name() const override { return "python"; }
  bool intrinsic() const override { return false; }
  const Verifier* ForSearch() const override { return &PublicTestsVerifier(); }
  bool CanCheck(const Reference& reference) const override {
    return ReadCodeProblem(Columns(reference)).ok();
  }

  Verdict Check(const Problem&, const Reference& reference,
                std::string_view response) const override {
    const absl::StatusOr<CodeProblem> problem =
        ReadCodeProblem(Columns(reference));
    if (!problem.ok()) {
      return {false, absl::StrCat("the reference holds no tests: ",
                                  std::string(problem.status().message()))};
    }
    return Judge(*problem, response);
  }
};

class PublicVerifier : public ProgramVerifier {
 public:
  std::string_view name() const override { return "python-public-tests"; }
  bool intrinsic() const override { return true; }

  Verdict Check(const Problem& problem, const Reference&,
                std::string_view response) const override {
    const CodeProblem shown = PublicTests(problem.question);
    if (!HasTests(shown)) return {false, "the question shows no test"};
    return Judge(shown, response);
  }
};

const TaskRegistration kRegistration(PythonTask(), PythonVerifier());

}  // namespace

const Task& PythonTask() {
  static const PythonTaskImpl task;
  return task;
}

const Verifier& PythonVerifier() {
  static const HiddenTestsVerifier verifier;
  return verifier;
}

const Verifier& PublicTestsVerifier() {
  static const PublicVerifier verifier;
  return verifier;
}

absl::StatusOr<std::vector<std::string>> WhyHiddenTestsCannotRun(
    absl::Span<const GradedProblem> problems) {
  ESP_ASSIGN_OR_RETURN(Sandbox * sandbox, SharedSandbox());
  std::vector<CodeProblem> read(problems.size());
  for (size_t i = 0; i < problems.size(); ++i) {
    auto problem = ReadCodeProblem(Columns(problems[i].reference));
    if (problem.ok()) read[i] = *std::move(problem);
  }
  return WhyTestsCannotJudge(*sandbox, read);
}

}  // namespace espalier
