// Which part of the work a launcher gave this process: --shard auto.
//
//   ESP_ASSIGN_OR_RETURN(LaunchedShard shard, ShardOfLauncher("auto", getenv));
//
// Read, in this order, from the environment: torchrun (RANK, WORLD_SIZE), Open
// MPI (OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE), MPICH and Intel MPI
// (PMI_RANK, PMI_SIZE), tasks of a Slurm step (SLURM_PROCID,
// SLURM_STEP_NUM_TASKS, which only srun sets), an indexed job of Kubernetes
// (JOB_COMPLETION_INDEX, which says nothing of how many there are). Launchers
// of one process are passed over. In a Slurm array (SLURM_ARRAY_TASK_ID,
// SLURM_ARRAY_TASK_MIN, SLURM_ARRAY_TASK_STEP, SLURM_ARRAY_TASK_COUNT) each
// task has a part, which its own launcher, if any, divides further.
#ifndef ESPALIER_TOOLS_ESPALIER_LAUNCHED_SHARD_H_
#define ESPALIER_TOOLS_ESPALIER_LAUNCHED_SHARD_H_

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace espalier {

struct LaunchedShard {
  int index = 0;
  int count = 1;
};

// `text`: "auto", or "auto/8" for a launcher that does not say how many
// processes there are. `getenv`: as std::getenv. InvalidArgument if no launcher
// is found, if it does not say how many, or if its numbers make no sense.
absl::StatusOr<LaunchedShard> ShardOfLauncher(
    std::string_view text,
    const std::function<const char*(const char*)>& getenv);

// The file of one worker: "run.3-of-8.db" for "run.db"; unchanged for one.
std::string FileOfShard(const std::string& file, const LaunchedShard& shard);

}  // namespace espalier

#endif  // ESPALIER_TOOLS_ESPALIER_LAUNCHED_SHARD_H_
