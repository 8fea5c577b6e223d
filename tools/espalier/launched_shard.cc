#include "tools/espalier/launched_shard.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/text.h"

namespace espalier {
namespace {

using Getenv = std::function<const char*(const char*)>;

// Variables of one launcher; null: it has none of that kind.
struct Launcher {
  const char* index;
  const char* count;
  const char* first = nullptr;  // the lowest index
  const char* step = nullptr;   // between indices
};

constexpr Launcher kLaunchers[] = {
    {"RANK", "WORLD_SIZE"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"PMI_RANK", "PMI_SIZE"},
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
    {"JOB_COMPLETION_INDEX", nullptr},
};

// Each task of an array is a job, whose own tasks a launcher above may have
// started.
constexpr Launcher kArray = {"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT",
                             "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_STEP"};

absl::StatusOr<std::optional<int>> Variable(const Getenv& getenv,
                                            const char* name) {
  const char* text = name == nullptr ? nullptr : getenv(name);
  if (text == nullptr || *text == '\0') return std::optional<int>();
  int value = 0;
  if (absl::SimpleAtoi(text, &value) && value >= 0) {
    return std::optional<int>(value);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("the variable ", name, " is \"", text,
                   "\", not a whole number; give the shard as i/n"));
}

// Nothing if this launcher did not start the process.
absl::StatusOr<std::optional<LaunchedShard>> Read(const Launcher& launcher,
                                                  int given_count,
                                                  const Getenv& getenv) {
  ESP_ASSIGN_OR_RETURN(const std::optional<int> index,
                       Variable(getenv, launcher.index));
  ESP_ASSIGN_OR_RETURN(std::optional<int> count,
                       Variable(getenv, launcher.count));
  if (!index || (launcher.count != nullptr && !count)) {
    return std::optional<LaunchedShard>();
  }
  if (launcher.count == nullptr && given_count > 0) count = given_count;
  if (!count) {
    return absl::InvalidArgumentError(
        absl::StrCat("the variable ", launcher.index,
                     " says which worker this is, but not "
                     "how many there are: give their number as auto/N"));
  }
  ESP_ASSIGN_OR_RETURN(const std::optional<int> first,
                       Variable(getenv, launcher.first));
  ESP_ASSIGN_OR_RETURN(const std::optional<int> step,
                       Variable(getenv, launcher.step));
  const int place =
      (*index - first.value_or(0)) / std::max(1, step.value_or(1));
  if (*index < first.value_or(0) || place >= *count) {
    return absl::InvalidArgumentError(
        absl::StrCat("the variable ", launcher.index, " is ", *index, " with ",
                     *count, " workers; give the shard as i/n"));
  }
  return std::optional<LaunchedShard>({.index = place, .count = *count});
}

}  // namespace

absl::StatusOr<LaunchedShard> ShardOfLauncher(std::string_view text,
                                              const Getenv& getenv) {
  int given_count = 0;
  if (text != "auto") {
    const std::string_view number =
        text.starts_with("auto/") ? text.substr(5) : "";
    if (!absl::SimpleAtoi(AbslView(number), &given_count) || given_count < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("expected auto or auto/N with N >= 1, found \"",
                       AbslView(text), "\""));
    }
  }
  ESP_ASSIGN_OR_RETURN(const std::optional<LaunchedShard> array,
                       Read(kArray, given_count, getenv));
  std::optional<LaunchedShard> found = array;
  for (const Launcher& launcher : kLaunchers) {
    ESP_ASSIGN_OR_RETURN(const std::optional<LaunchedShard> shard,
                         Read(launcher, given_count, getenv));
    if (!shard) continue;
    if (shard->count == 1) {
      if (!found) found = shard;
      continue;
    }
    if (!array) return *shard;
    return LaunchedShard{.index = array->index * shard->count + shard->index,
                         .count = array->count * shard->count};
  }
  if (found) return *found;
  // A batch script is no task of a step, whatever its SLURM_PROCID says.
  ESP_ASSIGN_OR_RETURN(const std::optional<int> tasks,
                       Variable(getenv, "SLURM_NTASKS"));
  if (tasks == 1) return LaunchedShard{.index = 0, .count = 1};
  if (tasks) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the batch job has ", *tasks,
        " tasks, but srun did not start this program, so it is only one "
        "process: put srun before the command, or give the shard as i/n"));
  }
  return absl::InvalidArgumentError(
      "no launcher found: auto reads the variables of torchrun, Open MPI, "
      "MPICH, Slurm and indexed jobs of Kubernetes; give the shard as i/n");
}

std::string FileOfShard(const std::string& file, const LaunchedShard& shard) {
  if (shard.count == 1 || file.empty()) return file;
  const std::filesystem::path path(file);
  const std::string name =
      absl::StrCat(path.stem().string(), ".", shard.index, "-of-", shard.count,
                   path.extension().string());
  return (path.parent_path() / name).string();
}

}  // namespace espalier
