#include "tools/espalier/replay_samples.h"

#include <array>
#include <cmath>
#include <fstream>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "datasets/sets/record_reader.h"
#include "datasets/sets/set_kind.h"
#include "nlohmann/json.hpp"
#include "search/tree/score_rule.h"
#include "src/trace/labels/examples.h"
#include "src/trace/run_db.h"
#include "tools/espalier/step_scores.h"

namespace espalier {
namespace {

bool IsDatabase(const std::string& path) {
  constexpr std::string_view kMagic = "SQLite format 3";
  std::array<char, kMagic.size()> begin{};
  std::ifstream file(path, std::ios::binary);
  file.read(begin.data(), begin.size());
  return std::string_view(begin.data(), begin.size()) == kMagic;
}

absl::Status ReplayError(const Record& record, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat(
      record.place, ": ", what,
      "; expected {\"id\": ..., \"answer\": ..., \"correct\": true or false, "
      "\"scores\": [one number per step]}, or \"question\" and \"steps\" for a "
      "reward model"));
}

absl::StatusOr<GivenSolution> TextsOf(const Record& record) {
  GivenSolution out{.question = ColumnText(record.fields, "question")};
  if (out.question.empty()) return ReplayError(record, "no \"question\"");
  const nlohmann::json* steps = FindColumn(record.fields, "steps");
  if (steps == nullptr || !steps->is_array() || steps->empty()) {
    return ReplayError(record, "\"steps\" is no list of texts");
  }
  for (const nlohmann::json& step : *steps) {
    if (!step.is_string()) return ReplayError(record, "a step is not text");
    out.steps.push_back(step.get<std::string>());
  }
  return out;
}

absl::StatusOr<RecordedSamples> ReadLines(const std::string& path,
                                          const SampleSource& source) {
  ESP_ASSIGN_OR_RETURN(const auto reader, RecordReader::Open(path));
  RecordedSamples out;
  absl::flat_hash_map<std::string, size_t> known;
  while (true) {
    ESP_ASSIGN_OR_RETURN(const std::optional<Record> record, reader->Next());
    if (!record) break;
    const std::string id = ColumnText(record->fields, "id");
    if (id.empty()) return ReplayError(*record, "no \"id\" of a question");
    const nlohmann::json* correct = FindColumn(record->fields, "correct");
    if (correct == nullptr || !correct->is_boolean()) {
      return ReplayError(*record, "\"correct\" is neither true nor false");
    }
    if (FindColumn(record->fields, "answer") == nullptr) {
      return ReplayError(*record, "no \"answer\"");
    }
    ReplaySample sample{.answer = ColumnText(record->fields, "answer"),
                        .correct = correct->get<bool>()};
    std::optional<GivenSolution> texts;
    if (source.texts) {
      ESP_ASSIGN_OR_RETURN(texts, TextsOf(*record));
    } else {
      const nlohmann::json* scores = FindColumn(record->fields, "scores");
      if (scores == nullptr) return ReplayError(*record, "no \"scores\"");
      ESP_ASSIGN_OR_RETURN(
          sample.scores,
          ScoreList(*scores, absl::StrCat(record->place, ": \"scores\"")));
    }
    const auto [at, is_new] = known.emplace(id, out.problems.size());
    if (is_new) {
      out.problems.push_back({.id = id});
      out.texts.emplace_back();
    }
    out.problems[at->second].samples.push_back(std::move(sample));
    if (texts) out.texts[at->second].push_back(*std::move(texts));
  }
  if (out.problems.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": expected recorded responses, found none"));
  }
  return out;
}

// The levels that any node has scores of.
LevelSet LevelsOf(const StoredTree& tree) {
  LevelSet levels;
  for (const StoredNode& node : tree.nodes) {
    const StepScores scores = ScoresOf(node);
    for (size_t l = 0; l < kLevels; ++l) {
      const auto level = static_cast<Level>(l);
      if (!std::isnan(scores[level])) levels = levels | level;
    }
  }
  return levels;
}

std::string MissingLevel(Level level, LevelSet levels) {
  return absl::StrCat("has no scores of the level ",
                      AbslView(kLevelNames[IndexOf(level)]), ", but of ",
                      LevelNames(levels), " (--level)");
}

// The response that ends in `node`.
absl::StatusOr<ReplaySample> SampleOf(const StoredTree& tree, size_t node,
                                      const SampleSource& source,
                                      const std::string& problem) {
  const StoredNode& end = tree.nodes[node];
  ReplaySample sample{.correct = end.verdict == NodeVerdict::kCorrect};
  if (end.answer >= 0) {
    sample.answer = tree.answers[static_cast<size_t>(end.answer)];
  }
  if (source.texts) return sample;
  for (const size_t id : tree.Path(node)) {
    const StoredNode& step = tree.nodes[id];
    const Level level = source.level.value_or(Level::kStep);
    const float score = ScoresOf(step)[level];
    if (std::isnan(score)) {
      const LevelSet levels = LevelsOf(tree);
      return absl::FailedPreconditionError(absl::StrCat(
          "problem ", problem, ": the recorded search ",
          levels.empty()      ? std::string("scored no steps")
          : levels.has(level) ? std::string("did not score every step")
                              : MissingLevel(level, levels),
          "; name a reward model by --reward-model"));
    }
    sample.scores.push_back(score);
  }
  return sample;
}

absl::StatusOr<RecordedSamples> ReadDatabase(const std::string& path,
                                             const SampleSource& source) {
  ESP_ASSIGN_OR_RETURN(const auto db, RunDb::Open(path, Sqlite::kRead));
  ESP_ASSIGN_OR_RETURN(const std::vector<ProblemTrees> all,
                       TreesByProblem(*db, source.run));
  RecordedSamples out;
  for (const ProblemTrees& entry : all) {
    if (!out.task.empty() && entry.task != out.task) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": holds problems of the tasks ", out.task,
                       " and ", entry.task, "; measure one run by --run N"));
    }
    out.task = entry.task;
    ReplayProblem problem{.id = entry.problem.problem.id};
    std::vector<GivenSolution> texts;
    for (const StoredTree& tree : entry.trees) {
      for (size_t node = 1; node < tree.nodes.size(); ++node) {
        if (!tree.nodes[node].terminal()) continue;
        if (tree.nodes[node].verdict == NodeVerdict::kNotAsked) {
          ++out.not_graded;
          continue;
        }
        ESP_ASSIGN_OR_RETURN(const ReplaySample sample,
                             SampleOf(tree, node, source, problem.id));
        GivenSolution text{.question = entry.problem.problem.question};
        for (const size_t id : tree.Path(node)) {
          text.steps.emplace_back(tree.Text(id));
        }
        // Equal samples are one node.
        for (uint32_t i = 0; i < std::max(1u, tree.nodes[node].draws); ++i) {
          problem.samples.push_back(sample);
          if (source.texts) texts.push_back(text);
        }
      }
    }
    out.problems.push_back(std::move(problem));
    out.texts.push_back(std::move(texts));
  }
  if (out.problems.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        path, ": no search has ended yet, so there is nothing to measure"));
  }
  return out;
}

}  // namespace

absl::StatusOr<RecordedSamples> ReadSamplesFile(const std::string& path,
                                                const SampleSource& source) {
  if (IsDatabase(path)) return ReadDatabase(path, source);
  for (const auto& [flag, given] :
       {std::pair("--run", source.run != 0),
        std::pair("--level", source.level && !source.texts)}) {
    if (given) {
      return absl::InvalidArgumentError(absl::StrCat(
          path, ": ", flag, " is for a run database, and this is none"));
    }
  }
  return ReadLines(path, source);
}

}  // namespace espalier
