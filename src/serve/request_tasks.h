// Tasks that put the conversations and texts of requests to a model.
//
//   ESP_ASSIGN_OR_RETURN(RequestTasks tasks,
//                        RequestTasks::Create({.task = "qa", .prompt = text}));
//   ESP_ASSIGN_OR_RETURN(PutRequest put, tasks.Put(request));
//   engine->Solve(put.problem, *put.task, request.search);
//
// The prompt's chat template renders a conversation: its system message
// replaces the prompt's, and its earlier turns follow the prompt's examples.
// Without a prompt there is no conversation, only one question, which the task
// puts in its own words. The prompt of a completion is put as it is.
//
// Immutable; thread-safe.
#ifndef ESPALIER_SRC_SERVE_REQUEST_TASKS_H_
#define ESPALIER_SRC_SERVE_REQUEST_TASKS_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "espalier/problem.h"
#include "espalier/task.h"
#include "espalier/verifier.h"
#include "src/engine/prompt.h"
#include "src/serve/api_request.h"

namespace espalier {

struct RequestTasksOptions {
  std::string task = "qa";
  std::string prompt = {};  // as PromptText; "": the task's own wording
  // Refuses questions that the shipped model of the task was not trained on,
  // and puts others in the words that it knows.
  bool shipped = false;
};

struct PutRequest {
  Problem problem;
  std::shared_ptr<const Task> task;
  std::shared_ptr<const Verifier> verifier;
};

class RequestTasks {
 public:
  static absl::StatusOr<RequestTasks> Create(RequestTasksOptions options);

  // The task itself, as it puts a single question.
  absl::StatusOr<PutRequest> Put(const Problem& problem) const;
  // Errors are those of api_error.h.
  absl::StatusOr<PutRequest> Put(const ApiRequest& request) const;

 private:
  explicit RequestTasks(RequestTasksOptions options)
      : options_(std::move(options)) {}
  absl::StatusOr<PutRequest> PutChat(const ApiRequest& request) const;
  absl::StatusOr<PutRequest> PutCompletion(const ApiRequest& request) const;

  RequestTasksOptions options_;
  std::optional<Prompt> prompt_;
};

}  // namespace espalier

#endif  // ESPALIER_SRC_SERVE_REQUEST_TASKS_H_
