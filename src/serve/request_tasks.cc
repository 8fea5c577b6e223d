#include "src/serve/request_tasks.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "datasets/tasks/known_questions.h"
#include "src/engine/prompted_task.h"
#include "src/serve/api_error.h"
#include "src/serve/stop_strings.h"

namespace espalier {
namespace {

// The problem's name, as `espalier solve` gives a question on its command line:
// the same seed gives the same answer.
constexpr char kId[] = "question";

// Another task with a request's stop strings, and with `text`, if there is one,
// as its prompt.
class TaskOfRequest : public Task {
 public:
  TaskOfRequest(std::shared_ptr<const Task> task,
                std::optional<std::string> text,
                const std::vector<std::string>& stops)
      : task_(std::move(task)),
        text_(std::move(text)),
        stops_(stops),
        format_(task_->format()) {
    format_.stop_strings.insert(format_.stop_strings.end(), stops.begin(),
                                stops.end());
  }

  std::string_view name() const override { return task_->name(); }
  absl::StatusOr<std::string> Render(const Problem& problem) const override {
    if (text_) return *text_;
    return task_->Render(problem);
  }
  const StepFormat& format() const override { return format_; }
  std::optional<std::string> FindAnswer(
      std::string_view response) const override {
    return task_->FindAnswer(BeforeStop(response, stops_));
  }
  bool SameAnswer(std::string_view answer,
                  std::string_view gold) const override {
    return task_->SameAnswer(answer, gold);
  }
  bool OneVote(std::string_view a, std::string_view b) const override {
    return task_->OneVote(a, b);
  }

 private:
  const std::shared_ptr<const Task> task_;
  const std::optional<std::string> text_;
  const std::vector<std::string> stops_;
  StepFormat format_;
};

// `error` of what a client sent.
absl::Status Refused(std::string_view param, const absl::Status& error) {
  // The messages of tasks begin with the problem's name.
  const std::string message(error.message());
  const std::string prefix = absl::StrCat("problem \"", kId, "\": ");
  return BadRequest(param, message.starts_with(prefix)
                               ? message.substr(prefix.size())
                               : message);
}

}  // namespace

absl::StatusOr<RequestTasks> RequestTasks::Create(RequestTasksOptions options) {
  RequestTasks tasks(std::move(options));
  if (!tasks.options_.prompt.empty()) {
    ESP_ASSIGN_OR_RETURN(tasks.prompt_,
                         ParsePrompt(tasks.options_.prompt, "the prompt"));
  }
  ESP_RETURN_IF_ERROR(
      PutTaskBy(tasks.options_.task, tasks.options_.prompt).status());
  return tasks;
}

absl::StatusOr<PutRequest> RequestTasks::Put(const Problem& problem) const {
  ESP_ASSIGN_OR_RETURN(const PromptedTask prompted,
                       PutTaskBy(options_.task, options_.prompt));
  return PutRequest{problem, prompted.task, prompted.verifier};
}

absl::StatusOr<PutRequest> RequestTasks::Put(const ApiRequest& request) const {
  ESP_ASSIGN_OR_RETURN(PutRequest put, request.kind == ApiKind::kChat
                                           ? PutChat(request)
                                           : PutCompletion(request));
  const absl::Status rendered = put.task->Render(put.problem).status();
  if (!rendered.ok()) return Refused("messages", rendered);
  return put;
}

absl::StatusOr<PutRequest> RequestTasks::PutChat(
    const ApiRequest& request) const {
  const std::vector<ChatMessage>& messages = request.messages;
  PutRequest put{.problem = {.id = kId, .question = messages.back().text}};
  PromptedTask prompted;
  if (prompt_) {
    Prompt prompt = *prompt_;
    size_t at = 0;
    if (messages[0].role == ChatRole::kSystem) {
      prompt.system = messages[at++].text;
    }
    for (; at + 1 < messages.size(); at += 2) {
      prompt.examples.push_back({messages[at].text, messages[at + 1].text});
    }
    ESP_ASSIGN_OR_RETURN(prompted, PutTask(options_.task, prompt));
  } else {
    if (messages.size() > 1) {
      return BadRequest("messages",
                        "this model takes one user message alone: it is served "
                        "without a chat template (--prompt)");
    }
    ESP_ASSIGN_OR_RETURN(prompted, PutTaskBy(options_.task, ""));
  }
  if (options_.shipped) {
    const absl::Status known =
        CheckKnownQuestion(options_.task, put.problem.question);
    if (!known.ok()) {
      return WithApiCode(
          absl::InvalidArgumentError(absl::StrCat(
              "the shipped model of task ", options_.task,
              " was trained on other questions: ", known.message(),
              "; the server answers others with a model of your own "
              "(--model), or with --force")),
          "foreign_question", "messages");
    }
    put.problem.question = InKnownWords(options_.task, put.problem.question);
  }
  put.verifier = prompted.verifier;
  put.task = std::make_shared<TaskOfRequest>(prompted.task, std::nullopt,
                                             request.stops);
  return put;
}

absl::StatusOr<PutRequest> RequestTasks::PutCompletion(
    const ApiRequest& request) const {
  ESP_ASSIGN_OR_RETURN(const PromptedTask prompted,
                       PutTaskBy(options_.task, options_.prompt));
  return PutRequest{.problem = {.id = kId, .question = request.prompt},
                    .task = std::make_shared<TaskOfRequest>(
                        prompted.task, request.prompt, request.stops),
                    .verifier = prompted.verifier};
}

}  // namespace espalier
