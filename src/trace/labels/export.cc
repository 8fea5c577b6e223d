#include "src/trace/labels/export.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/json_text.h"
#include "base/status_macros.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

using Json = nlohmann::ordered_json;

std::string Line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json Message(const char* role, const std::string& content) {
  return {{"role", role}, {"content", content}};
}

// The user's question, then what the assistant has said so far.
Json Conversation(const std::string& question, const std::string& said) {
  Json messages = Json::array({Message("user", question)});
  if (!said.empty()) messages.push_back(Message("assistant", said));
  return messages;
}

// Prompts of problems, each rendered once.
class Prompts {
 public:
  Prompts(const std::vector<ProblemTrees>& trees, const Task& task)
      : trees_(trees), task_(task) {}
  absl::StatusOr<std::string> Of(size_t problem) {
    if (problem != last_ || text_.empty()) {
      ESP_ASSIGN_OR_RETURN(text_,
                           task_.Render(trees_[problem].problem.problem));
      last_ = problem;
    }
    return text_;
  }
  const std::string& Question(size_t problem) const {
    return trees_[problem].problem.problem.question;
  }

 private:
  const std::vector<ProblemTrees>& trees_;
  const Task& task_;
  size_t last_ = 0;
  std::string text_;
};

}  // namespace

absl::StatusOr<std::string> PathLines(const std::vector<ProblemTrees>& trees,
                                      const std::vector<PathExample>& examples,
                                      const Task& task, bool messages) {
  Prompts prompts(trees, task);
  std::string out;
  for (const PathExample& example : examples) {
    ESP_ASSIGN_OR_RETURN(const std::string prompt, prompts.Of(example.problem));
    std::string before;
    for (size_t i = 0; i < example.steps.size();) {
      if (!example.train[i]) {
        before += example.steps[i++];
        continue;
      }
      std::string run;
      while (i < example.steps.size() && example.train[i]) {
        run += example.steps[i++];
      }
      if (!messages) {
        out += Line({{"prompt", prompt + before}, {"completion", run}});
      } else if (before.empty()) {
        Json all = Conversation(prompts.Question(example.problem), run);
        out += Line({{"messages", std::move(all)}});
      } else {
        out += Line({{"prompt",
                      Conversation(prompts.Question(example.problem), before)},
                     {"completion", Json::array({Message("assistant", run)})}});
      }
      before += run;
    }
  }
  return out;
}

absl::StatusOr<std::string> PairLines(const std::vector<ProblemTrees>& trees,
                                      const std::vector<PairExample>& examples,
                                      const Task& task, bool messages) {
  Prompts prompts(trees, task);
  std::string out;
  for (const PairExample& pair : examples) {
    ESP_ASSIGN_OR_RETURN(const std::string prompt, prompts.Of(pair.problem));
    Json line;
    if (messages) {
      line = {
          {"prompt", Conversation(prompts.Question(pair.problem), pair.prefix)},
          {"chosen", Json::array({Message("assistant", pair.chosen)})},
          {"rejected", Json::array({Message("assistant", pair.rejected)})}};
    } else {
      line = {{"prompt", prompt + pair.prefix},
              {"chosen", pair.chosen},
              {"rejected", pair.rejected}};
    }
    line["chosen_value"] = pair.chosen_value;
    line["rejected_value"] = pair.rejected_value;
    line["weight"] = pair.weight;
    out += Line(line);
  }
  return out;
}

namespace {

// By level: one score per step from `first` on. Levels that no step has are
// left out.
Json ScoreColumns(const StepExample& example, size_t first) {
  Json out = Json::object();
  for (size_t l = 0; l < kLevels; ++l) {
    Json column = Json::array();
    bool any = false;
    for (size_t i = first; i < example.scores.size(); ++i) {
      const float score = example.scores[i][static_cast<Level>(l)];
      any |= !std::isnan(score);
      column.push_back(std::isnan(score) ? Json() : Json(score));
    }
    if (any) out[std::string(kLevelNames[l])] = std::move(column);
  }
  return out;
}

}  // namespace

absl::StatusOr<std::string> StepLines(const std::vector<ProblemTrees>& trees,
                                      const std::vector<StepExample>& examples,
                                      const Task& task, bool openrlhf,
                                      float threshold) {
  Prompts prompts(trees, task);
  std::string out;
  for (const StepExample& example : examples) {
    ESP_ASSIGN_OR_RETURN(std::string prompt, prompts.Of(example.problem));
    // Steps whose labels count in another line are part of the prompt.
    size_t first = 0;
    while (first < example.steps.size() && !example.counts[first]) {
      prompt += example.steps[first++];
    }
    const auto skip = static_cast<std::ptrdiff_t>(first);
    const std::vector<std::string> steps(example.steps.begin() + skip,
                                         example.steps.end());
    const std::vector<float> values(example.values.begin() + skip,
                                    example.values.end());
    if (openrlhf) {
      std::string input = prompt;
      for (const std::string& step : steps) {
        // The placeholder ends the line, as in Math-Shepherd's data.
        const size_t end = step.find_last_not_of('\n') + 1;
        absl::StrAppend(&input, step.substr(0, end), " ", kStepPlaceholder,
                        "\n");
      }
      out += Line({{"input", input}, {"label", values}});
      continue;
    }
    const auto of = [&](const std::vector<uint32_t>& counts) {
      return std::vector<uint32_t>(counts.begin() + skip, counts.end());
    };
    Json labels = Json::array();
    for (const float value : values) labels.push_back(value > threshold);
    Json line = {{"prompt", prompt},
                 {"completions", steps},
                 {"labels", std::move(labels)},
                 {"values", values},
                 {"correct", of(example.correct)},
                 {"finished", of(example.finished)}};
    Json scores = ScoreColumns(example, first);
    if (!scores.empty()) line["scores"] = std::move(scores);
    out += Line(line);
  }
  return out;
}

}  // namespace espalier
