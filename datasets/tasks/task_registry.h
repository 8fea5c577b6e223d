// The tasks by name, each with the verifier that judges its responses.
//
//   ESP_ASSIGN_OR_RETURN(const Task* task, FindTask("stories"));
//   ESP_ASSIGN_OR_RETURN(const Verifier* verifier, FindVerifier("stories"));
//
// A task's file registers it by one static object, and is the only one to name
// it:
//
//   const TaskRegistration kRegistration(StoriesTask(), StoriesVerifier());
//
// Filled before main and constant afterwards; lookups are thread-safe.
#ifndef ESPALIER_DATASETS_TASKS_TASK_REGISTRY_H_
#define ESPALIER_DATASETS_TASKS_TASK_REGISTRY_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "espalier/task.h"
#include "espalier/verifier.h"

namespace espalier {

class TaskRegistration {
 public:
  // Both must outlive the program; `task.name()` must be new.
  TaskRegistration(const Task& task, const Verifier& verifier);
};

// NotFound with the nearest name for an unknown one.
absl::StatusOr<const Task*> FindTask(std::string_view name);
// The verifier of the task of this name.
absl::StatusOr<const Verifier*> FindVerifier(std::string_view task);

// Sorted.
std::vector<std::string> TaskNames();

}  // namespace espalier

#endif  // ESPALIER_DATASETS_TASKS_TASK_REGISTRY_H_
