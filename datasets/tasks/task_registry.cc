#include "datasets/tasks/task_registry.h"

#include <functional>
#include <map>

#include "absl/status/status.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "base/text.h"

namespace espalier {
namespace {

struct Entry {
  const Task* task;
  const Verifier* verifier;
};

// Function-local, so that it exists before the first registration.
std::map<std::string, Entry, std::less<>>& Registry() {
  static std::map<std::string, Entry, std::less<>> registry;
  return registry;
}

absl::StatusOr<Entry> Find(std::string_view name) {
  const auto it = Registry().find(name);
  if (it == Registry().end()) {
    return absl::NotFoundError(UnknownName("task", name, TaskNames()));
  }
  return it->second;
}

}  // namespace

TaskRegistration::TaskRegistration(const Task& task, const Verifier& verifier) {
  const bool added =
      Registry().emplace(task.name(), Entry{&task, &verifier}).second;
  ESP_CHECK(added && "two tasks have the same name");
}

absl::StatusOr<const Task*> FindTask(std::string_view name) {
  ESP_ASSIGN_OR_RETURN(const Entry entry, Find(name));
  return entry.task;
}

absl::StatusOr<const Verifier*> FindVerifier(std::string_view task) {
  ESP_ASSIGN_OR_RETURN(const Entry entry, Find(task));
  return entry.verifier;
}

std::vector<std::string> TaskNames() {
  std::vector<std::string> names;
  for (const auto& [name, entry] : Registry()) names.push_back(name);
  return names;
}

}  // namespace espalier
