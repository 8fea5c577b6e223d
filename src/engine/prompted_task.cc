#include "src/engine/prompted_task.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "datasets/answers/grade.h"
#include "datasets/answers/grade_answer.h"
#include "datasets/tasks/choice_answer.h"
#include "datasets/tasks/gold_answers.h"
#include "datasets/tasks/task_registry.h"
#include "models/prompt/chat_template.h"
#include "search/algorithm.h"
#include "src/engine/answer_pattern.h"

namespace espalier {
namespace {

// The question in the prompt's wording.
std::string Around(const Prompt& prompt, const std::string& question) {
  std::string text = prompt.question;
  const size_t at = text.find(kQuestionMark);
  return text.replace(at, std::string_view(kQuestionMark).size(), question);
}

class TaskByPrompt : public Task {
 public:
  TaskByPrompt(const Task& task, const Prompt& prompt, ChatTemplate chat,
               std::vector<AnswerPattern> answers, bool by_answer)
      : task_(task),
        prompt_(prompt),
        chat_(std::move(chat)),
        answers_(std::move(answers)),
        by_answer_(by_answer),
        format_(prompt.format) {
    format_.control_tokens = chat_.has_control_tokens();
    if (answers_.empty() && format_.final_prefixes.empty()) {
      format_.final_prefixes = task.format().final_prefixes;
    }
  }

  std::string_view name() const override { return task_.name(); }

  absl::StatusOr<std::string> Render(const Problem& problem) const override {
    if (problem.question.find_first_not_of(" \t\r\n") == std::string::npos) {
      return absl::InvalidArgumentError(
          absl::StrCat("problem \"", problem.id,
                       "\": expected a question, found only white space"));
    }
    std::vector<ChatMessage> messages;
    if (prompt_.system) {
      messages.push_back({ChatRole::kSystem, *prompt_.system});
    }
    for (const Prompt::Example& example : prompt_.examples) {
      messages.push_back({ChatRole::kUser, Around(prompt_, example.question)});
      messages.push_back({ChatRole::kAssistant, example.answer});
    }
    messages.push_back({ChatRole::kUser, Around(prompt_, problem.question)});
    auto text = chat_.Render(messages, prompt_.thinking);
    if (text.ok()) return text;
    return absl::Status(text.status().code(),
                        absl::StrCat("problem \"", problem.id,
                                     "\": ", text.status().message()));
  }

  const StepFormat& format() const override { return format_; }

  std::optional<std::string> FindAnswer(
      std::string_view response) const override {
    const std::optional<std::string> found = PlaceOfAnswer(response);
    if (!found) return std::nullopt;
    return CanonicalAnswer(*found);
  }

  // The answer as the response spells it: where the prompt says, else in the
  // task's format, else as the grader finds it.
  std::optional<std::string> PlaceOfAnswer(std::string_view response) const {
    for (const AnswerPattern& pattern : answers_) {
      if (auto found = pattern.Find(response)) return found;
    }
    if (!answers_.empty()) return std::nullopt;
    if (auto found = task_.FindAnswer(response)) return found;
    return by_answer_ ? FindFinalAnswer(response) : std::nullopt;
  }

  // True if the task's own format gives the answer.
  bool TaskFinds(std::string_view response) const {
    return answers_.empty() && task_.FindAnswer(response).has_value();
  }

  bool SameAnswer(std::string_view answer,
                  std::string_view gold) const override {
    return task_.SameAnswer(answer, gold);
  }

  bool OneVote(std::string_view a, std::string_view b) const override {
    return task_.OneVote(a, b);
  }

 private:
  const Task& task_;
  const Prompt prompt_;
  const ChatTemplate chat_;
  const std::vector<AnswerPattern> answers_;
  // Only the answer is judged: no lines, no programs.
  const bool by_answer_;
  StepFormat format_;
};

// Judges the answer that is where the prompt says, compared as the grader
// compares answers. A response that the task itself can read is judged by the
// task's verifier.
class AnswerVerifier : public Verifier {
 public:
  AnswerVerifier(std::shared_ptr<const TaskByPrompt> task,
                 const Verifier& verifier, bool placed)
      : task_(std::move(task)), verifier_(verifier), placed_(placed) {}
  std::string_view name() const override { return task_->name(); }
  bool intrinsic() const override { return false; }
  bool CanCheck(const Reference& reference) const override {
    return verifier_.CanCheck(reference);
  }

  Verdict Check(const Problem& problem, const Reference& reference,
                std::string_view response) const override {
    if (task_->TaskFinds(response)) {
      return verifier_.Check(problem, reference, response);
    }
    const std::optional<std::string> answer = task_->PlaceOfAnswer(response);
    if (!answer) return {false, "no answer in the response"};
    const std::vector<std::string> options = ChoiceOptions(reference);
    if (!options.empty()) {
      return CheckChoice(options, reference.answer, *answer);
    }
    const std::vector<std::string> golds = GoldAnswers(reference);
    GradeVerdict verdict = GradeAgainstAny(golds, *answer);
    if (verdict.equal) return {true, std::move(verdict.reason)};
    return {false,
            absl::StrCat("expected ", GoldText(golds), ", found ", *answer,
                         ": ", verdict.reason),
            verdict.undecided};
  }

  absl::StatusOr<std::vector<StepVerdict>> CheckSteps(
      const Problem& problem, const Reference& reference,
      std::string_view response) const override {
    if (!placed_) return verifier_.CheckSteps(problem, reference, response);
    return absl::UnimplementedError(
        "steps of a response to a custom prompt cannot be judged exactly; omit "
        "--prompt and use stories or countdown");
  }

 private:
  const std::shared_ptr<const TaskByPrompt> task_;
  const Verifier& verifier_;
  const bool placed_;
};

// Registry entries live as long as the program.
template <class T>
std::shared_ptr<const T> Unowned(const T* object) {
  return std::shared_ptr<const T>(std::shared_ptr<const T>(), object);
}

}  // namespace

absl::StatusOr<PromptedTask> PutTask(const std::string& name,
                                     const Prompt& prompt) {
  ESP_ASSIGN_OR_RETURN(const Task* task, FindTask(name));
  ESP_ASSIGN_OR_RETURN(const Verifier* verifier, FindVerifier(name));
  if (verifier->intrinsic() && !prompt.answers.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "task ", name,
        " judges the lines of a response, and the prompt extracts an answer; "
        "remove its answer: lines, or use another set"));
  }
  ESP_ASSIGN_OR_RETURN(ChatTemplate chat, TemplateOf(prompt));
  std::vector<AnswerPattern> answers;
  for (const std::string& answer : prompt.answers) {
    ESP_ASSIGN_OR_RETURN(answers.emplace_back(), AnswerPattern::Create(answer));
  }
  // Programs are judged by running them, whatever their answers look like.
  const bool by_answer = !verifier->intrinsic() && !verifier->slow();
  const auto task_by_prompt = std::make_shared<TaskByPrompt>(
      *task, prompt, std::move(chat), std::move(answers), by_answer);
  PromptedTask put;
  put.task = task_by_prompt;
  put.verifier = Unowned(verifier);
  if (by_answer) {
    put.verifier = std::make_shared<AnswerVerifier>(task_by_prompt, *verifier,
                                                    !prompt.answers.empty());
  }
  return put;
}

absl::StatusOr<PromptedTask> PutTaskBy(const std::string& name,
                                       const std::string& prompt_text) {
  if (!prompt_text.empty()) {
    ESP_ASSIGN_OR_RETURN(const Prompt prompt,
                         ParsePrompt(prompt_text, "the recorded prompt"));
    return PutTask(name, prompt);
  }
  ESP_ASSIGN_OR_RETURN(const Task* task, FindTask(name));
  ESP_ASSIGN_OR_RETURN(const Verifier* verifier, FindVerifier(name));
  return PromptedTask{Unowned(task), Unowned(verifier)};
}

absl::Status CheckVerifier(const std::string& method,
                           const Verifier& verifier) {
  if (method == "auto" || verifier.ForSearch() != nullptr) {
    return absl::OkStatus();
  }
  ESP_ASSIGN_OR_RETURN(const auto algorithm, MakeAlgorithm(method));
  const std::vector<RequestKind>& needs = algorithm->needs();
  const bool asks = std::find(needs.begin(), needs.end(),
                              RequestKind::kVerify) != needs.end();
  return asks ? NoVerifier(method) : absl::OkStatus();
}

absl::Status NoVerifier(std::string_view method) {
  return absl::FailedPreconditionError(absl::StrCat(
      "method ", AbslView(method),
      " needs a verifier, and this task has none that reads only the question; "
      "omit its option verify or judge, or use another method"));
}

}  // namespace espalier
