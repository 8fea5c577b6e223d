#include "src/learn/self_reward.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "models/reward/reward_format.h"

namespace espalier {
namespace {

// Self-rewards that vary less within a group say nothing (the authors'
// self_rewarding_advantages_filtering_threshold).
constexpr double kLeastDeviation = 0.1;

// A response: its sequence and the index of its problem.
struct Response {
  GroupSequence* sequence = nullptr;
  int problem = 0;
  double logprob = 0;  // NaN: too long to be judged
};

std::vector<Response> Responses(const std::vector<double>& logprobs,
                                TrainData& data) {
  std::vector<Response> out;
  for (size_t i = 0; i < data.groups.size(); ++i) {
    for (GroupSequence& g : data.groups[i]) {
      out.push_back({&g, data.problems[i], logprobs[out.size()]});
    }
  }
  ESP_CHECK(out.size() == logprobs.size());
  return out;
}

// Mixes s - its mean into the advantages of one problem's responses.
void Mix(double mix, const std::vector<Response>& group,
         const std::vector<double>& scores) {
  const auto n = static_cast<double>(scores.size());
  if (scores.size() < 2) return;
  double mean = 0, squares = 0;
  for (const double s : scores) mean += s / n;
  for (const double s : scores) squares += (s - mean) * (s - mean);
  if (std::sqrt(squares / (n - 1)) <= kLeastDeviation) return;
  for (size_t i = 0; i < group.size(); ++i) {
    const double own = mix * (scores[i] - mean);
    const auto mixed = [&](float advantage) {
      return static_cast<float>((1 - mix) * static_cast<double>(advantage) +
                                own);
    };
    GroupSequence& g = *group[i].sequence;
    g.advantage = mixed(g.advantage);
    for (float& advantage : g.advantages) advantage = mixed(advantage);
  }
}

}  // namespace

absl::StatusOr<int32_t> FindSelfRewardToken(const SelfRewardOptions& options,
                                            const Tokenizer& tokenizer,
                                            int32_t end_token) {
  const auto bad = [&](const std::string& what) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--self-reward \"", absl::CHexEscape(options.token), "\": ", what));
  };
  if (end_token < 0) {
    return bad(
        "stands after the end token, and config.json has no eos_token_id");
  }
  int32_t id = tokenizer.TokenId(options.token);
  if (id < 0 || !tokenizer.TokenBytes(id).empty()) {
    ESP_ASSIGN_OR_RETURN(const std::vector<int32_t> ids,
                         tokenizer.EncodeContinuation(options.token));
    if (ids.size() != 1) {
      return bad(
          absl::StrCat("expected one token of the model's tokenizer, "
                       "found ",
                       ids.size(), "; name a token of tokenizer.json"));
    }
    id = ids[0];
  }
  if (id == end_token) return bad("ends responses; name another token");
  return id;
}

absl::Status TakeStoredBase(const std::string& model,
                            SelfRewardOptions& options) {
  const std::string path = absl::StrCat(model, "/", kSelfRewardFile);
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return absl::OkStatus();
  if (!std::filesystem::is_regular_file(path, error)) {
    return absl::InvalidArgumentError(absl::StrCat(
        path,
        ": is not a file; expected what train policy --self-reward "
        "writes there"));
  }
  ESP_ASSIGN_OR_RETURN(const RewardFormat stored, ReadRewardFormat(path));
  if (stored.choices != std::vector<std::string>{options.token} ||
      stored.log_prob != options.factor) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: the model's self-rewards have another token or factor; expected "
        "--self-reward \"%s\" and --self-reward-factor %g",
        path, stored.choices.empty() ? "" : absl::CHexEscape(stored.choices[0]),
        stored.log_prob));
  }
  if (options.base == 0) options.base = stored.log_prob_base;
  return absl::OkStatus();
}

absl::Status AppendSelfRewards(int32_t token, int32_t end_token,
                               int context_length, TrainData& data) {
  bool any = false;
  for (SequenceGroup& group : data.groups) {
    for (GroupSequence& g : group) {
      TrainSequence& s = g.sequence;
      const bool ends = s.tokens.back() == end_token;
      const size_t size = s.tokens.size() + (ends ? 1 : 2);
      if (size > static_cast<size_t>(context_length)) continue;
      // The task may have ended the response before the policy did.
      if (!ends) s.Append({end_token}, 0);
      s.Append({token}, 1);
      g.self_reward.emplace();
      any = true;
      for (std::vector<float>* column :
           {&g.advantages, &g.old_logprobs, &g.reference}) {
        if (!column->empty()) column->resize(size, 0);
      }
    }
  }
  if (any) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "--self-reward: every response fills the model's context, and it is read "
      "behind its end; search with a smaller budget");
}

double SetSelfRewards(const SelfRewardOptions& options,
                      const std::vector<double>& logprobs, TrainData& data) {
  const std::vector<Response> responses = Responses(logprobs, data);
  double base = 0, judged = 0, right = 0, tokens = 0;
  for (const Response& r : responses) {
    for (const float weight : r.sequence->sequence.lm_weight) {
      tokens += weight != 0;
    }
    if (!r.sequence->self_reward) continue;
    --tokens;
    ++judged;
    right += r.sequence->outcome > 0.5f;
    base += r.logprob;
  }
  ESP_CHECK(judged > 0);
  base = options.base != 0 ? options.base : base / judged;
  // The batch's loss is divided by its tokens, the self-rewards' by responses.
  const double per_response = tokens / static_cast<double>(responses.size());
  std::map<int, std::pair<std::vector<Response>, std::vector<double>>> groups;
  for (const Response& r : responses) {
    auto& [members, scores] = groups[r.problem];
    members.push_back(r);
    const bool unjudged = !r.sequence->self_reward;
    scores.push_back(
        unjudged ? 0
                 : std::clamp(options.factor * (r.logprob - base), 0.0, 1.0));
    if (unjudged) continue;
    const bool correct = r.sequence->outcome > 0.5f;
    const double same = correct ? right : judged - right;
    *r.sequence->self_reward = {
        .factor = options.factor,
        .base = base,
        .target = correct ? 1.0 : 0.0,
        .weight = options.weight * per_response * judged / (2 * same)};
  }
  for (const auto& [problem, group] : groups) {
    Mix(options.mix, group.first, group.second);
  }
  return base;
}

std::string SelfRewardFormat(const SelfRewardOptions& options, double base) {
  return absl::StrFormat(
      "# How this model judges its own responses: --reward-model this folder\n"
      "# --reward-format this file.\n"
      "summary: \"the policy's own reward after its response\"\n"
      "source: \"espalier train policy --self-reward\"\n"
      "only_by_name: true\n"
      "layout: TEXT\n"
      "unit: RESPONSE\n"
      "prompt: true\n"
      "as_written: true\n"
      "read: END\n"
      "choice: \"%s\"\n"
      "log_prob: %.17g\n"
      "log_prob_base: %.17g\n"
      "squash: NONE\n"
      "range: PROBABILITY\n",
      absl::CHexEscape(options.token), options.factor, base);
}

}  // namespace espalier
