#include "src/learn/labelled_solutions.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "datasets/sets/labelled_steps.h"
#include "datasets/sets/problem_set.h"
#include "models/prompt/encode_prompt.h"
#include "src/engine/prompted_task.h"
#include "src/engine/score_solutions.h"
#include "src/trace/labels/contamination.h"

namespace espalier {
namespace {

bool AnyLabel(const TrainDataOptions& options, const LevelLabels& labels) {
  for (size_t l = 0; l < kLevels; ++l) {
    if (options.levels.has(static_cast<Level>(l)) && !std::isnan(labels[l])) {
      return true;
    }
  }
  return false;
}

// Drops the steps after the last one with a label of a wanted level.
void DropUnlabelled(const TrainDataOptions& options,
                    std::vector<std::string>& steps,
                    std::vector<LevelLabels>& labels) {
  while (!labels.empty() && !AnyLabel(options, labels.back())) {
    labels.pop_back();
  }
  steps.resize(labels.size());
}

absl::Status AddPrompted(const Task& task, const Problem& problem,
                         absl::Span<const std::string> steps,
                         absl::Span<const LevelLabels> labels,
                         ExampleCollector& collector) {
  const Tokenizer& tokenizer = collector.tokenizer();
  ESP_ASSIGN_OR_RETURN(const std::string prompt, task.Render(problem));
  ESP_ASSIGN_OR_RETURN(
      const std::vector<int32_t> begin,
      EncodePrompt(tokenizer, prompt, task.format().control_tokens));
  std::vector<std::vector<int32_t>> tokens;
  for (const std::string& step : steps) {
    ESP_ASSIGN_OR_RETURN(
        tokens.emplace_back(),
        tokenizer.EncodeContinuation(EndedStep(step, task.format().delimiter)));
  }
  collector.Begin(begin);
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].empty()) continue;
    collector.Add(tokens[i], false);
    collector.Label(labels[i]);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status AddLaidOut(const StepLayout& layout, const std::string& question,
                        absl::Span<const std::string> steps,
                        absl::Span<const LevelLabels> labels,
                        ExampleCollector& collector) {
  std::vector<std::string> path;
  // Of what stands before the first step, then of the path up to each step.
  std::vector<std::vector<int32_t>> ids;
  std::vector<LevelLabels> of;
  ESP_ASSIGN_OR_RETURN(ids.emplace_back(), layout.Before(question));
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].find_first_not_of(" \t\r\n\v\f") == std::string::npos) {
      continue;
    }
    path.push_back(steps[i]);
    ESP_ASSIGN_OR_RETURN(LaidOutPath laid, layout.Lay(question, path));
    const std::vector<int32_t>& before = ids.back();
    if (laid.ids.size() <= before.size() ||
        !std::equal(before.begin(), before.end(), laid.ids.begin())) {
      return absl::InvalidArgumentError(
          absl::StrCat("step ", i + 1,
                       ": its tokens do not go on from those of the step "
                       "before it, so no one sequence holds all labels"));
    }
    ids.push_back(std::move(laid.ids));
    of.push_back(labels[i]);
  }
  collector.Begin(ids[0]);
  for (size_t i = 0; i < of.size(); ++i) {
    collector.Add(absl::MakeConstSpan(ids[i + 1]).subspan(ids[i].size()),
                  false);
    collector.Label(of[i]);
  }
  return absl::OkStatus();
}

absl::Status AddSolutions(const std::string& path,
                          const TrainDataOptions& options, FilterLog& log,
                          ExampleCollector& collector) {
  ESP_ASSIGN_OR_RETURN(const auto reader, StepSetReader::Open(path, {}));
  ESP_ASSIGN_OR_RETURN(const PromptedTask put,
                       PutTaskBy(options.task, options.prompt));
  std::optional<EvaluationQuestions> evaluation;
  if (!options.contamination.off) {
    const auto& sets = options.contamination.eval_sets;
    ESP_ASSIGN_OR_RETURN(
        evaluation, EvaluationQuestions::Load(sets.empty() ? SetNames() : sets,
                                              options.contamination));
  }
  absl::Status refused;  // the first one
  bool any = false;
  while (true) {
    ESP_ASSIGN_OR_RETURN(std::optional<LabelledSolution> solution,
                         reader->Next());
    if (!solution) break;
    if (evaluation) {
      const bool held = evaluation->Hold(solution->problem);
      log.Count(evaluation->FilterName("solutions"), 1, !held);
      if (held) continue;
    }
    std::vector<LevelLabels> labels = LabelsOfSolution(*solution);
    DropUnlabelled(options, solution->steps, labels);
    const bool labelled = !labels.empty();
    log.Count("solutions with labels of the levels", 1, labelled);
    if (!labelled) continue;
    const absl::Status added =
        options.layout != nullptr
            ? AddLaidOut(*options.layout, solution->problem, solution->steps,
                         labels, collector)
            : AddPrompted(*put.task,
                          {.id = solution->id, .question = solution->problem},
                          solution->steps, labels, collector);
    log.Count("solutions that a search could judge", 1, added.ok());
    if (!added.ok()) {
      refused.Update(absl::Status(
          added.code(), absl::StrCat(solution->place, ": ", added.message())));
      continue;
    }
    any = true;
    collector.EndGroup(solution->place);
  }
  if (!any) ESP_RETURN_IF_ERROR(refused);
  const ReadReport& report = reader->report();
  log.Count(absl::StrCat("records of ", report.kind, " that can be read"),
            report.read + report.skipped, report.read);
  return absl::OkStatus();
}

}  // namespace espalier
