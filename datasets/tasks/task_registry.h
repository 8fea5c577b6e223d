// How tasks register, each with the verifier that judges its responses.
//
// A task's file registers it by one static object, and is the only one to name
// it:
//
//   const TaskRegistration kRegistration(StoriesTask(), StoriesVerifier());
//
// Filled before main and constant afterwards; lookups are thread-safe.
#ifndef ESPALIER_DATASETS_TASKS_TASK_REGISTRY_H_
#define ESPALIER_DATASETS_TASKS_TASK_REGISTRY_H_

#include "espalier/registry.h"
#include "espalier/task.h"
#include "espalier/verifier.h"

namespace espalier {

class TaskRegistration {
 public:
  // Both must outlive the program; `task.name()` must be new.
  TaskRegistration(const Task& task, const Verifier& verifier);
};

}  // namespace espalier

#endif  // ESPALIER_DATASETS_TASKS_TASK_REGISTRY_H_
