// A task whose questions are put by a prompt instead of the task's own wording.
//
//   ESP_ASSIGN_OR_RETURN(const PromptedTask put, PutTask("qa", prompt));
//   engine->SolveAll(problems, *put.task, ...);
//   put.verifier->Check(problem, reference, response);
//
// The prompt's examples are earlier turns of the conversation; its chat
// template renders everything as one text. If the prompt says how answers are
// found, responses are judged by these answers, compared as the task compares
// them.
#ifndef ESPALIER_SRC_ENGINE_PROMPTED_TASK_H_
#define ESPALIER_SRC_ENGINE_PROMPTED_TASK_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "espalier/task.h"
#include "espalier/verifier.h"
#include "src/engine/prompt.h"

namespace espalier {

// Immutable; thread-safe.
struct PromptedTask {
  std::shared_ptr<const Task> task;
  std::shared_ptr<const Verifier> verifier;
};

// `prompt` must be resolved. InvalidArgument if the task judges lines and the
// prompt extracts an answer.
absl::StatusOr<PromptedTask> PutTask(const std::string& task,
                                     const Prompt& prompt);

// Same, with a prompt in the format of PromptText; "": the task unchanged.
absl::StatusOr<PromptedTask> PutTaskBy(const std::string& task,
                                       const std::string& prompt_text);

// FailedPrecondition if `method` calls a verifier during the search and the
// task has none that reads only the question; "auto" calls none.
absl::Status CheckVerifier(const std::string& method, const Verifier& verifier);
// That error, for the method of this name.
absl::Status NoVerifier(std::string_view method);

}  // namespace espalier

#endif  // ESPALIER_SRC_ENGINE_PROMPTED_TASK_H_
