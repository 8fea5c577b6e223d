#include "models/checkpoint/memory_fit.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/files.h"

namespace espalier {
namespace {

// Most rows per step, of a prefill chunk or a decode batch.
constexpr int64_t kRows = 512;
// Rows of logits at a time.
constexpr int64_t kLogitRows = 64;
// Program, tokenizer and everything else that does not grow with the model.
constexpr int64_t kProgramBytes = int64_t{64} << 20;
int64_t MatrixBytes(Packing packing, TensorShape shape) {
  const int64_t count = shape.rows * shape.columns;
  switch (packing) {
    case Packing::kFp32:
      return 4 * count;
    case Packing::kBf16:
      return 2 * count;
    case Packing::kInt8:
      return count + 4 * shape.rows;
    case Packing::kInt4:
      return count * 17 / 32 + 4 * shape.rows;
  }
  return 0;
}

int64_t WorkingBytes(const TrunkConfig& c) {
  const int64_t q = int64_t{c.heads} * c.head_dim;
  const int64_t kv = int64_t{c.kv_heads} * c.head_dim;
  const int64_t row = int64_t{4 + c.chosen_experts} * c.hidden_size +
                      2 * c.intermediate_size + 2 * q + 2 * kv;
  return kProgramBytes + 4 * (kRows * row + kLogitRows * int64_t{c.vocab_size});
}

std::string Text(const std::string& path) {
  const auto text = ReadFile(path);
  return text.ok() ? *text : "";
}

// The number after `key` in lines of "key number ...".
std::optional<int64_t> Value(const std::string& text, const char* key) {
  for (const auto line : absl::StrSplit(text, '\n')) {
    const std::vector<std::string> words =
        absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    int64_t value = 0;
    if (words.size() >= 2 && words[0] == key &&
        absl::SimpleAtoi(words[1], &value)) {
      return value;
    }
  }
  return std::nullopt;
}

// File names of one version of control groups.
struct GroupFiles {
  const char* limit;
  const char* used;
  const char* caches[2];  // keys of memory.stat that count as free
};
constexpr GroupFiles kVersion2 = {
    "memory.max", "memory.current", {"inactive_file", "active_file"}};
constexpr GroupFiles kVersion1 = {"memory.limit_in_bytes",
                                  "memory.usage_in_bytes",
                                  {"total_inactive_file", "total_active_file"}};

// What one control group leaves; nothing if it sets no limit.
std::optional<int64_t> GroupLeaves(const std::string& folder,
                                   const GroupFiles& files) {
  int64_t limit = 0, used = 0;
  const std::string most = Text(folder + "/" + files.limit);
  if (!absl::SimpleAtoi(absl::StripAsciiWhitespace(most), &limit)) {
    return std::nullopt;  // "max", or no such file
  }
  const std::string now = Text(folder + "/" + files.used);
  if (!absl::SimpleAtoi(absl::StripAsciiWhitespace(now), &used)) used = 0;
  const std::string stat = Text(folder + "/memory.stat");
  for (const char* cache : files.caches) {
    used -= Value(stat, cache).value_or(0);
  }
  return std::max<int64_t>(0, limit - std::max<int64_t>(0, used));
}

// Applies the limits of this process's group and its ancestors, up to `mount`.
void Narrow(const std::string& mount, std::string group,
            const GroupFiles& files, AvailableMemory& out) {
  while (true) {
    const std::string folder = mount + group;
    const std::optional<int64_t> left = GroupLeaves(folder, files);
    if (left.has_value() && *left < out.bytes) {
      out = {*left, absl::StrCat(files.limit, " of ", folder)};
    }
    if (group.empty()) return;
    group = group.substr(0, group.rfind('/'));
  }
}

std::string Gigabytes(int64_t bytes) {
  return absl::StrFormat("%.2f GB", static_cast<double>(bytes) / 1e9);
}

}  // namespace

MemoryPlan PlanMemory(const TensorSource& source, Packing packing,
                      int64_t kv_bytes) {
  const TrunkConfig& config = source.config();
  MemoryPlan plan;
  for (int i = 0; i < kTensorRoles; ++i) {
    const TensorRole part = static_cast<TensorRole>(i);
    const TensorShape shape = ShapeOf(config, part);
    if (shape.rows == 0) continue;
    const int layers = IsLayerTensor(part) ? config.layers : 1;
    const Packing kept = packing == Packing::kInt4 && !IsLayerTensor(part)
                             ? Packing::kInt8
                             : packing;
    plan.weights +=
        layers * (IsMatrix(part) ? MatrixBytes(kept, shape) : 4 * shape.rows);
  }
  // Saturates: absurdly large limits must not overflow the sum.
  plan.keys_and_values =
      std::clamp<int64_t>(kv_bytes, 0, std::numeric_limits<int64_t>::max() / 4);
  plan.working = WorkingBytes(config);
  return plan;
}

AvailableMemory ReadAvailableMemory(const std::string& root) {
  AvailableMemory out{std::numeric_limits<int64_t>::max(), "no known limit"};
  const std::string machine = Text(root + "/proc/meminfo");
  if (const auto kilobytes = Value(machine, "MemAvailable:")) {
    out = {*kilobytes * 1024, "MemAvailable of /proc/meminfo"};
  }
  // Lines "0::/group" (version 2), "4:memory:/group" (version 1). A container
  // may see its own group as the root of the mount.
  const std::string groups = Text(root + "/proc/self/cgroup");
  for (const auto line : absl::StrSplit(groups, '\n')) {
    const std::vector<std::string> words =
        absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (words.size() != 3 || !absl::StartsWith(words[2], "/")) continue;
    const std::string group = words[2] == "/" ? "" : words[2];
    if (words[1].empty()) {
      Narrow(root + "/sys/fs/cgroup", group, kVersion2, out);
    } else if (absl::StrContains(words[1], "memory")) {
      Narrow(root + "/sys/fs/cgroup/memory", group, kVersion1, out);
    }
  }
  return out;
}

absl::Status CheckFits(const std::string& path, const MemoryPlan& plan,
                       const AvailableMemory& available) {
  if (plan.total() <= available.bytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      path, ": does not fit into memory: ", Gigabytes(plan.weights),
      " weights + ", Gigabytes(plan.keys_and_values), " keys and values + ",
      Gigabytes(plan.working), " working memory = ", Gigabytes(plan.total()),
      ", available: ", Gigabytes(available.bytes), " (", available.limit,
      "); lower the limit of keys and values, keep weights in fewer bits, or "
      "use a smaller model or a larger machine"));
}

}  // namespace espalier
