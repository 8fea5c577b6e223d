// espalier bench: hashes of every method's decisions in a fixed world.
#include <cstdio>
#include <memory>
#include <string>

#include "base/files.h"
#include "base/status_macros.h"
#include "src/eval/bench_world.h"
#include "tools/espalier/command.h"

namespace espalier {
namespace {

struct BenchFlags {
  std::string check;
  bool ranking = false;
};

absl::Status RunBench(const BenchFlags& flags) {
  std::string text;
  if (flags.ranking) {
    ESP_ASSIGN_OR_RETURN(const auto ranking, BenchRanking());
    text = RankingText(ranking);
  } else {
    ESP_ASSIGN_OR_RETURN(const auto signatures, BenchSignatures());
    text = SignatureText(signatures);
  }
  if (flags.check.empty()) {
    std::printf("%s", text.c_str());
    return absl::OkStatus();
  }
  const absl::StatusOr<std::string> wanted = ReadFile(flags.check);
  if (!wanted.ok()) {
    return FileFlagError("--check", "the saved output of espalier bench",
                         wanted.status());
  }
  if (text == *wanted) return absl::OkStatus();
  std::printf("%s", text.c_str());
  return absl::FailedPreconditionError(
      flags.check +
      ": expected the decisions in this file, found those above; if the change "
      "is intended, rewrite the file by the same command without --check and "
      "explain the change in the commit");
}

}  // namespace

void AddBench(CLI::App& app, RunFunction& run) {
  auto flags = std::make_shared<BenchFlags>();
  app.add_option("--check", flags->check,
                 "Compare with this file and fail if a line differs");
  app.add_flag("--ranking", flags->ranking,
               "Print instead how many of 100 problems each method solves "
               "with 4 and 8 times a response's tokens, best first");
  app.footer(
      "Every method and preset searches problems of a scripted world with its "
      "defaults. Each line is a hash of all its decisions: nodes, visits and "
      "answers. It is the same on every machine; a change in a method's "
      "behaviour changes its line. The last line covers all of them.");
  run = [flags] { return RunBench(*flags); };
}

}  // namespace espalier
