// Checks whether a model fits into memory before any of it is read.
//
//   MemoryPlan plan = PlanMemory(*source, Packing::kBf16, kv_bytes);
//   ESP_RETURN_IF_ERROR(CheckFits(path, plan, ReadAvailableMemory()));
//   // m: does not fit into memory: 3.09 GB weights + 2.00 GB keys and values
//   // + 0.12 GB working memory = 5.21 GB, available: 4.00 GB (MemAvailable of
//   // /proc/meminfo); lower the limit of keys and values, ...
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_MODELS_CHECKPOINT_MEMORY_FIT_H_
#define ESPALIER_MODELS_CHECKPOINT_MEMORY_FIT_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "models/checkpoint/tensor_source.h"

namespace espalier {

// The packed format of matrices, whatever the file's; vectors are always fp32.
enum class Packing : uint8_t {
  kFp32,
  kBf16,
  kInt8,  // a byte per weight, an fp32 scale per row
  kInt4,  // layers: half a byte per weight and 1/32 for its group; others as
          // int8
};

// Memory of a loaded model, in bytes.
struct MemoryPlan {
  int64_t weights = 0;
  int64_t keys_and_values = 0;
  int64_t working = 0;  // activations, logits, the part being packed
  int64_t total() const { return weights + keys_and_values + working; }
};

// `kv_bytes` is the size limit of the KV cache.
MemoryPlan PlanMemory(const TensorSource& source, Packing packing,
                      int64_t kv_bytes);

struct AvailableMemory {
  int64_t bytes = 0;
  std::string limit;  // its source: "MemAvailable of /proc/meminfo"
};

// The minimum of what the machine has and what this process's control groups
// (version 2 or 1) allow, counting file caches as free. `root` is a prefix of
// /proc and /sys. Without information there is no limit.
AvailableMemory ReadAvailableMemory(const std::string& root = "");

// ResourceExhausted, with the sum and what to do about it, if the plan's total
// exceeds what is available. `path` names the model.
absl::Status CheckFits(const std::string& path, const MemoryPlan& plan,
                       const AvailableMemory& available);

}  // namespace espalier

#endif  // ESPALIER_MODELS_CHECKPOINT_MEMORY_FIT_H_
