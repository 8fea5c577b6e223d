#include "src/learn/train_data.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/files.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "datasets/sets/labelled_steps.h"
#include "models/prompt/encode_prompt.h"
#include "src/engine/prompted_task.h"
#include "src/learn/example_collector.h"
#include "src/learn/labelled_solutions.h"
#include "src/learn/line_examples.h"
#include "src/trace/labels/compress_tree.h"
#include "src/trace/labels/consensus.h"
#include "src/trace/labels/level_targets.h"
#include "src/trace/labels/reference_of.h"
#include "src/trace/labels/tree_labels.h"
#include "src/trace/run_db.h"

namespace espalier {
namespace {

constexpr float kUnlabelled = StepScores::kNone;
// Levels whose labels a verifier of steps gives.
constexpr Level kJudged[] = {Level::kStep, Level::kWindow2, Level::kWindow3,
                             Level::kWindow4};

// Both are the share of right ends below a step, so they are one head.
bool OutcomeIsPath(const TrainDataOptions& options) {
  return !options.steps.quality && options.levels.has(Level::kPath);
}

// The examples of a database, with the tokens as they were sampled.
class DatabaseReader {
 public:
  DatabaseReader(const std::string& path, const TrainDataOptions& options,
                 std::vector<ProblemTrees> trees, FilterLog& log,
                 ExampleCollector& collector)
      : path_(path),
        options_(options),
        trees_(std::move(trees)),
        log_(log),
        collector_(collector) {}

  absl::Status Read() {
    switch (options_.kind) {
      case ExampleKind::kResponses:
        return Responses();
      case ExampleKind::kGroups:
        return Groups();
      case ExampleKind::kPairs:
      case ExampleKind::kStepPairs:
        return Pairs();
      case ExampleKind::kSteps:
        return Steps();
    }
    return absl::InternalError("an unknown kind of examples");
  }

 private:
  absl::StatusOr<std::vector<int32_t>> Prompt(size_t problem) const {
    const ProblemTrees& entry = trees_[problem];
    ESP_ASSIGN_OR_RETURN(const PromptedTask put,
                         PutTaskBy(entry.task, entry.prompt));
    ESP_ASSIGN_OR_RETURN(const std::string prompt,
                         put.task->Render(entry.problem.problem));
    return EncodePrompt(collector_.tokenizer(), prompt,
                        put.task->format().control_tokens);
  }
  std::string Name(size_t problem) const {
    return absl::StrCat(path_, " ", trees_[problem].problem.problem.id);
  }

  // An empty selection is an error that tells the user what to change.
  template <class Examples>
  absl::Status CheckAny(const Examples& examples,
                        const std::string& remedy) const {
    if (!examples.empty() || trees_.empty()) return absl::OkStatus();
    return absl::FailedPreconditionError(absl::StrCat(
        path_, ": ", remedy, ". What the filters did:\n", log_.Text()));
  }

  absl::Status Responses() {
    const auto examples = SelectPaths(trees_, options_.paths, log_);
    ESP_RETURN_IF_ERROR(CheckAny(
        examples,
        "no response to imitate: no search found a correct one, or the "
        "perplexity window leaves out all of its steps; search easier "
        "problems or with more tokens, or widen the window"));
    for (const PathExample& example : examples) {
      ESP_ASSIGN_OR_RETURN(const auto prompt, Prompt(example.problem));
      collector_.Begin(prompt);
      for (size_t i = 0; i < example.steps.size(); ++i) {
        collector_.Add(example.step_tokens[i], example.train[i]);
      }
      collector_.EndResponse();
      collector_.EndGroup(Name(example.problem));
    }
    return absl::OkStatus();
  }

  absl::Status Groups() {
    const auto examples = SelectGroups(trees_, options_.groups, log_);
    const bool advantages = std::any_of(
        examples.begin(), examples.end(), [](const GroupExample& example) {
          return std::any_of(
              example.responses.begin(), example.responses.end(),
              [](const GroupResponse& r) { return r.advantage != 0; });
        });
    ESP_RETURN_IF_ERROR(CheckAny(
        advantages ? examples : std::vector<GroupExample>(),
        absl::StrCat("no groups: the responses to every problem are all right "
                     "or all wrong (the standard deviation of their rewards "
                     "is below --min-std ",
                     options_.groups.min_std,
                     "), so every advantage is 0; search problems of middle "
                     "difficulty and several responses to each, as majority "
                     "draws them, or lower --min-std")));
    ESP_RETURN_IF_ERROR(CheckScored(path_, options_.groups, examples));
    for (const GroupExample& example : examples) {
      ESP_ASSIGN_OR_RETURN(const auto prompt, Prompt(example.problem));
      for (const GroupResponse& response : example.responses) {
        collector_.Begin(prompt, response.advantage);
        collector_.Add(response.tokens, true);
        collector_.Advantages(response.advantages);
        collector_.OldLogprobs(response.logprobs);
        collector_.Outcome(response.correct);
        // Advantages are already computed, so each may be in a different batch.
        collector_.EndGroup(Name(example.problem));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Pairs() {
    const bool policy = options_.kind == ExampleKind::kPairs;
    const auto pairs = SelectPairs(trees_, options_.pairs, log_);
    ESP_RETURN_IF_ERROR(CheckAny(
        pairs,
        absl::StrCat("no pairs: every problem's steps have the same value "
                     "after one prefix, or values that differ by less than "
                     "--margin ",
                     options_.pairs.margin,
                     "; search with a method that branches (beam, puct, "
                     "majority with more tokens) problems that are solved now "
                     "and then, or lower --margin")));
    for (const PairExample& pair : pairs) {
      ESP_ASSIGN_OR_RETURN(const auto prompt, Prompt(pair.problem));
      for (const auto* tokens : {&pair.chosen_tokens, &pair.rejected_tokens}) {
        collector_.Begin(prompt, pair.weight);
        collector_.Add(pair.prefix_tokens, false);
        collector_.Add(*tokens, policy, policy ? kUnlabelled : 1);
      }
      collector_.EndGroup(Name(pair.problem));
    }
    return absl::OkStatus();
  }

  absl::Status Steps() {
    const auto examples = SelectSteps(trees_, options_.steps, log_);
    ESP_RETURN_IF_ERROR(CheckAny(
        examples,
        options_.steps.quality
            ? "no labelled steps: quality values need a correct end in a "
              "problem's tree and no tree has one; search easier problems or "
              "with more tokens, or use --value outcomes"
            : absl::StrCat("no labelled steps: no step has --min-outcomes ",
                           options_.steps.min_outcomes,
                           " graded ends below it; search problems with "
                           "answers and enough tokens to end responses, or "
                           "lower --min-outcomes")));
    if (options_.levels.has(Level::kPath)) {
      ESP_RETURN_IF_ERROR(CheckDiffer(examples));
    }
    if (options_.compress) ESP_RETURN_IF_ERROR(Windows());
    ConsensusCounts agreed;
    for (const StepExample& example : examples) {
      ESP_ASSIGN_OR_RETURN(const std::vector<StepFact> facts, Judge(example));
      std::vector<LevelLabels> labels = LabelsOf(example, facts);
      if (options_.consensus) {
        KeepAgreed(example, facts, options_.consensus_threshold, labels,
                   agreed);
      }
      if (options_.layout != nullptr) {
        const std::string& question =
            trees_[example.problem].problem.problem.question;
        const absl::Status added = AddLaidOut(
            *options_.layout, question, example.steps, labels, collector_);
        log_.Count("paths that the format can lay out", 1, added.ok());
        if (!added.ok()) continue;
      } else {
        ESP_ASSIGN_OR_RETURN(const auto prompt, Prompt(example.problem));
        collector_.Begin(prompt);
        for (size_t i = 0; i < example.steps.size(); ++i) {
          collector_.Add(example.step_tokens[i], false);
          if (!example.step_tokens[i].empty()) collector_.Label(labels[i]);
        }
      }
      collector_.EndGroup(Name(example.problem));
    }
    if (options_.consensus) {
      log_.Count("steps right by outcomes, right by the verifier", agreed.right,
                 agreed.right_kept);
      log_.Count("steps wrong by outcomes, wrong by the verifier", agreed.wrong,
                 agreed.wrong_kept);
    }
    return absl::OkStatus();
  }

  // Paths in which two steps are one window, with the share of right ends below
  // it as the window's label (compress_tree.h).
  absl::Status Windows() {
    std::vector<ProblemTrees> compressed = trees_;
    // Windows by the response that ends with them and their length.
    std::set<std::pair<std::string, size_t>> windows;
    for (ProblemTrees& entry : compressed) {
      const uint64_t problem = StableHash(entry.problem.problem.id);
      for (size_t t = 0; t < entry.trees.size(); ++t) {
        RandomStream random(StreamKey(0, problem, t, Purpose::kTrain));
        CompressedTree one = CompressTree(entry.trees[t], random);
        for (size_t node = 1; node < one.merged.size(); ++node) {
          if (!one.merged[node]) continue;
          windows.emplace(one.tree.Response(node), one.tree.Text(node).size());
        }
        entry.trees[t] = std::move(one.tree);
      }
    }
    int64_t labels = 0;
    for (const StepExample& example :
         SelectSteps(compressed, options_.steps, log_)) {
      std::string response;
      std::vector<size_t> ends;
      for (size_t i = 0; i < example.steps.size(); ++i) {
        response += example.steps[i];
        if (example.counts[i] && !example.step_tokens[i].empty() &&
            windows.contains({response, example.steps[i].size()})) {
          ends.push_back(i);
        }
      }
      if (ends.empty()) continue;
      ESP_ASSIGN_OR_RETURN(const auto prompt, Prompt(example.problem));
      collector_.Begin(prompt);
      for (size_t i = 0; i <= ends.back(); ++i) {
        collector_.Add(example.step_tokens[i], false);
        if (std::find(ends.begin(), ends.end(), i) == ends.end()) continue;
        collector_.Label(Level::kWindow2, example.values[i]);
        ++labels;
      }
      collector_.EndGroup(Name(example.problem));
    }
    log_.Count("windows of merged steps", static_cast<int64_t>(windows.size()),
               labels);
    return absl::OkStatus();
  }

  // The labels of a path's steps, where they count.
  std::vector<LevelLabels> LabelsOf(const StepExample& example,
                                    const std::vector<StepFact>& facts) const {
    std::vector<LevelLabels> labels(example.steps.size(), NoLabels());
    for (size_t i = 0; i < labels.size(); ++i) {
      if (!example.counts[i]) continue;
      labels[i][IndexOf(Level::kPath)] = example.values[i];
      if (!OutcomeIsPath(options_)) {
        labels[i][IndexOf(Level::kOutcome)] =
            OutcomeCount{.correct = example.correct[i],
                         .finished = example.finished[i]}
                .share();
      }
      for (const Level level : kJudged) {
        if (facts.empty() || !ByVerifier(level)) continue;
        labels[i][IndexOf(level)] = LevelTarget(level, facts, i);
      }
    }
    return labels;
  }

  // With compressed trees outcomes label the windows of two.
  bool ByVerifier(Level level) const {
    return !options_.compress || level != Level::kWindow2;
  }

  // One per step by the problem's verifier; none if no requested level needs
  // them, or if the steps are not the lines that it judges.
  absl::StatusOr<std::vector<StepFact>> Judge(const StepExample& example) {
    Level needed = Level::kPath;
    for (const Level level : kJudged) {
      if (options_.levels.has(level) && ByVerifier(level)) needed = level;
    }
    if (needed == Level::kPath && !options_.consensus) {
      return std::vector<StepFact>();
    }
    const ProblemTrees& entry = trees_[example.problem];
    ESP_ASSIGN_OR_RETURN(const PromptedTask put,
                         PutTaskBy(entry.task, entry.prompt));
    std::string response = absl::StrJoin(example.steps, "");
    // A response may end without the line end that steps have.
    if (!response.ends_with('\n')) response += '\n';
    const absl::StatusOr<std::vector<StepVerdict>> verdicts =
        put.verifier == nullptr
            ? absl::UnimplementedError("it has no verifier")
            : put.verifier->CheckSteps(entry.problem.problem,
                                       ReferenceOf(entry.problem), response);
    if (!verdicts.ok()) {
      return absl::FailedPreconditionError(absl::StrCat(
          path_, ": no labels for the level ",
          AbslView(kLevelNames[IndexOf(needed)]),
          options_.consensus ? " on which --consensus could agree" : "",
          ": the steps of task ", entry.task,
          " cannot be judged: ", verdicts.status().message(),
          "; train the levels path and outcome, which outcomes give, or lines "
          "that hold labels of steps",
          options_.consensus ? ", without --consensus" : ""));
    }
    const bool fits = verdicts->size() == example.steps.size();
    log_.Count("whose steps are lines, for the verifier", 1, fits);
    return fits ? FactsOf(*verdicts) : std::vector<StepFact>();
  }

  // A head trained on a single value would predict it everywhere.
  absl::Status CheckDiffer(const std::vector<StepExample>& examples) const {
    float least = 1, most = 0;
    for (const StepExample& example : examples) {
      for (size_t i = 0; i < example.values.size(); ++i) {
        if (!example.counts[i]) continue;
        least = std::min(least, example.values[i]);
        most = std::max(most, example.values[i]);
      }
    }
    if (least < most || examples.empty()) return absl::OkStatus();
    return absl::FailedPreconditionError(
        absl::StrCat(path_, ": every labelled step has the value ", most,
                     ", so nothing tells a right one from a wrong one; search ",
                     most > 0.5f ? "harder" : "easier", " problems",
                     most > 0.5f ? "" : ", or with more tokens"));
  }

  const std::string& path_;
  const TrainDataOptions& options_;
  const std::vector<ProblemTrees> trees_;
  FilterLog& log_;
  ExampleCollector& collector_;
};

// The sampled tokens are meaningless for a model with another tokenizer.
absl::Status CheckTokenizer(RunDb& db, const TrainDataOptions& options) {
  // A published format's layout is made from the texts.
  if (options.tokenizer_hash.empty() || options.layout != nullptr) {
    return absl::OkStatus();
  }
  ESP_ASSIGN_OR_RETURN(const std::vector<RunRow> runs, db.Runs());
  for (const RunRow& run : runs) {
    const std::string& recorded = run.info.tokenizer_hash;
    if (options.run != 0 && run.run_id != options.run) continue;
    if (recorded.empty() || recorded == options.tokenizer_hash) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        db.sqlite().path(), ": run ", run.run_id, " was recorded with ",
        run.info.model,
        ", whose tokenizer.json differs from the model's; train on its text "
        "instead: run espalier export and name the exported file by --data"));
  }
  return absl::OkStatus();
}

absl::Status FromDatabase(const std::string& path,
                          const TrainDataOptions& options, FilterLog& log,
                          ExampleCollector& collector) {
  std::vector<std::string> paths = {path};
  paths.insert(paths.end(), options.more_databases.begin(),
               options.more_databases.end());
  std::vector<ProblemTrees> trees;
  for (const std::string& one : paths) {
    ESP_ASSIGN_OR_RETURN(const auto db, RunDb::Open(one, Sqlite::kRead));
    ESP_RETURN_IF_ERROR(CheckTokenizer(*db, options));
    ESP_ASSIGN_OR_RETURN(std::vector<ProblemTrees> more,
                         TreesByProblem(*db, options.run));
    JoinTrees(std::move(more), trees);
  }
  if (trees.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(path,
                     ": no search has ended yet, there is nothing to train on; "
                     "continue it with espalier generate --resume"));
  }
  ESP_RETURN_IF_ERROR(DropContaminated(options.contamination, trees, log));
  return DatabaseReader(path, options, std::move(trees), log, collector).Read();
}

// Decides by the first bytes: a database may be larger than memory.
bool IsDatabase(const std::string& path) {
  constexpr std::string_view kMagic = "SQLite format 3";
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  std::string head(kMagic.size(), '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  return head == kMagic;
}

// One output per level, except that outcome joins path where a database of
// outcomes gives both the same labels.
std::vector<LevelSet> OutputsOf(const TrainDataOptions& options,
                                bool database) {
  std::vector<LevelSet> outputs;
  const bool joined = database && OutcomeIsPath(options);
  for (size_t l = 0; l < kLevels; ++l) {
    const auto level = static_cast<Level>(l);
    if (!options.levels.has(level)) continue;
    if (joined && level == Level::kOutcome) {
      outputs[0] = outputs[0] | level;  // path is first
    } else {
      outputs.push_back(level);
    }
  }
  return outputs;
}

// Makes one output of levels whose labels are the same everywhere.
void JoinSameLevels(TrainData& data) {
  const auto same = [&](Level a, Level b) {
    for (const SequenceGroup& group : data.groups) {
      for (const GroupSequence& g : group) {
        for (size_t t = 0; t < g.sequence.tokens.size(); ++t) {
          const float x = g.sequence.Label(a, t), y = g.sequence.Label(b, t);
          if (x != y && !(std::isnan(x) && std::isnan(y))) return false;
        }
      }
    }
    return true;
  };
  std::vector<LevelSet> joined;
  for (const LevelSet output : data.outputs) {
    const Level level = output.first();
    const auto found = std::find_if(
        joined.begin(), joined.end(),
        [&](LevelSet earlier) { return same(earlier.first(), level); });
    if (found == joined.end()) {
      joined.push_back(output);
      continue;
    }
    *found = *found | output;
    for (SequenceGroup& group : data.groups) {
      for (GroupSequence& g : group) {
        std::vector<float>& column = g.sequence.labels[level];
        std::fill(column.begin(), column.end(), StepScores::kNone);
      }
    }
  }
  data.outputs = std::move(joined);
}

// Whether each of these holds solutions with labelled steps.
absl::StatusOr<bool> HoldSolutions(const std::string& path,
                                   const TrainDataOptions& options) {
  if (!TrainsReward(options.kind) || !HoldsLabelledSteps(path)) return false;
  if (options.kind != ExampleKind::kSteps) {
    return absl::InvalidArgumentError(absl::StrCat(
        path,
        ": holds solutions with labelled steps, but this objective learns from "
        "pairs of steps; train on it with --objective bce or mse"));
  }
  for (const std::string& one : options.more_databases) {
    if (HoldsLabelledSteps(one)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        one, ": holds no solutions with labelled steps, but ", path,
        " does; several names in --data must be of one kind"));
  }
  return true;
}

}  // namespace

// A head without labels would stay random, and one with a single value would
// give it everywhere.
absl::Status CheckLabels(const std::string& path, const TrainData& data) {
  for (const LevelSet output : data.outputs) {
    const Level level = output.first();
    float least = 2, most = -1;
    for (const SequenceGroup& group : data.groups) {
      for (const GroupSequence& g : group) {
        for (const float label : g.sequence.labels[level]) {
          if (std::isnan(label)) continue;
          least = std::min(least, label);
          most = std::max(most, label);
        }
      }
    }
    const absl::string_view name = AbslView(kLevelNames[IndexOf(level)]);
    if (most < 0) {
      return absl::FailedPreconditionError(absl::StrCat(
          path, ": no labels for the level ", name,
          ", so its head would stay random; leave it out of --levels, or train "
          "on lines with its labels: \"levels\": {\"",
          name, "\": [1, 0]}"));
    }
    // Of path, the reader of databases says more.
    if (least == most && (level != Level::kPath || data.published)) {
      return absl::FailedPreconditionError(
          absl::StrCat(path, ": every label of the level ", name, " is ", most,
                       ", so nothing tells a right step from a wrong one; "
                       "leave it out of --levels, or search other problems"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<TrainData> LoadTrainData(const std::string& path,
                                        const TrainDataOptions& options,
                                        const Tokenizer& tokenizer,
                                        int32_t end_token, FilterLog& log) {
  ExampleCollector collector(options, tokenizer, end_token, log);
  const bool database = IsDatabase(path);
  ESP_ASSIGN_OR_RETURN(const bool published, HoldSolutions(path, options));
  if (!published && (!options.prompt.empty() || options.task != "qa")) {
    return absl::InvalidArgumentError(absl::StrCat(
        path,
        ": --task and --prompt say how the questions of solutions with "
        "labelled steps are put, and this file holds none; a run database "
        "names its own, and lines hold their prompts"));
  }
  if (options.consensus && (!database || options.kind != ExampleKind::kSteps)) {
    return absl::InvalidArgumentError(absl::StrCat(
        path,
        ": --consensus compares outcomes with the task's verifier of steps, so "
        "it needs a run database and --objective bce or mse; leave it out"));
  }
  if (options.compress && (!database || options.kind != ExampleKind::kSteps ||
                           !options.levels.has(Level::kWindow2))) {
    return absl::InvalidArgumentError(absl::StrCat(
        path,
        ": --compress makes windows of two steps from trees, so it needs a run "
        "database, --objective bce or mse, and window2 among --levels; leave "
        "it out"));
  }
  if (database) {
    ESP_RETURN_IF_ERROR(FromDatabase(path, options, log, collector));
  } else if (published) {
    ESP_RETURN_IF_ERROR(AddSolutions(path, options, log, collector));
    for (const std::string& more : options.more_databases) {
      ESP_RETURN_IF_ERROR(AddSolutions(more, options, log, collector));
    }
  } else if (!options.more_databases.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        path,
        ": this is neither a run database nor a file of solutions with "
        "labelled steps; several names in --data must all be of one of these, "
        "and JSON lines a single file"));
  } else {
    ESP_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
    ESP_RETURN_IF_ERROR(AddLines(path, text, options, log, collector));
  }
  TrainData data = collector.Take();
  data.published = published;
  if (options.kind == ExampleKind::kSteps) {
    data.outputs = OutputsOf(options, database);
  } else if (options.kind == ExampleKind::kStepPairs) {
    data.outputs = {Level::kPath};
  }
  const bool unlabelled = std::any_of(
      log.counts().begin(), log.counts().end(), [](const FilterCount& count) {
        return count.name == kTeachesFilter && count.in > 0 && count.out == 0;
      });
  if ((unlabelled && options.levels != Level::kPath) ||
      (published && data.groups.empty())) {
    ESP_RETURN_IF_ERROR(CheckLabels(path, data));
  }
  if (data.groups.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(path,
                     ": nothing is left to train on. What the filters "
                     "did:\n",
                     log.Text()));
  }
  if (options.kind == ExampleKind::kSteps) {
    ESP_RETURN_IF_ERROR(CheckLabels(path, data));
  }
  if (published) JoinSameLevels(data);
  return data;
}

uint64_t HashTrainData(const TrainData& data) {
  uint64_t hash = data.groups.size();
  const auto mix = [&](float value) {
    hash = MixHash(hash, std::isnan(value) ? ~uint64_t{0}
                                           : std::bit_cast<uint32_t>(value));
  };
  for (const SequenceGroup& group : data.groups) {
    hash = MixHash(hash, group.size());
    for (const GroupSequence& g : group) {
      mix(g.advantage);
      for (const float advantage : g.advantages) mix(advantage);
      for (const float logprob : g.old_logprobs) mix(logprob);
      const TrainSequence& s = g.sequence;
      for (size_t i = 0; i < s.tokens.size(); ++i) {
        hash = MixHash(hash, static_cast<uint64_t>(s.tokens[i]));
        mix(s.lm_weight[i]);
        mix(s.labels[Level::kStep][i]);
        mix(s.labels[Level::kPath][i]);
        for (size_t l = IndexOf(Level::kOutcome); l < kLevels; ++l) {
          if (!s.labels.of[l].empty()) mix(s.labels.of[l][i]);
        }
      }
    }
  }
  return hash;
}

}  // namespace espalier
