// espalier export: training sets from recorded searches.
#include "src/trace/labels/export.h"

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "nlohmann/json.hpp"
#include "src/engine/prompted_task.h"
#include "src/trace/labels/contamination.h"
#include "src/trace/run_db.h"
#include "tools/espalier/command.h"
#include "tools/espalier/option_checks.h"
#include "tools/espalier/output_file.h"
#include "tools/espalier/printable.h"

namespace espalier {
namespace {

struct ExportFlags {
  std::vector<std::string> databases;
  std::string kind;
  std::string out;
  std::string format = "plain";
  int64_t run = 0;
  PathOptions paths;
  // Steps of the shipped sets are shorter than rStar-Math's 20 bytes.
  PairOptions pairs{.min_edit_distance = 1};
  StepOptions steps;
  float threshold = 0;
  std::string value = "outcomes";
  ContaminationOptions contamination;
  JsonOutput json;
};

absl::Status CheckFlags(ExportFlags& flags) {
  const bool messages = flags.format == "messages";
  const bool openrlhf = flags.format == "openrlhf";
  if ((messages && flags.kind == "steps") ||
      (openrlhf && flags.kind != "steps")) {
    return UsageError(absl::InvalidArgumentError(absl::StrCat(
        "--format ", flags.format, " is for ",
        messages ? "sft and pairs" : "steps", "; plain is for all")));
  }
  const bool q = flags.value == "q", quality = flags.value == "quality";
  if ((q && flags.kind != "pairs") || (quality && flags.kind != "steps")) {
    return UsageError(absl::InvalidArgumentError(
        absl::StrCat("--value ", flags.value, " is for ", q ? "pairs" : "steps",
                     "; outcomes is for both")));
  }
  flags.pairs.by_q = q;
  flags.steps.quality = quality;
  FlagErrors errors;
  errors.AddAsIs(CheckOutputFile(flags.out, flags.json.force));
  errors.AddAsIs(flags.json.Check());
  if (flags.out == "-" && flags.json.where == "-") {
    errors.Add(
        "--out - and --json would both write to standard output; name a file "
        "for one of them");
  }
  return errors.Status();
}

absl::StatusOr<std::string> Lines(const ExportFlags& flags, const Task& task,
                                  const std::vector<ProblemTrees>& trees,
                                  FilterLog& log, size_t* count) {
  const bool messages = flags.format == "messages";
  if (flags.kind == "sft") {
    const auto paths = SelectPaths(trees, flags.paths, log);
    *count = paths.size();
    return PathLines(trees, paths, task, messages);
  }
  if (flags.kind == "pairs") {
    const auto pairs = SelectPairs(trees, flags.pairs, log);
    *count = pairs.size();
    return PairLines(trees, pairs, task, messages);
  }
  const auto steps = SelectSteps(trees, flags.steps, log);
  *count = steps.size();
  return StepLines(trees, steps, task, flags.format == "openrlhf",
                   flags.threshold);
}

absl::Status RunExport(ExportFlags& flags) {
  ESP_RETURN_IF_ERROR(CheckFlags(flags));
  std::vector<ProblemTrees> trees;
  for (const std::string& path : flags.databases) {
    ESP_ASSIGN_OR_RETURN(const auto db, RunDb::Open(path, Sqlite::kRead));
    ESP_ASSIGN_OR_RETURN(std::vector<ProblemTrees> more,
                         TreesByProblem(*db, flags.run));
    JoinTrees(std::move(more), trees);
  }
  const std::string all = absl::StrJoin(flags.databases, ", ");
  if (trees.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        all, ": no search has ended yet, so there is nothing to export"));
  }
  for (const ProblemTrees& entry : trees) {
    if (entry.task != trees[0].task) {
      return absl::InvalidArgumentError(
          absl::StrCat(all, ": holds problems of the tasks ", trees[0].task,
                       " and ", entry.task, "; export one run by --run N"));
    }
    if (entry.prompt != trees[0].prompt) {
      return absl::InvalidArgumentError(absl::StrCat(
          all,
          ": holds runs with different prompts; export one run by --run N"));
    }
  }
  ESP_ASSIGN_OR_RETURN(const PromptedTask put,
                       PutTaskBy(trees[0].task, trees[0].prompt));
  FilterLog log;
  ESP_RETURN_IF_ERROR(DropContaminated(flags.contamination, trees, log));
  size_t count = 0;
  ESP_ASSIGN_OR_RETURN(const std::string lines,
                       Lines(flags, *put.task, trees, log, &count));
  if (count == 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        "nothing is left to export. What the filters did:\n", log.Text()));
  }
  ESP_RETURN_IF_ERROR(WriteOutput(flags.out, lines));
  std::fprintf(flags.out == "-" ? stderr : flags.json.report(),
               "%s: %zu examples\n%s", Printable(flags.out).c_str(), count,
               Printable(log.Text()).c_str());
  nlohmann::json filters = nlohmann::json::array();
  for (const FilterCount& c : log.counts()) {
    filters.push_back({{"name", c.name}, {"in", c.in}, {"out", c.out}});
  }
  return flags.json.Write({{"examples", count}, {"filters", filters}});
}

}  // namespace

void AddExport(CLI::App& app, RunFunction& run) {
  auto flags = std::make_shared<ExportFlags>();
  app.add_option("database", flags->databases,
                 "Run databases; searches of the same problem are merged")
      ->required();
  app.add_option("--kind", flags->kind,
                 "sft: correct responses; pairs: better and worse steps; "
                 "steps: labelled steps")
      ->required()
      ->check(OneOf({"sft", "pairs", "steps"}));
  app.add_option("--out", flags->out,
                 "JSON lines file to write; -: standard output")
      ->required();
  app.add_option("--format", flags->format,
                 "plain: TRL's standard columns; messages: conversations; "
                 "openrlhf: for OpenRLHF's train_prm (steps)")
      ->capture_default_str()
      ->check(OneOf({"plain", "messages", "openrlhf"}));
  app.add_option("--run", flags->run, "Export only this run. Default: all")
      ->check(WholeFrom(1));
  app.add_option("--per-problem", flags->paths.per_problem,
                 "sft: distinct responses per problem; 0: all")
      ->capture_default_str()
      ->check(WholeFrom(0, kMostInt));
  app.add_flag(
      "--by-value", flags->paths.by_value,
      "sft: prefer responses with the highest mean q, not the most likely");
  app.add_option("--min-perplexity", flags->paths.min_perplexity,
                 "sft: do not train on steps with a lower perplexity")
      ->capture_default_str()
      ->check(RealFrom(0));
  app.add_option("--max-perplexity", flags->paths.max_perplexity,
                 "sft: do not train on steps with a higher perplexity. "
                 "Default: no limit")
      ->check(RealFrom(0, kUnbounded));
  app.add_option("--top", flags->pairs.top,
                 "pairs: pair this many of the best steps with as many of the "
                 "worst")
      ->capture_default_str()
      ->check(WholeFrom(1, kMostInt));
  app.add_option("--margin", flags->pairs.margin,
                 "pairs: minimum difference of the values")
      ->capture_default_str()
      ->check(RealFrom(0));
  app.add_option("--min-edit-distance", flags->pairs.min_edit_distance,
                 "pairs: minimum edit distance of the texts (rStar-Math: 20)")
      ->capture_default_str()
      ->check(WholeFrom(0, kMostInt));
  app.add_option("--value", flags->value,
                 "Value of a step. outcomes: the share of correct responses "
                 "below it; q: the search's own q (pairs); quality: "
                 "ReST-MCTS*'s quality value (steps)")
      ->capture_default_str()
      ->check(OneOf({"outcomes", "q", "quality"}));
  app.add_option(
         "--min-outcomes", flags->steps.min_outcomes,
         "steps: do not label steps with fewer finished responses below them")
      ->capture_default_str()
      ->check(WholeFrom(0, kMostInt));
  app.add_option("--threshold", flags->threshold,
                 "steps: a label is true if the value is above this")
      ->capture_default_str()
      ->check(RealFrom(0, 1));
  app.add_option("--eval-set", flags->contamination.eval_sets,
                 "Sets or files whose questions must not be in the training "
                 "data. Default: the test problems of the searched sets")
      ->delimiter(',');
  app.add_option("--eval-limit", flags->contamination.eval_limit,
                 "Problems per generated evaluation set")
      ->capture_default_str()
      ->check(WholeFrom(0));
  app.add_option("--ngram", flags->contamination.ngram,
                 "Questions of a file overlap if they share this many "
                 "consecutive words; those of generated sets if they are equal")
      ->capture_default_str()
      ->check(WholeFrom(1, 1000));
  app.add_flag("--no-contamination-check", flags->contamination.off,
               "Also export problems that are in evaluation sets");
  AddJsonOutput(app, flags->json, "the filter counts");
  run = [flags] { return RunExport(*flags); };
}

}  // namespace espalier
