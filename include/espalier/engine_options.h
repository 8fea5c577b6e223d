// Which models an engine loads, and what they run on.
//
//   EngineOptions options{.policy = "models/zoo/stories", .threads = 2};
#ifndef ESPALIER_API_ENGINE_OPTIONS_H_
#define ESPALIER_API_ENGINE_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace espalier {

struct EngineOptions {
  std::string policy;  // checkpoint folder
  std::string critic;  // "": the reward heads of the policy's trunk
  // Checkpoints that write beside the policy, with its tokenizer, for methods
  // that choose among several models: their roles second, planner, prover.
  std::vector<std::string> more_policies = {};
  // What models run on: "cpu"; in a program with LibTorch also "cuda",
  // "cuda:1", and "torch-cpu", which computes the same on the processor.
  std::string device = "cpu";
  int threads = 0;                      // 0: one a core
  int live = 32;                        // searches under way at once
  int64_t kv_bytes = int64_t{2} << 30;  // key/value memory of each trunk
  // What weights are kept as: "auto" (as stored; fp16 and quantised ones as
  // bf16), "fp32", "bf16", "int8".
  std::string weights = "auto";
};

}  // namespace espalier

#endif  // ESPALIER_API_ENGINE_OPTIONS_H_
