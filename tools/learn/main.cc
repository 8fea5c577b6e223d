// espalier-learn: trains models, and runs espalier's subcommands with models on
// LibTorch's devices. A separate program, because `espalier` does not link
// LibTorch.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/interrupt.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "src/learn/trainer.h"
#include "tools/espalier/command_line.h"
#include "tools/espalier/commands.h"
#include "tools/espalier/option_checks.h"
#include "tools/learn/self_train.h"
#include "tools/learn/train.h"
#include "tools/learn/zoo_data_command.h"
#include "tools/zoo/model_card.h"
#include "tools/zoo/train_zoo.h"

namespace espalier {
namespace {

struct BenchOptions {
  TrunkConfig config = {.vocab_size = 512,
                        .hidden_size = 128,
                        .intermediate_size = 352,
                        .layers = 6,
                        .heads = 4,
                        .kv_heads = 2,
                        .head_dim = 32,
                        .context_length = 2048,
                        .reward_head = true};
  int tokens = 16384;
  int length = 300;
  int steps = 10;
  int micro_batch = TrainerOptions().micro_batch_tokens;
  bool fp32 = false;
};

std::vector<TrainSequence> RandomBatch(const BenchOptions& o, int index) {
  RandomStream rng(StreamKey(1, index, 0, Purpose::kTrain));
  std::vector<TrainSequence> batch;
  for (int total = 0; total < o.tokens;) {
    TrainSequence s;
    const int n = rng.Range(o.length / 2, o.length * 3 / 2);
    for (int t = 0; t < n; ++t) {
      s.tokens.push_back(rng.Range(0, o.config.vocab_size - 1));
      s.lm_weight.push_back(1);
      const bool label = t % 16 == 15;
      s.labels[Level::kStep].push_back(
          label ? rng.Range(0, 1) : std::numeric_limits<float>::quiet_NaN());
      s.labels[Level::kPath].push_back(s.labels[Level::kStep].back());
    }
    total += n;
    batch.push_back(std::move(s));
  }
  return batch;
}

int Bench(const BenchOptions& o) {
  for (int threads : {1, 2}) {
    auto net = net::LlamaNet::Create(
        o.config, 1, o.fp32 ? net::Precision::kFp32 : net::Precision::kBf16);
    if (!net.ok()) {
      std::fprintf(stderr, "%s\n", net.status().ToString().c_str());
      return 2;
    }
    if (threads == 1) {
      std::printf("%.2f M parameters, %s kernels, sequences of %d to %d\n",
                  (*net)->parameter_count() * 1e-6, (*net)->kernels().name,
                  o.length / 2, o.length * 3 / 2);
    }
    Trainer trainer(**net,
                    {.threads = threads, .micro_batch_tokens = o.micro_batch});
    std::vector<double> rates;
    for (int i = 0; i < o.steps + 2; ++i) {
      const auto metrics = trainer.Step(RandomBatch(o, i));
      if (!metrics.ok()) {
        std::fprintf(stderr, "%s\n", metrics.status().ToString().c_str());
        return 1;
      }
      if (i >= 2) rates.push_back(metrics->tokens_per_second);
    }
    std::sort(rates.begin(), rates.end());
    std::printf(
        "%d thread%s: %8.0f tokens/s (median of %zu steps; %.0f to "
        "%.0f)\n",
        threads, threads == 1 ? " " : "s", rates[rates.size() / 2],
        rates.size(), rates.front(), rates.back());
  }
  return 0;
}

constexpr char kAllFamilies[] = "all";

// What the command trains, in addition to the options of the stages.
struct ZooCommand {
  ZooOptions zoo;
  int card_problems = 200;
  bool smoke = false;
};

absl::Status TrainOne(ZooCommand command) {
  ZooOptions& zoo = command.zoo;
  if (command.smoke) {
    // The family's stages, all of them shortened.
    ESP_ASSIGN_OR_RETURN(const ZooFamily* family, FindZooFamily(zoo.family));
    const ZooRecipe recipe = family->recipe();
    zoo.grow_steps = std::min<int64_t>(recipe.grow_steps, 120);
    zoo.judge_steps = std::min<int64_t>(recipe.judge_steps, 30);
    zoo.own_responses = std::min(recipe.own_responses, 200);
    zoo.batch_tokens = 8192;
    command.card_problems = 0;
  }
  if (zoo.work.empty()) zoo.work = zoo.out + ".work";
  ESP_ASSIGN_OR_RETURN(const ZooReport report, TrainZooModel(zoo));
  if (command.card_problems == 0) return absl::OkStatus();
  return WriteModelCard(zoo.out, report, command.card_problems);
}

// Trains every shipped family into a folder of its name below `zoo.out`.
absl::Status TrainAll(const ZooCommand& command) {
  const ZooOptions& zoo = command.zoo;
  const std::string work = zoo.work.empty() ? zoo.out + ".work" : zoo.work;
  for (const std::string& name : ZooFamilyNames()) {
    ESP_ASSIGN_OR_RETURN(const ZooFamily* family, FindZooFamily(name));
    if (!family->shipped()) continue;
    ZooCommand one = command;
    one.zoo.family = name;
    one.zoo.out = absl::StrCat(zoo.out, "/", name);
    one.zoo.work = absl::StrCat(work, "/", name);
    ESP_RETURN_IF_ERROR(TrainOne(one));
  }
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  // `espalier` passes these two on, and their help names it.
  const std::string_view given = argc > 1 ? argv[1] : "";
  const bool passed_on = given == "train" || given == "self-train";
  const char* const program = passed_on ? "espalier" : "espalier-learn";
  CLI::App app("Trains Espalier's models", program);
  app.require_subcommand(1);
  BenchOptions bench;
  CLI::App* command =
      app.add_subcommand("bench", "Training speed on random tokens");
  const CLI::Validator count = WholeFrom(1, kMostInt);
  const auto add_count = [&](const char* name, auto& value,
                             const char* help = "") {
    command->add_option(name, value, help)->check(count);
  };
  add_count("--hidden", bench.config.hidden_size);
  add_count("--intermediate", bench.config.intermediate_size);
  add_count("--layers", bench.config.layers);
  add_count("--heads", bench.config.heads);
  add_count("--kv-heads", bench.config.kv_heads);
  add_count("--tokens", bench.tokens, "tokens per step");
  add_count("--length", bench.length, "mean tokens per sequence");
  add_count("--micro-batch", bench.micro_batch, "tokens");
  add_count("--steps", bench.steps);
  command->add_flag("--fp32", bench.fp32, "fp32 products");
  ZooCommand zoo_command;
  ZooOptions& zoo = zoo_command.zoo;
  CLI::App* train = app.add_subcommand(
      "zoo",
      "Train a model like the shipped ones from scratch, in resumable stages");
  train
      ->add_option(
          "--family", zoo.family,
          absl::StrCat("One of ", absl::StrJoin(ZooFamilyNames(), ", "),
                       "; all trains each shipped one into a folder below "
                       "OUT"))
      ->capture_default_str();
  train->add_option("--out", zoo.out, "Checkpoint folder to write")->required();
  train->add_option("--work", zoo.work,
                    "Folder for the stages' state; a second run continues "
                    "from it. Default: OUT.work");
  train->add_option("--seed", zoo.seed, "Random seed")->capture_default_str();
  train
      ->add_option("--threads", zoo.threads,
                   "Number of threads; does not change the result")
      ->capture_default_str()
      ->check(WholeFrom(1, 1024));
  train
      ->add_option("--card-problems", zoo_command.card_problems,
                   "Problems per set for the figures of the model card; 0: "
                   "write no card")
      ->capture_default_str()
      ->check(WholeFrom(0, kMostInt));
  const std::string own = "; default by family";
  train->add_option("--grow-steps", zoo.grow_steps,
                    "Steps on generated responses" + own);
  train->add_option("--judge-steps", zoo.judge_steps,
                    "Steps per round on own responses" + own);
  train->add_option("--judge-rounds", zoo.judge_rounds,
                    "Rounds of own responses" + own);
  train->add_option("--own-responses", zoo.own_responses,
                    "Own responses sampled per round" + own);
  train->add_option("--batch-tokens", zoo.batch_tokens,
                    "Tokens per optimiser step" + own);
  train
      ->add_option("--judge-lm-coef", zoo.judge_lm_coef,
                   "Weight of imitation next to own responses")
      ->capture_default_str();
  train->add_option("--learning-rate", zoo.learning_rate,
                    "Peak learning rate" + own);
  train->add_option("--hidden", zoo.hidden_size,
                    "Hidden size of the trunk" + own);
  train->add_option("--layers", zoo.layers,
                    "Number of layers of the trunk" + own);
  train->add_flag("--smoke", zoo_command.smoke,
                  "Run every stage for a few steps, to check that losses fall");
  CLI::App* zoo_data_command = app.add_subcommand(
      "zoo-data",
      "Write the texts that a shipped model has imitated as JSON lines");
  const std::function<absl::Status()> run_zoo_data =
      AddZooData(*zoo_data_command);
  CLI::App* train_command = app.add_subcommand(
      "train", "Train a checkpoint on recorded searches or JSON lines");
  const std::function<absl::Status()> run_train = AddTrain(*train_command);
  CLI::App* self_train_command =
      app.add_subcommand("self-train", "Rounds of search, training and a gate");
  const std::function<absl::Status()> run_self_train =
      AddSelfTrain(*self_train_command);
  CheckNumbers(app);
  try {
    app.parse(Arguments(argc, argv));
  } catch (const CLI::ParseError& error) {
    const int code = EndParse(app, error, program);
    if (code != 0) return code;
    return EndCommand("espalier-learn --help", {});
  }
  const absl::Status flags = CheckCommandLine(app);
  if (!flags.ok()) {
    return EndCommand(train_command->parsed()        ? "espalier train"
                      : self_train_command->parsed() ? "espalier self-train"
                                                     : "espalier-learn",
                      flags);
  }
  if (command->parsed()) {
    const int code = Bench(bench);
    return code != 0 ? code : EndCommand("espalier-learn bench", {});
  }
  if (zoo_data_command->parsed())
    return EndCommand("espalier-learn zoo-data", run_zoo_data());
  if (train_command->parsed()) return EndCommand("espalier train", run_train());
  if (self_train_command->parsed()) {
    return EndCommand("espalier self-train", run_self_train());
  }
  const absl::Status status = zoo.family == kAllFamilies
                                  ? TrainAll(zoo_command)
                                  : TrainOne(zoo_command);
  return EndCommand("espalier-learn zoo", status);
}

}  // namespace
}  // namespace espalier

int main(int argc, char** argv) {
  espalier::TakeSignals();
  const std::set<std::string> own = {"bench", "zoo", "zoo-data", "train",
                                     "self-train"};
  if (argc > 1 && argv[1][0] != '-' && own.count(argv[1]) == 0) {
    return espalier::RunCommands(argc, argv);
  }
  return espalier::Main(argc, argv);
}
