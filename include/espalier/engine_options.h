// Which models an engine loads, and what they run on.
//
//   EngineOptions options{.policy = "models/zoo/stories", .threads = 2};
#ifndef ESPALIER_API_ENGINE_OPTIONS_H_
#define ESPALIER_API_ENGINE_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace espalier {

struct EngineOptions {
  // A checkpoint, which is a Hugging Face folder or a GGUF file; or a model
  // behind a server, URL[,URL...][#NAME] (docs/guide/servers.md).
  std::string policy = {};
  // The folder or GGUF file with the tokenizer of a policy behind a server.
  std::string tokenizer = {};
  // A checkpoint with reward heads, or a model behind a server; "": the heads
  // of the policy's trunk.
  std::string critic = {};
  // As `tokenizer`, of a critic behind a server; "": the policy's.
  std::string reward_tokenizer = {};
  // The critic's format: a shipped one (docs/guide/reward-models.md) or a file
  // NAME.textproto. "": recognised from its folder.
  std::string reward_format = {};
  // The reference of a critic whose format compares two models; it must have
  // the critic's tokenizer.
  std::string reference = {};
  // A file that maps the critic's scores to probabilities, written by `espalier
  // calibrate`. "": the one in the critic's folder, if there is one; "none":
  // scores as they are.
  std::string calibration = {};
  // Further policy checkpoints with the same tokenizer, for methods that sample
  // from several models: the roles second, planner and prover, in this order.
  std::vector<std::string> more_policies = {};
  // "cpu"; in a program that links LibTorch also "cuda", "cuda:1" and
  // "torch-cpu", which runs the code of "cuda" on the CPU.
  std::string device = "cpu";
  int threads = 0;  // 0: one per core
  int live = 32;    // concurrent searches
  // While the scores of a search's steps are under way, samples what follows
  // the likeliest ones, this many per request: a search behind slow servers
  // then waits less. Trees and answers stay the same. 0: off.
  int speculate = 0;
  // Guesses the next tokens of a continuation from texts seen before and runs
  // them in the same batch; a guess counts where the sampler draws it. Trees
  // and answers stay the same. On the CPU only.
  bool drafts = true;
  int64_t kv_bytes = int64_t{2} << 30;  // KV cache of each trunk
  // Weight format in memory: "auto" (as stored, but fp16 and quantised weights
  // as bf16), "fp32", "bf16", "int8", "int4".
  std::string weights = "auto";
  // Of models behind servers: how often a request is tried, and the seconds
  // that it waits for a byte of the reply.
  int server_attempts = 10;
  double server_timeout = 600;
  // Called with what a user of servers should know, in one sentence: that texts
  // go instead of token ids, that weights are others than before. May be empty.
  std::function<void(const std::string&)> notice = {};
};

}  // namespace espalier

#endif  // ESPALIER_API_ENGINE_OPTIONS_H_
