#include "models/remote/pooled_probe.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "models/remote/call_pool.h"
#include "models/remote/choice_scores.h"

namespace espalier {
namespace {

// Replies to one text that differ by more do not differ by rounding.
constexpr double kRounding = 0.02;

// Those that a server is likelier to offer first. Where a text is read at its
// end, vLLM's prefix cache serves `classify` and not `token_classify`
// (PoolingParams::skip_reading_prefix_cache).
std::vector<PooledWay> Candidates(const ServerFacts& facts,
                                  const PooledHead& head) {
  if (facts.kind == ServerKind::kSglang) return {{.path = "/classify"}};
  const PooledWay tokens{.path = "/pooling", .task = "token_classify"};
  const PooledWay last{.path = "/pooling", .task = "classify"};
  const PooledWay classify{.path = "/classify"};
  const PooledWay plain{.path = "/pooling"};
  return head.whole ? std::vector<PooledWay>{last, classify, tokens, plain}
                    : std::vector<PooledWay>{tokens, last, classify, plain};
}

// Versions of vLLM name the field differently and ignore other names.
std::vector<std::string> OffFields(const ServerFacts& facts) {
  if (facts.kind == ServerKind::kSglang) return {};
  return {"use_activation", "activation", "softmax"};
}

class PooledProbe {
 public:
  PooledProbe(const Endpoint& endpoint, const ServerFacts& facts,
              const PooledHead& head, const HttpOptions& http)
      : url_(endpoint.Url()),
        facts_(facts),
        head_(head),
        pool_({endpoint}, http,
              {.attempts = 3,
               .longest_retry_after = 10,
               .paths_may_lack = true}) {}

  absl::StatusOr<PooledWay> Run() {
    if (!head_.choices.empty()) return RunChoices();
    if (facts_.kind == ServerKind::kLlamaServer) {
      return Refuse(
          "llama-server's /rerank lays texts out in its own way, and its "
          "/embedding scales what it pools");
    }
    for (PooledWay& way : Candidates(facts_, head_)) {
      ESP_ASSIGN_OR_RETURN(const auto replies, Try(way));
      if (replies) return WithLogits(std::move(way), *replies);
    }
    return Refuse(absl::StrJoin(answers_, "; "));
  }

 private:
  using Replies = std::vector<PooledReply>;

  // Tokens instead of a head.
  absl::StatusOr<PooledWay> RunChoices() {
    if (!head_.completions.empty()) answers_.push_back(head_.completions);
    const std::string path = ChoicePath(facts_.kind);
    if (!path.empty()) {
      const absl::Status status = TryChoices();
      if (status.ok()) {
        return PooledWay{.path = path, .choices = true, .probabilities = true};
      }
      ESP_RETURN_IF_ERROR(Note(path, path, status));
    }
    if (facts_.kind == ServerKind::kVllm && head_.choices.size() == 2) {
      return RunChoicesPooled();
    }
    return Refuse(absl::StrJoin(answers_, "; "));
  }

  absl::StatusOr<PooledWay> RunChoicesPooled() {
    PooledWay last{.path = "/pooling", .task = "classify"};
    ESP_ASSIGN_OR_RETURN(auto whole, Try(last));
    if (!whole) {
      last = {.path = "/classify"};
      ESP_ASSIGN_OR_RETURN(whole, Try(last));
    }
    PooledWay tokens{.path = "/pooling", .task = "token_classify"};
    ESP_ASSIGN_OR_RETURN(const auto each, Try(tokens));
    // A user's word that the rows are the tokens'.
    if (each &&
        (head_.probabilities || (whole && Agree(tokens, *each, *whole)))) {
      return WithLogits(std::move(tokens), *each);
    }
    if (whole) return WithLogits(std::move(last), *whole);
    if (each) {
      answers_.push_back(absl::StrCat(
          tokens.Name(),
          ": gives as many numbers, of which nothing tells that they are the "
          "tokens' (with returned_token_ids vLLM gives parts of the hidden "
          "state); if they are, say what they are by --reward-format ",
          head_.format, ":outputs=logits or :outputs=probabilities"));
    }
    return Refuse(absl::StrJoin(answers_, "; "));
  }

  // True if rows of `way` at the ends of the samples are those of `whole`.
  bool Agree(const PooledWay& way, const Replies& replies,
             const Replies& whole) const {
    for (size_t i = 0; i < replies.size(); ++i) {
      const std::vector<int32_t>& text = head_.samples[i];
      const auto row = PooledLogits(replies[i], way, head_, text, text.size());
      if (!row.ok()) return false;
      for (size_t k = 0; k < row->size(); ++k) {
        const double other = whole[i].rows.back()[k];
        if (std::abs(static_cast<double>((*row)[k]) - other) > kRounding) {
          return false;
        }
      }
    }
    return true;
  }

  // The replies at `way`, whose `rows` are set; nothing, and a line in
  // `answers_`, if it does not give the outputs.
  absl::StatusOr<std::optional<Replies>> Try(PooledWay& way) {
    auto replies = Ask(way);
    absl::Status status = replies.status();
    if (status.ok()) {
      const auto rows = RowsOf(*replies, head_.samples, head_);
      if (rows.ok()) {
        way.rows = *rows;
        return std::optional<Replies>(*std::move(replies));
      }
      status = rows.status();
    }
    ESP_RETURN_IF_ERROR(Note(way.Name(), way.path, status));
    return std::optional<Replies>();
  }

  // Keeps what an endpoint answered, unless no other one will do better.
  absl::Status Note(const std::string& name, const std::string& path,
                    const absl::Status& status) {
    if (absl::IsUnauthenticated(status)) return status;
    answers_.push_back(absl::StrCat(name, ": ", Short(path, status.message())));
    return absl::OkStatus();
  }

  // The bodies of the replies to all calls.
  absl::StatusOr<std::vector<std::string>> Send(
      std::vector<DialectCall> calls) {
    std::vector<std::string> bodies(calls.size());
    for (size_t i = 0; i < calls.size(); ++i) {
      pool_.Start({.id = i,
                   .path = std::move(calls[i].path),
                   .body = std::move(calls[i].body),
                   .read = [&body = bodies[i]](const std::string& reply) {
                     body = reply;
                     return absl::OkStatus();
                   }});
    }
    absl::Status status;
    for (size_t ended = 0; ended < bodies.size();) {
      for (const CallPool::Ended& call : pool_.Take(1)) {
        ++ended;
        status.Update(call.status);
      }
    }
    ESP_RETURN_IF_ERROR(status);
    return bodies;
  }

  // The replies to all samples.
  absl::StatusOr<Replies> Ask(const PooledWay& way) {
    std::vector<DialectCall> calls;
    for (const std::vector<int32_t>& sample : head_.samples) {
      calls.push_back(MakePooledCall(facts_, way, sample));
    }
    ESP_ASSIGN_OR_RETURN(const std::vector<std::string> bodies,
                         Send(std::move(calls)));
    Replies replies;
    for (const std::string& body : bodies) {
      ESP_ASSIGN_OR_RETURN(replies.emplace_back(),
                           ReadPooledReply(body, way, head_.labels));
    }
    return replies;
  }

  // Asks about the samples, and about the longest once more with its end as the
  // item: a server that puts a token there tells something else.
  absl::Status TryChoices() {
    const std::vector<int32_t>& longest = head_.samples.back();
    std::vector<ChoiceCall> asked = {{.texts = head_.samples}};
    asked.push_back({.texts = absl::MakeConstSpan(&longest, 1)});
    asked[0].shared = SharedLength(head_.samples);
    asked[1].shared = longest.size() - 1;
    std::vector<DialectCall> calls;
    for (ChoiceCall& call : asked) {
      call.choices = head_.choices;
      calls.push_back(MakeChoiceCall(facts_, call));
    }
    ESP_ASSIGN_OR_RETURN(const std::vector<std::string> bodies,
                         Send(std::move(calls)));
    ESP_ASSIGN_OR_RETURN(const ChoiceLogprobs together,
                         ReadChoiceReply(bodies[0], facts_.kind, asked[0]));
    ESP_ASSIGN_OR_RETURN(const ChoiceLogprobs apart,
                         ReadChoiceReply(bodies[1], facts_.kind, asked[1]));
    for (size_t k = 0; k < apart[0].size(); ++k) {
      const double a = std::exp(static_cast<double>(apart[0][k]));
      const double b = std::exp(static_cast<double>(together.back()[k]));
      if (std::abs(a - b) > kRounding) {
        return absl::InvalidArgumentError(absl::StrCat(
            "gives a text another probability, ", a, " instead of ", b,
            ", where its query ends elsewhere, as with multi-item scoring"));
      }
    }
    return absl::OkStatus();
  }

  // Without the URL, which is said once.
  std::string Short(const std::string& path, absl::string_view message) const {
    absl::ConsumePrefix(&message, absl::StrCat(url_, path, " "));
    absl::ConsumePrefix(&message, "the server's reply, ");
    return std::string(message);
  }

  // Sets how `way` gets logits, whose replies are `replies` as it is.
  absl::StatusOr<PooledWay> WithLogits(
      PooledWay way, const std::vector<PooledReply>& replies) {
    for (const std::string& off : OffFields(facts_)) {
      PooledWay without = way;
      without.off = off;
      const auto others = Ask(without);
      if (absl::IsUnauthenticated(others.status()) ||
          absl::IsUnavailable(others.status())) {
        return others.status();
      }
      if (others.ok() && Differ(replies, *others)) return without;
    }
    const bool may_be =
        std::all_of(replies.begin(), replies.end(), MayBeProbabilities);
    if (!may_be) return way;
    if (head_.probabilities) {
      way.probabilities = *head_.probabilities;
    } else if (head_.labels > 1) {
      way.probabilities = true;
    } else if (facts_.kind != ServerKind::kSglang) {
      // One number between 0 and 1 may be either. SGLang's poolers of rewards
      // apply no function (python/sglang/srt/models/*_rm.py).
      return absl::InvalidArgumentError(absl::StrCat(
          url_, way.path,
          ": the server may give logits or probabilities for "
          "the reward format ",
          head_.format,
          ": all are between 0 and 1, and asking for logits changes nothing; "
          "say which by --reward-format ",
          head_.format, ":outputs=logits or :outputs=probabilities"));
    }
    if (way.probabilities && !head_.takes_probabilities) {
      return Refuse(absl::StrCat(
          way.Name(), ": gives probabilities, and the format reads logits"));
    }
    return way;
  }

  static bool Differ(const std::vector<PooledReply>& a,
                     const std::vector<PooledReply>& b) {
    for (size_t i = 0; i < a.size(); ++i) {
      // Of another shape: not the same outputs.
      if (a[i].rows.size() != b[i].rows.size()) return false;
    }
    for (size_t i = 0; i < a.size(); ++i) {
      for (size_t r = 0; r < a[i].rows.size(); ++r) {
        for (size_t k = 0; k < a[i].rows[r].size(); ++k) {
          if (std::abs(a[i].rows[r][k] - b[i].rows[r][k]) > kRounding) {
            return true;
          }
        }
      }
    }
    return false;
  }

  absl::Status Refuse(const std::string& why) const {
    if (!head_.choices.empty()) return RefuseChoices(why);
    std::string remedy;
    if (facts_.kind == ServerKind::kVllm) {
      remedy = absl::StrCat("start vLLM with --runner pooling",
                            head_.tag < 0 || head_.whole
                                ? ""
                                : ", for rows per step with " + StepConfig());
    } else if (facts_.kind == ServerKind::kSglang) {
      remedy = "start SGLang with --is-embedding";
    } else {
      remedy = "serve the model by vLLM (--runner pooling)";
    }
    return absl::UnimplementedError(absl::StrCat(
        url_, ": the reward format ", head_.format, " reads a head of ",
        head_.labels, head_.labels == 1 ? " output" : " outputs",
        ", which the server does not give: ", why, ". To read it, ", remedy,
        ", or name a folder with the model's weights"));
  }

  absl::Status RefuseChoices(const std::string& why) const {
    std::string remedy = "serve the model by vLLM, SGLang or llama-server";
    if (facts_.kind == ServerKind::kVllm) {
      remedy = "start vLLM so that it generates";
      if (head_.choices.size() == 2) {
        absl::StrAppend(
            &remedy,
            ", or with --runner pooling --convert classify, --hf-overrides "
            "with these tokens as classifier_from_token and \"method\": "
            "\"no_post_processing\"",
            head_.tag < 0 ? "" : ", and " + StepConfig());
      }
    } else if (facts_.kind == ServerKind::kSglang) {
      remedy = "start SGLang without --is-embedding and multi-item scoring";
    }
    return absl::UnimplementedError(absl::StrCat(
        url_, ": the reward format ", head_.format,
        " reads the log-probs of the tokens ",
        absl::StrJoin(head_.choices, ", "),
        ", which the server does not give: ", why, ". To read them, ", remedy,
        ", or name a folder with the model's weights"));
  }

  std::string StepConfig() const {
    return absl::StrCat(
        "--pooler-config '{\"pooling_type\": \"STEP\", \"step_tag_id\": ",
        head_.tag, "}'");
  }

  const std::string url_;
  const ServerFacts& facts_;
  const PooledHead& head_;
  std::vector<std::string> answers_;  // of endpoints that do not do
  CallPool pool_;
};

}  // namespace

absl::StatusOr<PooledWay> FindPooledWay(const Endpoint& endpoint,
                                        const ServerFacts& facts,
                                        const PooledHead& head,
                                        const HttpOptions& http) {
  return PooledProbe(endpoint, facts, head, http).Run();
}

absl::Status CheckLogprobs(Backend& backend, const PooledHead& head) {
  const SeqId seq = backend.Extend(kEmptySeq, head.samples.front());
  backend.Submit({.id = 1,
                  .body = ScoreRequest{.sequences = {seq},
                                       .read = ScoreRead::kLogprobs,
                                       .tokens = head.choices}});
  std::vector<Completion> done;
  while (done.empty() && backend.Step(done)) {
  }
  backend.Release(seq);
  if (done.empty()) return absl::InternalError("no completion");
  ESP_RETURN_IF_ERROR(done[0].status);
  double sum = 0;
  for (const float logprob : done[0].rows[0]) {
    sum += std::exp(static_cast<double>(logprob));
  }
  if (sum <= 1 + kRounding) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("gives tokens probabilities that add up to ", sum,
                   ", as those after a bias (vLLM: --logprobs-mode)"));
}

}  // namespace espalier
