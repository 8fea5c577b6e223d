#include "tools/learn/train.h"

#include <algorithm>
#include <cstdio>
#include <memory>

#include "absl/strings/str_cat.h"
#include "base/interrupt.h"
#include "base/progress.h"
#include "base/status_macros.h"
#include "models/checkpoint/reward_head_config.h"
#include "nlohmann/json.hpp"
#include "search/tree/score_rule.h"
#include "src/learn/held_out.h"
#include "src/learn/train_run.h"
#include "tools/espalier/command.h"
#include "tools/espalier/option_checks.h"
#include "tools/espalier/output_file.h"
#include "tools/espalier/printable.h"

namespace espalier {
namespace {

struct TrainFlags {
  TrainRunOptions run;
  std::string value = "outcomes";
  PromptFlags prompt;
  JsonOutput json;
};

// "sft: imitate responses; dpo: ..."
std::string ObjectiveHelp(bool reward) {
  std::string text;
  for (const ObjectiveInfo* info : ListObjectives()) {
    if (TrainsReward(info->examples) != reward) continue;
    absl::StrAppend(&text, text.empty() ? "" : "; ", info->name, ": ",
                    info->summary);
  }
  return text;
}

void AddGroupFlags(CLI::App& app, GroupOptions& groups) {
  app.add_option("--min-std", groups.min_std,
                 "Groups: minimum standard deviation of the rewards")
      ->capture_default_str()
      ->check(RealFrom(0));
  app.add_option(
         "--process-reward", groups.process.weight,
         "Groups: weight of the recorded step scores in the advantages, "
         "bounded by the next three options; 0: outcomes only")
      ->capture_default_str()
      ->check(RealFrom(0));
  app.add_option("--process-clip", groups.process.clip,
                 "A step's reward is its score minus this, but at most 0")
      ->capture_default_str()
      ->check(RealFrom(0, 1));
  app.add_flag_callback(
      "--no-process-delta", [&groups] { groups.process.delta = false; },
      "Add the rewards of all later steps to a step's own. By default the next "
      "step's reward is subtracted from it, so that writing more steps earns "
      "no more");
  app.add_flag_callback(
      "--no-process-gate", [&groups] { groups.process.gate = false; },
      "Also give step rewards to wrong responses");
  app.add_option_function<std::string>(
         "--consistency-filter",
         [&groups](const std::string& name) {
           const auto found = std::find(kConsistencyFilterNames.begin(),
                                        kConsistencyFilterNames.end(), name);
           groups.filter = static_cast<ConsistencyFilter>(
               found - kConsistencyFilterNames.begin());
         },
         "Groups: drop right responses whose steps score low, or wrong ones "
         "whose steps score high, until there are as many right as wrong; "
         "correct: drop only right ones")
      ->default_str("off")
      ->check(OneOf({"off", "both", "correct"}));
}

void AddSelfRewardFlags(CLI::App& app, SelfRewardOptions& self) {
  CLI::Option* token = app.add_option(
      "--self-reward", self.token,
      "Groups: also teach the model to judge its responses by the log-prob of "
      "this token after the end token (LaSeR). Name a token that it never "
      "writes; --reward-format OUT/self_reward.textproto reads the judgements");
  app.add_option("--self-reward-weight", self.weight,
                 "Weight of its loss relative to the policy gradient's")
      ->capture_default_str()
      ->check(RealAbove(0))
      ->needs(token);
  app.add_option("--self-reward-factor", self.factor,
                 "A judgement is this times the difference of the log-prob and "
                 "its base")
      ->capture_default_str()
      ->check(RealAbove(0, 1e3))
      ->needs(token);
  app.add_option("--self-reward-base", self.base,
                 "Base of the log-prob. Default: that of the model's "
                 "self_reward.textproto, else the mean before training")
      ->check(RealFrom(-1e6, -1e-3))
      ->needs(token);
  app.add_option("--self-reward-mix", self.mix,
                 "Share of the judgements in the advantages")
      ->capture_default_str()
      ->check(RealFrom(0, 1))
      ->needs(token);
}

void AddFlags(CLI::App& app, TrainFlags& flags, bool reward) {
  TrainRunOptions& run = flags.run;
  TrainDataOptions& data = run.train_data;
  app.add_option("--model", run.model, "Checkpoint folder to start from")
      ->required();
  app.add_option_function<std::vector<std::string>>(
         "--data",
         [&run, &data](const std::vector<std::string>& paths) {
           run.data = paths.front();
           data.more_databases.assign(paths.begin() + 1, paths.end());
         },
         std::string("Run databases, separated by commas, or one file of JSON "
                     "lines as espalier export writes them") +
             (reward ? ", or files or folders of ProcessBench, PRM800K, "
                       "Math-Shepherd or TRL's stepwise lines, as published"
                     : ""))
      ->delimiter(',')
      ->required();
  app.add_option("--out", run.out, "Checkpoint folder to write")->required();
  app.add_option("--work", run.work,
                 "Folder for the state; the same command continues from it. "
                 "Default: OUT.work");
  app.add_option("--epochs", run.epochs, "Passes over the data")
      ->capture_default_str()
      ->check(RealAbove(0, 1e6));
  app.add_option("--batch-tokens", run.batch_tokens,
                 "Tokens per optimiser step")
      ->capture_default_str()
      ->check(WholeFrom(1, kMostInt));
  app.add_option(
         "--learning-rate", run.learning_rate,
         "Peak learning rate; it warms up linearly and then decays by a cosine")
      ->capture_default_str()
      ->check(RealAbove(0));
  app.add_option("--final-rate", run.final_rate,
                 "Final learning rate, relative to the peak")
      ->capture_default_str()
      ->check(RealFrom(0, 1));
  app.add_option("--warmup", run.warmup,
                 "Share of the steps in which the learning rate warms up")
      ->capture_default_str()
      ->check(RealFrom(0, 1));
  app.add_option("--weight-decay", run.weight_decay,
                 "Weight decay of matrices; other parameters have none")
      ->capture_default_str()
      ->check(RealFrom(0));
  app.add_option("--clip-norm", run.clip_norm,
                 "Maximum gradient norm; 0: no clipping")
      ->capture_default_str()
      ->check(RealFrom(0));
  app.add_option("--lora-rank", run.lora.rank,
                 "Train an adapter of this rank over the frozen model" +
                     std::string(reward ? ", and the reward head" : "") +
                     "; 0: train all weights")
      ->capture_default_str()
      ->check(WholeFrom(0, kMostInt));
  app.add_option(
         "--lora-alpha", run.lora.alpha,
         "The adapter is scaled by alpha / rank. Default: twice the rank")
      ->check(RealAbove(0));
  app.add_option(
         "--lora-targets", run.lora.targets,
         "Layers with an adapter, of q,k,v,o,gate,up,down. Default: all")
      ->delimiter(',');
  app.add_option("--seed", run.seed,
                 "Random seed of the order of the data and of new weights")
      ->capture_default_str();
  app.add_flag_callback(
      "--mix-problems", [&run] { run.by_problem = false; },
      "Mix the examples of different problems. By default those of a problem "
      "follow each other, and their common prefixes are computed once");
  app.add_option("--threads", run.threads,
                 "Number of threads; does not change the result")
      ->capture_default_str()
      ->check(WholeFrom(1, 1024));
  app.add_option("--save-every", run.save_every, "Steps between saved states")
      ->capture_default_str()
      ->check(WholeFrom(1));
  run.min_problems = 20;
  app.add_option("--min-problems", run.min_problems,
                 "Refuse data with training examples from fewer problems")
      ->capture_default_str()
      ->check(WholeFrom(0));
  app.add_option("--run", data.run,
                 "Use only this run of the database. Default: all")
      ->check(WholeFrom(1));
  run.objective = reward ? "bce" : "sft";
  app.add_option("--objective", run.objective,
                 (reward ? "Objective. "
                         : "Objective with options, e.g. dpo:beta=0.1. ") +
                     ObjectiveHelp(reward))
      ->capture_default_str();
  app.add_option("--margin", data.pairs.margin,
                 "Pairs: minimum difference of the values")
      ->capture_default_str()
      ->check(RealFrom(0));
  app.add_option("--min-edit-distance", data.pairs.min_edit_distance,
                 "Pairs: minimum edit distance of the texts")
      ->capture_default_str()
      ->check(WholeFrom(0, kMostInt));
  if (!reward) {
    AddGroupFlags(app, data.groups);
    AddSelfRewardFlags(app, run.self_reward);
    app.add_option("--per-problem", data.paths.per_problem,
                   "Maximum distinct responses per problem; 0: all")
        ->capture_default_str()
        ->check(WholeFrom(0, kMostInt));
    app.add_option("--min-perplexity", data.paths.min_perplexity,
                   "Do not imitate steps with a lower perplexity")
        ->capture_default_str()
        ->check(RealFrom(0));
    app.add_option(
           "--max-perplexity", data.paths.max_perplexity,
           "Do not imitate steps with a higher perplexity. Default: no limit")
        ->check(RealFrom(0, kUnbounded));
  } else {
    app.add_option_function<std::vector<std::string>>(
           "--levels",
           [&data](const std::vector<std::string>& names) {
             data.levels = {};
             for (const std::string& name : names) {
               data.levels = data.levels | ParseLevel(name).value();
             }
           },
           "Levels to train, of path, step, outcome, window2, window3, "
           "window4. "
           "Step and windows need a task whose verifier judges steps, or lines "
           "with their labels. The new model gives these and no others")
        ->delimiter(',')
        ->default_str("path")
        ->check(OneOf(
            {"path", "step", "outcome", "window2", "window3", "window4"}));
    app.add_option("--ensemble", run.ensemble,
                   "Heads per level, each trained on a bootstrap sample of the "
                   "problems. Scores are their mean and have a spread, which "
                   "lower_confidence= reads; 1: one head, no spread")
        ->capture_default_str()
        ->check(WholeFrom(1, kMostHeads));
    app.add_option("--value", flags.value,
                   "Value of a step. outcomes: the share of correct responses "
                   "below it; quality: ReST-MCTS*'s quality value")
        ->capture_default_str()
        ->check(OneOf({"outcomes", "quality"}));
    app.add_option(
           "--min-outcomes", data.steps.min_outcomes,
           "Do not label steps that have fewer finished responses below them")
        ->capture_default_str()
        ->check(WholeFrom(0, kMostInt));
    CLI::Option* consensus =
        app.add_flag("--consensus", data.consensus,
                     "For run databases: label a step only where its outcomes "
                     "and the task's verifier of steps agree");
    app.add_option("--consensus-threshold", data.consensus_threshold,
                   "By its outcomes a step is right if more than this share of "
                   "the responses below it are right")
        ->capture_default_str()
        ->check(RealFrom(0, 1))
        ->needs(consensus);
    app.add_flag("--compress", data.compress,
                 "For run databases: label window2 by HRM's node compression, "
                 "the share of right responses below two steps merged into "
                 "one, instead of by the verifier");
    app.add_option("--task", data.task,
                   "Task whose prompt is used for questions from "
                   "ProcessBench, PRM800K, Math-Shepherd and TRL's stepwise "
                   "lines")
        ->capture_default_str();
    AddPromptFlags(app, flags.prompt);
    app.add_option("--format", run.format,
                   "Format of the checkpoint. espalier: reward heads of any "
                   "levels; trl: a token classifier of one level, step or "
                   "path, as TRL's PRMTrainer writes it")
        ->capture_default_str()
        ->check(OneOf({"espalier", "trl"}));
    CLI::Option* held_out =
        app.add_option("--held-out", run.held_out,
                       "Share of the problems that are not trained on; the "
                       "loss on them is measured after each epoch, and the "
                       "state with the lowest loss is written")
            ->capture_default_str()
            ->check(RealFrom(0, 1));
    app.add_option("--patience", run.patience,
                   "End the training after this many epochs without a lower "
                   "loss on the held-out problems; 0: never")
        ->capture_default_str()
        ->check(WholeFrom(0, kMostInt))
        ->needs(held_out);
  }
  ContaminationOptions& contamination = data.contamination;
  app.add_option("--eval-set", contamination.eval_sets,
                 "Sets or files whose questions must not be trained on. "
                 "Default: the test problems of the searched sets; for JSON "
                 "lines, those of all generated sets")
      ->delimiter(',');
  app.add_flag("--no-contamination-check", contamination.off,
               "Also train on problems that are in evaluation sets");
  AddJsonOutput(app, flags.json, "the report");
}

// Refuses wrong usage before anything is loaded.
absl::Status CheckObjective(const TrainFlags& flags, bool reward) {
  ESP_ASSIGN_OR_RETURN(const ExampleKind kind, ExamplesOf(flags.run.objective));
  ESP_RETURN_IF_ERROR(MakeObjective(flags.run.objective).status());
  if (TrainsReward(kind) == reward) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "--objective ", flags.run.objective, " is for train ",
      reward ? "policy" : "reward", "; here: ", ObjectiveHelp(reward)));
}

absl::Status RunTrain(TrainFlags& flags, bool reward) {
  ESP_RETURN_IF_ERROR(UsageError(CheckObjective(flags, reward)));
  if (const absl::Status wrong = CheckTrainRun(flags.run); !wrong.ok()) {
    return absl::IsInvalidArgument(wrong) ? UsageError(wrong) : wrong;
  }
  if (reward) {
    ESP_RETURN_IF_ERROR(UsageError(CheckTaskFlag(flags.run.train_data.task)));
    ESP_RETURN_IF_ERROR(CheckPromptFlags(flags.prompt));
    ESP_ASSIGN_OR_RETURN(flags.run.train_data.prompt,
                         ResolvePromptText(flags.prompt, flags.run.model));
  }
  flags.run.train_data.steps.quality = flags.value == "quality";
  ESP_RETURN_IF_ERROR(flags.json.Check());
  FilterLog log;
  const auto report = TrainModel(flags.run, &StopRequested(), log);
  if (!report.ok()) return report.status();
  std::fprintf(flags.json.report(), "%s", Printable(log.Text()).c_str());
  std::fprintf(flags.json.report(),
               "%s: %lld sequences, %lld steps, %lld tokens in %s; loss %.4f "
               "at first, %.4f "
               "at last\n",
               Printable(flags.run.out).c_str(),
               static_cast<long long>(report->sequences),
               static_cast<long long>(report->steps),
               static_cast<long long>(report->tokens),
               HumanSeconds(report->seconds).c_str(), report->first_loss,
               report->last_loss);
  nlohmann::json json = {
      {"sequences", report->sequences}, {"steps", report->steps},
      {"tokens", report->tokens},       {"first_loss", report->first_loss},
      {"last_loss", report->last_loss}, {"seconds", report->seconds}};
  if (report->held_out) {
    std::fprintf(flags.json.report(), "%s",
                 FiguresText(*report->held_out).c_str());
    json["held_out"] = FiguresJson(*report->held_out);
  }
  return flags.json.Write(json);
}

}  // namespace

std::function<absl::Status()> AddTrain(CLI::App& app) {
  app.require_subcommand(1);
  auto policy_flags = std::make_shared<TrainFlags>();
  auto reward_flags = std::make_shared<TrainFlags>();
  CLI::App* policy = app.add_subcommand(
      "policy", "Train a policy by imitation, preferences or policy gradient");
  CLI::App* reward = app.add_subcommand(
      "reward",
      "Train a reward model on step values or preferences between steps");
  AddFlags(*policy, *policy_flags, false);
  AddFlags(*reward, *reward_flags, true);
  return [=] {
    return policy->parsed() ? RunTrain(*policy_flags, false)
                            : RunTrain(*reward_flags, true);
  };
}

}  // namespace espalier
