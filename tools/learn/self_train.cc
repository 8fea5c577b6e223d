#include "tools/learn/self_train.h"

#include <cstdio>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/config_file.h"
#include "base/interrupt.h"
#include "base/progress.h"
#include "base/status_macros.h"
#include "src/learn/self_train.h"
#include "tools/espalier/command.h"
#include "tools/espalier/option_checks.h"
#include "tools/espalier/printable.h"

namespace espalier {
namespace {

struct SelfTrainFlags {
  SelfTrainOptions options;
  std::string config;
  std::vector<std::string> changes;
  bool list = false;
};

void PrintOptions() {
  SelfTrainOptions defaults;
  OptionLister lister;
  defaults.Visit(lister);
  for (const OptionInfo& option : lister.options()) {
    std::printf("%-22s %-12s %s\n", option.name.c_str(), option.value.c_str(),
                option.help.c_str());
  }
}

// The recipe's options, overridden by --set's.
absl::Status ReadOptions(SelfTrainFlags& flags) {
  ESP_ASSIGN_OR_RETURN(Config config, ReadConfig(flags.config));
  for (const std::string& change : flags.changes) {
    const size_t equals = change.find('=');
    if (equals == std::string::npos) {
      return UsageError(absl::InvalidArgumentError(absl::StrCat(
          "--option ", change, ": expected NAME=VALUE, e.g. rounds=2")));
    }
    config.options[change.substr(0, equals)] = change.substr(equals + 1);
  }
  OptionParser parser(config.options);
  flags.options.Visit(parser);
  return parser.Finish(flags.config);
}

void PrintRound(const RoundSummary& s) {
  std::printf(
      "round %d: %lld searches, %lld solved (%.1f %%), %lld tokens in %s; %d "
      "responses imitated in %s\n",
      s.round, static_cast<long long>(s.searches),
      static_cast<long long>(s.solved),
      s.searches > 0 ? 100.0 * static_cast<double>(s.solved) /
                           static_cast<double>(s.searches)
                     : 0.0,
      static_cast<long long>(s.tokens),
      HumanSeconds(s.generate_seconds).c_str(), static_cast<int>(s.examples),
      HumanSeconds(s.policy_seconds).c_str());
  if (s.reward_examples > 0) {
    std::printf("  reward model: %d paths judged in %s\n",
                static_cast<int>(s.reward_examples),
                HumanSeconds(s.reward_seconds).c_str());
  }
  std::printf("  %s\n", Printable(s.gate.reason).c_str());
  std::fflush(stdout);
}

absl::Status RunSelfTrain(SelfTrainFlags& flags) {
  if (flags.list) {
    PrintOptions();
    return absl::OkStatus();
  }
  if (flags.config.empty() || flags.options.model.empty() ||
      flags.options.out.empty()) {
    return UsageError(absl::InvalidArgumentError(
        "--config, --model and --out are needed; see --help"));
  }
  ESP_RETURN_IF_ERROR(ReadOptions(flags));
  ESP_ASSIGN_OR_RETURN(const std::vector<RoundSummary> rounds,
                       SelfTrain(flags.options, {.stop = &StopRequested(),
                                                 .round_done = PrintRound}));
  int promoted = 0;
  for (const RoundSummary& s : rounds) promoted += s.gate.promote;
  std::printf("%s: the model %s\n", Printable(flags.options.out).c_str(),
              promoted == 0 ? "from before the first round: no round was better"
                            : absl::StrCat("of ", promoted, " promoted round",
                                           promoted > 1 ? "s" : "")
                                  .c_str());
  return absl::OkStatus();
}

}  // namespace

std::function<absl::Status()> AddSelfTrain(CLI::App& app) {
  auto flags = std::make_shared<SelfTrainFlags>();
  app.add_option("--config", flags->config,
                 "Recipe, e.g. tools/recipes/expert_iteration.textproto");
  app.add_option(
      "--option", flags->changes,
      "NAME=VALUE overrides an option of the recipe; may be repeated");
  app.add_flag("--list-options", flags->list,
               "Print the options of recipes and exit");
  app.add_option("--model", flags->options.model,
                 "Checkpoint folder to start from");
  app.add_option("--reward-model", flags->options.reward_model,
                 "Reward model to start from. Default: the model's own heads");
  app.add_option("--out", flags->options.out,
                 "Folder for the best model; a trained reward model goes to "
                 "its subfolder reward/");
  app.add_option("--work", flags->options.work,
                 "Folder for all rounds; the same command continues from it. "
                 "Default: OUT.work");
  app.add_option("--threads", flags->options.threads,
                 "Number of threads; does not change the result")
      ->capture_default_str()
      ->check(WholeFrom(1, 1024));
  return [flags] { return RunSelfTrain(*flags); };
}

}  // namespace espalier
