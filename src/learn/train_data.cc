#include "src/learn/train_data.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/files.h"
#include "base/json_text.h"
#include "base/parse_json.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "datasets/sets/problem_set.h"
#include "models/prompt/encode_prompt.h"
#include "nlohmann/json.hpp"
#include "search/tree/score_rule.h"
#include "src/engine/prompted_task.h"
#include "src/trace/labels/level_targets.h"
#include "src/trace/labels/reference_of.h"
#include "src/trace/labels/tree_labels.h"
#include "src/trace/run_db.h"

namespace espalier {
namespace {

constexpr float kNoLabel = std::numeric_limits<float>::quiet_NaN();
// Levels whose labels a verifier of steps gives.
constexpr Level kJudged[] = {Level::kStep, Level::kWindow2, Level::kWindow3,
                             Level::kWindow4};

constexpr char kTeachesFilter[] = "with something to learn";

// Both are the share of right ends below a step, so they are one head.
bool OutcomeIsPath(const TrainDataOptions& options) {
  return !options.steps.quality && options.levels.has(Level::kPath);
}

// True if any token is imitated or any step has a label.
bool Teaches(const TrainSequence& s) {
  for (size_t i = 0; i < s.tokens.size(); ++i) {
    if (s.lm_weight[i] > 0 || s.Labelled(i)) return true;
  }
  return false;
}

// Builds groups of sequences and keeps those that fit the context and have
// something to learn.
class Collector {
 public:
  Collector(const TrainDataOptions& options, const Tokenizer& tokenizer,
            int32_t end_token, FilterLog& log)
      : options_(options),
        tokenizer_(tokenizer),
        end_token_(end_token),
        log_(log) {}

  const Tokenizer& tokenizer() const { return tokenizer_; }

  // Starts a sequence of the group.
  void Begin(absl::Span<const int32_t> prompt, float advantage = 0) {
    prompt_.assign(prompt.begin(), prompt.end());
    GroupSequence& g = group_.emplace_back();
    g.advantage = advantage;
    g.sequence.Append(prompt, 0);
  }
  // Appends tokens; `value` labels the path at the last one.
  void Add(absl::Span<const int32_t> tokens, bool counts,
           float value = kNoLabel) {
    if (tokens.empty()) return;
    group_.back().sequence.Append(tokens, counts ? 1 : 0);
    Label(Level::kPath, value);
  }
  // Labels the last token that was added.
  void Label(Level level, float value) {
    if (!std::isnan(value)) {
      group_.back().sequence.LabelLast(level, value);
    }
  }
  // Appends the end token, if the last token counts and is not one already.
  void EndResponse() {
    TrainSequence& s = group_.back().sequence;
    if (end_token_ >= 0 && s.lm_weight.back() > 0 &&
        s.tokens.back() != end_token_) {
      s.Append({end_token_}, 1);
    }
  }
  // Of the last tokens, under the sampling policy.
  void OldLogprobs(absl::Span<const float> logprobs) {
    group_.back().old_logprobs = AtEnd(logprobs);
  }
  // Of the last tokens, in place of the response's; none: that one.
  void Advantages(absl::Span<const float> advantages) {
    if (!advantages.empty()) group_.back().advantages = AtEnd(advantages);
  }
  void EndGroup(std::string name) {
    SequenceGroup group = std::exchange(group_, {});
    bool fits = true, teaches = true;
    for (const GroupSequence& g : group) {
      fits = fits && (options_.context_length == 0 ||
                      g.sequence.tokens.size() <=
                          static_cast<size_t>(options_.context_length));
      teaches = teaches && Teaches(g.sequence);
    }
    log_.Count("not longer than the context", 1, fits);
    if (!fits) return;
    log_.Count(kTeachesFilter, 1, teaches);
    if (!teaches) return;
    data_.groups.push_back(std::move(group));
    data_.names.push_back(std::move(name));
    const auto number = static_cast<int>(problems_.size());
    data_.problems.push_back(
        problems_.try_emplace(prompt_, number).first->second);
  }
  // Drops the unfinished group.
  void DropGroup() { group_.clear(); }
  TrainData Take() { return std::move(data_); }

 private:
  // One per token: 0, and `values` at the end.
  std::vector<float> AtEnd(absl::Span<const float> values) const {
    std::vector<float> out(group_.back().sequence.tokens.size(), 0);
    std::copy(values.rbegin(), values.rend(), out.rbegin());
    return out;
  }
  const TrainDataOptions& options_;
  const Tokenizer& tokenizer_;
  const int32_t end_token_;
  FilterLog& log_;
  SequenceGroup group_;
  std::vector<int32_t> prompt_;
  std::map<std::vector<int32_t>, int> problems_;
  TrainData data_;
};

// The examples of a database, with the tokens as they were sampled.
class DatabaseReader {
 public:
  DatabaseReader(const std::string& path, const TrainDataOptions& options,
                 std::vector<ProblemTrees> trees, FilterLog& log,
                 Collector& collector)
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
        collector_.Add(*tokens, policy, policy ? kNoLabel : 1);
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
    for (const StepExample& example : examples) {
      ESP_ASSIGN_OR_RETURN(const auto prompt, Prompt(example.problem));
      ESP_ASSIGN_OR_RETURN(const std::vector<StepFact> facts, Judge(example));
      collector_.Begin(prompt);
      for (size_t i = 0; i < example.steps.size(); ++i) {
        collector_.Add(example.step_tokens[i], false);
        if (!example.counts[i] || example.step_tokens[i].empty()) continue;
        if (options_.levels.has(Level::kPath)) {
          collector_.Label(Level::kPath, example.values[i]);
        }
        if (options_.levels.has(Level::kOutcome) && !OutcomeIsPath(options_)) {
          collector_.Label(Level::kOutcome,
                           OutcomeCount{.correct = example.correct[i],
                                        .finished = example.finished[i]}
                               .share());
        }
        for (const Level level : kJudged) {
          if (!options_.levels.has(level) || facts.empty()) continue;
          collector_.Label(level, LevelTarget(level, facts, i));
        }
      }
      collector_.EndGroup(Name(example.problem));
    }
    return absl::OkStatus();
  }

  // One per step by the problem's verifier; none if no requested level needs
  // them, or if the steps are not the lines that it judges.
  absl::StatusOr<std::vector<StepFact>> Judge(const StepExample& example) {
    Level needed = Level::kPath;
    for (const Level level : kJudged) {
      if (options_.levels.has(level)) needed = level;
    }
    if (needed == Level::kPath) return std::vector<StepFact>();
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
          AbslView(kLevelNames[IndexOf(needed)]), ": the steps of task ",
          entry.task, " cannot be judged: ", verdicts.status().message(),
          "; train the levels path and outcome, which outcomes give, or lines "
          "that hold labels of steps"));
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
  Collector& collector_;
};

// The sampled tokens are meaningless for a model with another tokenizer.
absl::Status CheckTokenizer(RunDb& db, const TrainDataOptions& options) {
  if (options.tokenizer_hash.empty()) return absl::OkStatus();
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
                          Collector& collector) {
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

// A value in [0, 1], or a boolean label.
absl::StatusOr<float> ReadValue(const nlohmann::json& value) {
  if (value.is_boolean()) return value.get<bool>() ? 1.0f : 0.0f;
  if (value.is_number()) {
    const float number = value.get<float>();
    if (number >= 0 && number <= 1) return number;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("a step's value is ", value.dump(),
                   "; expected true, false or a number in [0, 1]"));
}

// JSON lines, encoded by the tokenizer.
class LineReader {
 public:
  LineReader(const TrainDataOptions& options, Collector& collector)
      : kind_(options.kind), levels_(options.levels), collector_(collector) {}

  absl::Status Read(const nlohmann::json& line) {
    if (line.contains("messages")) {
      return absl::InvalidArgumentError(
          "it holds messages, which need a chat template; export with --format "
          "plain");
    }
    switch (kind_) {
      case ExampleKind::kResponses:
        return Response(line);
      case ExampleKind::kGroups:
        return absl::InvalidArgumentError(
            "groups of responses with their log-probs can only be read from a "
            "run database");
      case ExampleKind::kPairs:
      case ExampleKind::kStepPairs:
        return Pair(line);
      case ExampleKind::kSteps:
        return Steps(line);
    }
    return absl::InternalError("an unknown kind of examples");
  }

 private:
  static absl::Status WantStrings(const nlohmann::json& line,
                                  absl::Span<const char* const> keys) {
    for (const char* key : keys) {
      if (line.contains(key) && line[key].is_string()) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          "expected the strings \"", absl::StrJoin(keys, "\", \""), "\""));
    }
    return absl::OkStatus();
  }
  absl::StatusOr<std::vector<int32_t>> Encode(const nlohmann::json& text) {
    return collector_.tokenizer().Encode(text.get<std::string>());
  }

  absl::Status Response(const nlohmann::json& line) {
    ESP_RETURN_IF_ERROR(WantStrings(line, {"prompt", "completion"}));
    ESP_ASSIGN_OR_RETURN(const auto prompt, Encode(line["prompt"]));
    ESP_ASSIGN_OR_RETURN(const auto completion, Encode(line["completion"]));
    collector_.Begin(prompt);
    collector_.Add(completion, true);
    collector_.EndResponse();
    return absl::OkStatus();
  }

  absl::Status Pair(const nlohmann::json& line) {
    ESP_RETURN_IF_ERROR(WantStrings(line, {"prompt", "chosen", "rejected"}));
    const bool policy = kind_ == ExampleKind::kPairs;
    ESP_ASSIGN_OR_RETURN(const float weight, Weight(line));
    ESP_ASSIGN_OR_RETURN(const auto prompt, Encode(line["prompt"]));
    for (const char* key : {"chosen", "rejected"}) {
      ESP_ASSIGN_OR_RETURN(const auto tokens, Encode(line[key]));
      if (tokens.empty()) {
        return absl::InvalidArgumentError(
            absl::StrCat("\"", key, "\" is empty"));
      }
      collector_.Begin(prompt, weight);
      collector_.Add(tokens, policy, policy ? kNoLabel : 1);
    }
    return absl::OkStatus();
  }

  static absl::StatusOr<float> Weight(const nlohmann::json& line) {
    if (!line.contains("weight")) return 1;
    const nlohmann::json& weight = line["weight"];
    if (weight.is_number() && weight.get<double>() > 0 &&
        weight.get<double>() < 1e30) {
      return weight.get<float>();
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "\"weight\" is ", JsonText(weight), "; expected a number above 0"));
  }

  // Refuses lines whose steps no search of ours cut: their labels would be at
  // other tokens than those where a search reads the reward.
  static absl::Status CheckCut(const nlohmann::json& line) {
    constexpr std::string_view kRemedy =
        "; espalier steps --set FILE --out LINES reads ProcessBench, PRM800K "
        "and Math-Shepherd and writes lines whose steps end where a search "
        "ends them";
    const auto published = [&](const char* first, const char* second) {
      return line.contains(first) && line.contains(second) &&
             !line.contains("completions");
    };
    if (published("input", "label") || published("steps", "label") ||
        published("question", "label")) {
      return absl::InvalidArgumentError(absl::StrCat(
          "this is a published format of solutions with labelled steps",
          AbslView(kRemedy)));
    }
    if (line.contains("values") || !line.contains("completions") ||
        !line["completions"].is_array()) {
      return absl::OkStatus();
    }
    for (const nlohmann::json& step : line["completions"]) {
      if (!step.is_string() || step.get<std::string>().ends_with('\n'))
        continue;
      return absl::InvalidArgumentError(
          absl::StrCat("the step ", JsonText(step).substr(0, 60),
                       " does not end with a line end, where a search asks for "
                       "the reward: espalier did not write this file",
                       AbslView(kRemedy),
                       "; otherwise end each step with \"\\n\" and format the "
                       "prompt as the task does"));
    }
    return absl::OkStatus();
  }

  absl::Status Steps(const nlohmann::json& line) {
    ESP_RETURN_IF_ERROR(CheckCut(line));
    const char* values = line.contains("values") ? "values" : "labels";
    if (!line.contains("prompt") || !line["prompt"].is_string() ||
        !line.contains("completions") || !line["completions"].is_array() ||
        !line.contains(values) || !line[values].is_array() ||
        line[values].size() != line["completions"].size()) {
      return absl::InvalidArgumentError(
          "expected \"prompt\", \"completions\" and as many \"values\" or "
          "\"labels\"");
    }
    ESP_RETURN_IF_ERROR(CheckLevels(line, line["completions"].size()));
    ESP_ASSIGN_OR_RETURN(const auto prompt, Encode(line["prompt"]));
    collector_.Begin(prompt);
    for (size_t i = 0; i < line["completions"].size(); ++i) {
      const nlohmann::json& step = line["completions"][i];
      if (!step.is_string()) {
        return absl::InvalidArgumentError("a completion is not a string");
      }
      ESP_ASSIGN_OR_RETURN(const float value, ReadValue(line[values][i]));
      ESP_ASSIGN_OR_RETURN(
          const auto tokens,
          collector_.tokenizer().EncodeContinuation(step.get<std::string>()));
      collector_.Add(tokens, false,
                     levels_.has(Level::kPath) ? value : kNoLabel);
      if (!tokens.empty()) ESP_RETURN_IF_ERROR(LabelStep(line, i));
    }
    return absl::OkStatus();
  }

  // "levels": {"step": [1, null, 0]}, one entry per step.
  static absl::Status CheckLevels(const nlohmann::json& line, size_t steps) {
    const auto levels = line.find("levels");
    if (levels == line.end()) return absl::OkStatus();
    if (!levels->is_object()) {
      return absl::InvalidArgumentError(
          "\"levels\" is not an object of labels by level");
    }
    for (const auto& [name, labels] : levels->items()) {
      ESP_ASSIGN_OR_RETURN(const Level level, ParseLevel(name));
      if (level == Level::kPath) {
        return absl::InvalidArgumentError(
            "the labels of the level path are \"values\" or \"labels\"");
      }
      if (labels.is_array() && labels.size() == steps) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          "the level ", name, " does not have one label per step (", steps,
          "); null stands for none"));
    }
    return absl::OkStatus();
  }

  absl::Status LabelStep(const nlohmann::json& line, size_t step) {
    const auto levels = line.find("levels");
    if (levels == line.end()) return absl::OkStatus();
    for (const auto& [name, labels] : levels->items()) {
      ESP_ASSIGN_OR_RETURN(const Level level, ParseLevel(name));
      if (labels[step].is_null()) continue;
      ESP_ASSIGN_OR_RETURN(const float label, ReadValue(labels[step]));
      if (levels_.has(level)) collector_.Label(level, label);
    }
    return absl::OkStatus();
  }

  const ExampleKind kind_;
  const LevelSet levels_;
  Collector& collector_;
};

// The questions that lines are checked against: a line does not say which set
// it comes from.
absl::StatusOr<EvaluationQuestions> EvaluationOfLines(
    const ContaminationOptions& options) {
  return EvaluationQuestions::Load(
      options.eval_sets.empty() ? SetNames() : options.eval_sets, options);
}

absl::Status FromLines(const std::string& path, const std::string& text,
                       const TrainDataOptions& options, FilterLog& log,
                       Collector& collector) {
  // Built after the first line, so that a file of another kind is refused at
  // once.
  std::optional<EvaluationQuestions> evaluation;
  LineReader reader(options, collector);
  int64_t number = 0, lines = 0;
  for (const absl::string_view raw : absl::StrSplit(text, '\n')) {
    ++number;
    if (raw.find_first_not_of(" \t\r") == absl::string_view::npos) continue;
    ++lines;
    const std::string place = absl::StrCat(path, ":", number);
    nlohmann::json line;
    const JsonOutcome outcome =
        ReadJson(std::string_view(raw.data(), raw.size()), {}, line);
    if (!line.is_object()) {
      return absl::InvalidArgumentError(absl::StrCat(
          place, ": expected a JSON object on each line",
          outcome.what.empty() ? "" : absl::StrCat("; ", outcome.what)));
    }
    const absl::Status status = reader.Read(line);
    if (!status.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(place, ": ", status.message()));
    }
    if (!options.contamination.off) {
      if (!evaluation) {
        ESP_ASSIGN_OR_RETURN(evaluation,
                             EvaluationOfLines(options.contamination));
      }
      const bool held =
          evaluation->HoldPrompt(line["prompt"].get<std::string>());
      log.Count(evaluation->FilterName("lines"), 1, !held);
      if (held) {
        collector.DropGroup();
        continue;
      }
    }
    collector.EndGroup(place);
  }
  if (lines > 0) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      path,
      ": is empty, there is nothing to train on; expected a JSON object "
      "on each line, as espalier export writes them"));
}

}  // namespace

namespace {

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
          ", so its head would stay random; leave it out of --levels, or give "
          "each line its labels: \"levels\": {\"",
          name, "\": [1, 0]}"));
    }
    // Of path, the reader of databases says more.
    if (least == most && level != Level::kPath) {
      return absl::FailedPreconditionError(
          absl::StrCat(path, ": every label of the level ", name, " is ", most,
                       ", so nothing tells a right step from a wrong one; "
                       "leave it out of --levels, or search other problems"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TrainData> LoadTrainData(const std::string& path,
                                        const TrainDataOptions& options,
                                        const Tokenizer& tokenizer,
                                        int32_t end_token, FilterLog& log) {
  Collector collector(options, tokenizer, end_token, log);
  const bool database = IsDatabase(path);
  if (database) {
    ESP_RETURN_IF_ERROR(FromDatabase(path, options, log, collector));
  } else if (!options.more_databases.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        path,
        ": this is not a run database; several names in --data must all be run "
        "databases, and JSON lines a single file"));
  } else {
    ESP_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
    ESP_RETURN_IF_ERROR(FromLines(path, text, options, log, collector));
  }
  TrainData data = collector.Take();
  if (options.kind == ExampleKind::kSteps) {
    data.outputs = OutputsOf(options, database);
  } else if (options.kind == ExampleKind::kStepPairs) {
    data.outputs = {Level::kPath};
  }
  const bool unlabelled = std::any_of(
      log.counts().begin(), log.counts().end(), [](const FilterCount& count) {
        return count.name == kTeachesFilter && count.in > 0 && count.out == 0;
      });
  if (unlabelled && options.levels != Level::kPath) {
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
