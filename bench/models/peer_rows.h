// Rows that time decoding in alternation with another engine on the same
// weights.
//
//   ESPALIER_PEER_BENCH=/path/to/llama-batched-bench decode_benchmark
//       --benchmark_filter=AgainstPeer          (from the project's root)
//
// names a llama-batched-bench built by the user. The weights are the random
// 100 M Llama of tools/random_checkpoint.py, for the peer written as GGUF files
// by tools/write_gguf.py; they stay in the temporary folder for the next run.
// Every row runs both engines kRounds times in alternation, on one thread, and
// counts each engine's best round. The peer's best is taken over flash
// attention on and off, over its file types, and over decoding the sequences
// all at once, in groups of eight or one after the other. Both decode the same
// positions.
//
// Counters:
//   tokens_per_s       ours: tokens decoded per second; Prefill: tokens read;
//                      Branches: tokens decoded over the time of the whole job
//   peer_tokens_per_s  the peer's best
//   times              ours / peer's
#ifndef ESPALIER_BENCH_MODELS_PEER_ROWS_H_
#define ESPALIER_BENCH_MODELS_PEER_ROWS_H_

#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/executor.h"
#include "base/status_macros.h"
#include "benchmark/benchmark.h"
#include "models/trunk/trunk.h"
#include "tests/models/testing/paths.h"

namespace espalier {

inline constexpr int kRounds = 3;

struct PeerJob {
  enum Kind { kDecode, kPrefill, kBranches };
  Kind kind = kDecode;
  int sequences = 1;
  int prompt = 256;
  int tokens = 32;  // decoded per sequence
};

// A line of the peer's table.
struct PeerLine {
  int sequences = 0;
  double prefill_per_s = 0;
  double decode_per_s = 0;
  double seconds = 0;  // of the whole job
};

// What `command` prints to standard output and, if `errors`, to standard error.
inline absl::StatusOr<std::string> OutputOf(const std::string& command,
                                            bool errors = false) {
  std::fflush(nullptr);
  FILE* const pipe =
      popen(absl::StrCat(command, errors ? " 2>&1" : "").c_str(), "r");
  if (pipe == nullptr) {
    return absl::InternalError(absl::StrCat("cannot run ", command));
  }
  std::string out;
  char buffer[4096];
  while (const size_t n = std::fread(buffer, 1, sizeof buffer, pipe)) {
    out.append(buffer, n);
  }
  const int status = pclose(pipe);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return absl::InternalError(absl::StrCat(command, ": ended with status ",
                                            WEXITSTATUS(status), ": ", out));
  }
  return out;
}

class Peer {
 public:
  // Null without ESPALIER_PEER_BENCH.
  static Peer* Get() {
    static const char* const program = std::getenv("ESPALIER_PEER_BENCH");
    static Peer peer(program == nullptr ? "" : program);
    return program == nullptr ? nullptr : &peer;
  }

  // As the peer reports it.
  std::string Version() const {
    const auto text = OutputOf(absl::StrCat(program_, " --version"), true);
    if (!text.ok()) return "of unknown version";
    for (const absl::string_view line : absl::StrSplit(*text, '\n')) {
      if (absl::StartsWith(line, "version")) return std::string(line);
    }
    return "of unknown version";
  }

  static std::string Folder() {
    return (std::filesystem::temp_directory_path() / "espalier-llama-100m")
        .string();
  }

  // Writes the checkpoint as a Hugging Face folder and, if `type` is not empty,
  // as a GGUF file of that type.
  static absl::Status Write(const std::string& type) {
    const std::string folder = Folder();
    if (!std::filesystem::exists(folder + "/config.json")) {
      ESP_RETURN_IF_ERROR(
          OutputOf(absl::StrCat("python3 tools/random_checkpoint.py --preset "
                                "llama-100m --out ",
                                folder),
                   true)
              .status());
    }
    const std::string file = GgufFile(type);
    if (!type.empty() && !std::filesystem::exists(file)) {
      ESP_RETURN_IF_ERROR(
          OutputOf(absl::StrCat("python3 tools/write_gguf.py ", folder, " ",
                                file, ".new --type ", type),
                   true)
              .status());
      std::filesystem::rename(file + ".new", file);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<PeerLine>> Run(const PeerJob& job,
                                            const std::string& type,
                                            bool flash) const {
    ESP_RETURN_IF_ERROR(Write(type));
    std::set<int> groups = {job.sequences};
    if (job.kind == PeerJob::kDecode) {
      for (const int n : {1, 8}) groups.insert(std::min(n, job.sequences));
    }
    const bool shared = job.kind == PeerJob::kBranches;
    const int context = (shared ? 1 : job.sequences) * job.prompt +
                        job.sequences * job.tokens + 64;
    ESP_ASSIGN_OR_RETURN(
        const std::string table,
        OutputOf(absl::StrCat(program_, " -m ", GgufFile(type), " -t 1 -c ",
                              context, " -b 2048 -ub 512 -npp ", job.prompt,
                              " -ntg ", job.tokens, " -npl ",
                              absl::StrJoin(groups, ","), shared ? " -pps" : "",
                              FlashOption(flash), " 2>/dev/null")));
    std::vector<PeerLine> lines;
    for (const absl::string_view line : absl::StrSplit(table, '\n')) {
      const std::vector<std::string> cells = absl::StrSplit(line, '|');
      PeerLine found;
      if (cells.size() >= 11 && absl::SimpleAtoi(cells[3], &found.sequences) &&
          absl::SimpleAtod(cells[6], &found.prefill_per_s) &&
          absl::SimpleAtod(cells[8], &found.decode_per_s) &&
          absl::SimpleAtod(cells[9], &found.seconds)) {
        lines.push_back(found);
      }
    }
    if (lines.empty()) {
      return absl::InternalError(
          absl::StrCat(program_,
                       ": expected a table with columns PP, TG, B, N_KV, T_PP, "
                       "S_PP, T_TG, S_TG, T, S; found: ",
                       table));
    }
    return lines;
  }

 private:
  explicit Peer(std::string program) : program_(std::move(program)) {
    // A switch in older versions, a choice in newer ones.
    const auto help = OutputOf(absl::StrCat(program_, " --help"), true);
    flash_takes_choice_ =
        help.ok() && absl::StrContains(*help, "--flash-attn [");
  }

  static std::string GgufFile(const std::string& type) {
    return absl::StrCat(Folder(), "-", type, ".gguf");
  }
  std::string FlashOption(bool flash) const {
    if (flash_takes_choice_) return flash ? " -fa on" : " -fa off";
    return flash ? " -fa" : "";
  }

  std::string program_;
  bool flash_takes_choice_ = false;
};

// Our tokens per second in one round.
inline double OurRate(const PeerJob& job, Trunk& trunk, Executor& executor) {
  const int room = job.prompt + job.tokens;
  const bool shared = job.kind == PeerJob::kBranches;
  // Warm up with sixteen tokens, as the peer does before timing.
  Paths(trunk, 1, 16, 0, 16, executor);
  const double start = Seconds();
  Paths paths(trunk, job.sequences, job.prompt, shared ? job.prompt : 0, room,
              executor);
  const double filled = Seconds();
  if (job.kind == PeerJob::kPrefill) return job.prompt / (filled - start);
  for (int i = 0; i < job.tokens; ++i) paths.Step(job.prompt + i);
  return job.sequences * job.tokens / (Seconds() - (shared ? start : filled));
}

inline double PeerRate(const PeerJob& job, const PeerLine& line) {
  switch (job.kind) {
    case PeerJob::kDecode:
      return line.decode_per_s;
    case PeerJob::kPrefill:
      return line.prefill_per_s;
    case PeerJob::kBranches:
      return job.sequences * job.tokens / line.seconds;
  }
  return 0;
}

inline void AgainstPeer(benchmark::State& state, const PeerJob& job,
                        WeightChoice weights,
                        const std::vector<std::string>& types) {
  const auto fail = [&](const absl::Status& status) {
    state.SkipWithError(
        absl::StrCat(status.message(), " (run it from the project's root)")
            .c_str());
  };
  if (const auto written = Peer::Write(""); !written.ok()) return fail(written);
  Executor executor(1);
  const auto trunk = Trunk::Load(Peer::Folder(), {.weights = weights});
  if (!trunk.ok()) return fail(trunk.status());
  double ours = 0, peers = 0;
  std::string best;
  for (auto _ : state) {
    for (int round = 0; round < kRounds; ++round) {
      ours = std::max(ours, OurRate(job, **trunk, executor));
      for (const std::string& type : types) {
        for (const bool flash : {false, true}) {
          const auto lines = Peer::Get()->Run(job, type, flash);
          if (!lines.ok()) return fail(lines.status());
          for (const PeerLine& line : *lines) {
            const double rate = PeerRate(job, line);
            if (rate <= peers) continue;
            peers = rate;
            best =
                absl::StrCat(type, flash ? " with" : " without",
                             " flash attention, ", line.sequences, " at once");
          }
        }
      }
    }
    state.SetIterationTime(job.sequences * job.tokens / ours);
  }
  state.counters["tokens_per_s"] = ours;
  state.counters["peer_tokens_per_s"] = peers;
  state.counters["times"] = ours / peers;
  state.SetLabel(absl::StrCat("peer: ", best));
}

// Registers the rows if there is a peer.
inline bool RegisterPeerRows() {
  if (Peer::Get() == nullptr) return false;
  benchmark::AddCustomContext("peer", Peer::Get()->Version());
  const std::vector<std::string> bf16 = {"bf16"}, q8 = {"q8_0"},
                                 quantised = {"q8_0", "q4_0"};
  const auto add = [](const std::string& name, const PeerJob& job,
                      WeightChoice weights,
                      const std::vector<std::string>& types) {
    benchmark::RegisterBenchmark(absl::StrCat("AgainstPeer/", name).c_str(),
                                 [=](benchmark::State& state) {
                                   AgainstPeer(state, job, weights, types);
                                 })
        ->Iterations(1)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  };
  const PeerJob branches{
      .kind = PeerJob::kBranches, .sequences = 32, .prompt = 512, .tokens = 64};
  for (const int n : {1, 8, 32}) {
    add(absl::StrCat("decode_bf16/rows:", n), {.sequences = n},
        WeightChoice::kBf16, bf16);
  }
  add("decode_int8/q8_0/rows:1", {.sequences = 1}, WeightChoice::kInt8, q8);
  add("decode_int8/quantised/rows:32", {.sequences = 32}, WeightChoice::kInt8,
      quantised);
  add("decode_int4/q4_0/rows:1", {.sequences = 1}, WeightChoice::kInt4,
      {"q4_0"});
  add("branches_bf16/bf16", branches, WeightChoice::kBf16, bf16);
  add("branches_bf16/quantised", branches, WeightChoice::kBf16, quantised);
  add("branches_int8/quantised", branches, WeightChoice::kInt8, quantised);
  for (const int n : {512, 2048}) {
    add(absl::StrCat("prefill_bf16/tokens:", n),
        {.kind = PeerJob::kPrefill, .prompt = n, .tokens = 1},
        WeightChoice::kBf16, bf16);
  }
  return true;
}

}  // namespace espalier

#endif  // ESPALIER_BENCH_MODELS_PEER_ROWS_H_
