#include "tests/models/testing/published_reward.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace espalier {
namespace {

using Steps = std::vector<std::string>;

std::string Join(const Steps& steps, const std::string& between) {
  std::string text;
  for (size_t i = 0; i < steps.size(); ++i) {
    text += (i == 0 ? "" : between) + steps[i];
  }
  return text;
}

// "Step 1: a" + end + "\nStep 2: b" + end
std::string Numbered(const Steps& steps, const std::string& end) {
  std::string text;
  for (size_t i = 0; i < steps.size(); ++i) {
    text += (i == 0 ? "Step " : "\nStep ") + std::to_string(i + 1) + ": " +
            steps[i] + end;
  }
  return text;
}

std::string Closed(const Steps& steps, const std::string& end) {
  return Join(steps, end) + end;
}

std::string LlamaTurn(const std::string& role, const std::string& text) {
  return "<|start_header_id|>" + role + "<|end_header_id|>\n\n" + text +
         "<|eot_id|>";
}

constexpr char kMathSystem[] =
    "<|im_start|>system\nPlease reason step by step, and put your final answer "
    "within \\boxed{}.<|im_end|>\n";

std::string ChatMlUser(const std::string& question) {
  return "<|im_start|>user\n" + question +
         "<|im_end|>\n<|im_start|>assistant\n";
}

double Logistic(double x) { return 1 / (1 + std::exp(-x)); }

}  // namespace

PublishedReward::PublishedReward(const std::string& name,
                                 const RewardCheckpoint& model)
    : name_(name),
      model_(model),
      tokenizer_(Tokenizer::Load(model.folder).value()),
      network_(model.plain) {}

bool PublishedReward::outcome() const {
  return name_ == "qwen_rm" || name_ == "rlhflow_orm" || name_ == "prorag" ||
         name_ == "laser" || name_.rfind("skywork_reward", 0) == 0;
}

bool PublishedReward::windows() const {
  return name_ == "hrm_window" || name_ == "hrm_soft";
}

std::vector<int32_t> PublishedReward::Encode(const std::string& text) const {
  return tokenizer_->Encode(text).value();
}

std::vector<int32_t> PublishedReward::Ids(const std::string& q,
                                          const Steps& steps) const {
  const auto whole = [&](const std::string& text) {
    return tokenizer_->Encode(text, /*parse_special=*/true).value();
  };
  const auto pieces = [&](bool bos, const Steps& texts) {
    std::vector<int32_t> ids;
    const int32_t begin = tokenizer_->marks().bos;
    if (bos && begin >= 0) ids.push_back(begin);
    for (const std::string& text : texts) {
      const std::vector<int32_t> more = Encode(text);
      ids.insert(ids.end(), more.begin(), more.end());
    }
    return ids;
  };
  const auto with_lines = [&](Steps texts) {
    for (const std::string& step : steps) {
      texts.push_back(step);
      texts.push_back("\n");
    }
    return texts;
  };
  const std::string text_begin = "<|begin_of_text|>";
  const std::string header =
      "<|start_header_id|>assistant<|end_header_id|>\n\n";
  if (name_ == "qwen_prm") {
    return whole(kMathSystem + ChatMlUser(q) + Closed(steps, "<extra_0>"));
  }
  if (name_ == "qwen_rm") {
    return whole(kMathSystem + ChatMlUser(q) + Join(steps, "\n") +
                 "<|im_end|>\n");
  }
  if (name_ == "skywork_prm") return pieces(true, with_lines({q + "\n"}));
  if (name_ == "trl") return pieces(true, with_lines({q}));
  if (name_ == "pure") return pieces(false, with_lines({q}));
  if (name_ == "math_shepherd") return Encode(q + " " + Numbered(steps, " ки"));
  if (name_ == "rlhflow") {
    std::string text = text_begin;
    for (size_t i = 0; i < steps.size(); ++i) {
      if (i > 0) text += LlamaTurn("assistant", "+");
      text += LlamaTurn("user", i == 0 ? q + " " + steps[0] : steps[i]);
    }
    return whole(text + header);
  }
  if (name_ == "rlhflow_orm") {
    return whole(text_begin + LlamaTurn("user", q + " " + Join(steps, "\n")) +
                 header);
  }
  if (name_ == "minos") {
    return Encode("Human: " + q + "\n\nAssistant:" + Numbered(steps, " и"));
  }
  if (name_ == "reasoneval") {
    Steps texts = {"Question:\n" + q +
                   "\nAnswer:\nLet's think step by step.\n"};
    texts.insert(texts.end(), steps.begin(), steps.end());
    return pieces(true, texts);
  }
  if (name_ == "math_psa") {
    std::string text = q + " ";
    for (size_t i = 0; i < steps.size(); ++i) {
      text += (i == 0 ? "Step " : " Step ") + std::to_string(i + 1) + ": " +
              steps[i] + " \n\n\n\n\n";
    }
    return Encode(text);
  }
  if (name_ == "llemma_prm") {
    // "\n\n" is two tokens, and the first one is read.
    return Encode("# Question\n\n" + q + "\n\n# Solution\n\n" +
                  Join(steps, "\n\n") + "\n");
  }
  if (name_ == "versa_prm") {
    return Encode(q + " \n\n" + Closed(steps, " \n\n\n\n"));
  }
  if (name_ == "skywork_reward_qwen3") {
    return whole(ChatMlUser(q) + "<think>\n\n</think>\n\n" + Join(steps, "\n") +
                 "<|im_end|>\n");
  }
  if (name_ == "skywork_reward_llama") {
    return whole(text_begin + LlamaTurn("user", q) +
                 LlamaTurn("assistant", Join(steps, "\n")));
  }
  if (name_.rfind("hrm", 0) == 0) {
    const size_t judged = windows() ? 2 : 1;
    const std::string start =
        "Question:\n" + q + "\n\nLet's break it down step by step!\n\n";
    const std::string focus = "Now, let's focus on the current step:\n";
    if (steps.size() <= judged) {
      return Encode(start + focus + Join(steps, "\n\n") + "\n");
    }
    const auto split = steps.end() - static_cast<std::ptrdiff_t>(judged);
    return Encode(start + "Previous reasoning:\n" +
                  Join(Steps(steps.begin(), split), "\n\n") + "\n\n" + focus +
                  Join(Steps(split, steps.end()), "\n\n"));
  }
  if (name_ == "laser") {
    std::vector<int32_t> ids = whole(q + Join(steps, ""));
    ids.push_back(1);  // eos_token_id in config.json
    return ids;
  }
  ESP_CHECK(name_ == "prorag");
  return whole(q + Join(steps, "") + "<|im_end|>");
}

// W x + b of the head's tensors `name`.weight and `name`.bias.
std::vector<double> PublishedReward::Head(const std::string& name,
                                          const std::vector<double>& x) const {
  const std::vector<float>& weight = model_.head.at(name + ".weight");
  std::vector<double> out(weight.size() / x.size());
  const auto bias = model_.head.find(name + ".bias");
  for (size_t r = 0; r < out.size(); ++r) {
    if (bias != model_.head.end()) out[r] = bias->second[r];
    for (size_t i = 0; i < x.size(); ++i) {
      out[r] += x[i] * weight[r * x.size() + i];
    }
  }
  return out;
}

double PublishedReward::Value(const std::string& question,
                              const Steps& steps) const {
  const std::vector<double> hidden =
      network_.Hidden(Ids(question, steps)).back();
  // The probability of the token `a` among `a` and `b`.
  const auto choose = [&](const std::string& a, const std::string& b) {
    const std::vector<double> logits = network_.Logits(hidden);
    const auto logit = [&](const std::string& text) {
      const std::vector<int32_t> ids = Encode(text);
      ESP_CHECK(ids.size() == 1);
      return logits[static_cast<size_t>(ids[0])];
    };
    return Logistic(logit(a) - logit(b));
  };
  if (name_ == "math_shepherd" || name_ == "math_psa")
    return choose(" +", " -");
  if (name_ == "rlhflow" || name_ == "rlhflow_orm" || name_ == "versa_prm") {
    return choose("+", "-");
  }
  if (name_ == "llemma_prm") {
    const std::vector<double> logits = network_.Logits(hidden);
    double sum = 0;
    for (const double logit : logits) sum += logit;
    return Logistic(sum / static_cast<double>(logits.size()));
  }
  if (name_ == "laser") {
    const std::vector<double> logits = network_.Logits(hidden);
    double sum = 0;
    for (const double logit : logits) sum += std::exp(logit);
    const int32_t token = tokenizer_->TokenId("<|vision_start|>");
    const double score =
        0.1 * (logits[static_cast<size_t>(token)] - std::log(sum) + 23);
    return std::fmin(std::fmax(score, 0), 1);
  }
  if (name_ == "skywork_prm")
    return Logistic(Head("v_head.summary", hidden)[0]);
  if (name_ == "qwen_prm" || name_ == "qwen_rm") {
    std::vector<double> inner = Head("score.0", hidden);
    for (double& x : inner) x = x > 0 ? x : 0;
    const std::vector<double> out = Head("score.2", inner);
    return name_ == "qwen_rm" ? out[0] : Logistic(out[1] - out[0]);
  }
  if (name_ == "reasoneval") {
    const std::vector<double> out = Head("score_head", hidden);
    const double wrong = std::exp(out[0]), fair = std::exp(out[1]),
                 right = std::exp(out[2]);
    return (fair + right) / (wrong + fair + right);
  }
  const std::vector<double> out = Head("score", hidden);
  if (name_ == "trl" || name_ == "hrm" || name_ == "hrm_window")
    return Logistic(out[1] - out[0]);
  if (name_ == "pure") {
    const double p1 = Logistic(out[1] - out[0]);
    return p1 - (1 - p1);
  }
  return out[0];  // minos, skywork_reward_*, prorag
}

double PublishedReward::Score(const std::string& question,
                              const Steps& steps) const {
  const double value = Value(question, steps);
  if (name_ == "pure") return (value + 1) / 2;
  const bool raw = name_ == "qwen_rm" || name_ == "minos" ||
                   name_ == "prorag" || name_ == "hrm_soft" ||
                   name_.rfind("skywork_reward", 0) == 0;
  return raw ? Logistic(value) : value;
}

}  // namespace espalier
