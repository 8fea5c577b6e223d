#include "models/remote/pooled_probe.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "models/remote/call_pool.h"

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
        pool_({endpoint}, http, {.attempts = 3, .longest_retry_after = 10}) {}

  absl::StatusOr<PooledWay> Run() {
    if (facts_.kind == ServerKind::kLlamaServer) {
      return Refuse(
          "llama-server's /rerank lays texts out in its own way, and its "
          "/embedding scales what it pools");
    }
    std::vector<std::string> answers;
    for (PooledWay& way : Candidates(facts_, head_)) {
      auto replies = Ask(way);
      absl::Status status = replies.status();
      if (status.ok()) {
        const auto rows = RowsOf(*replies, head_.samples, head_);
        if (rows.ok()) {
          way.rows = *rows;
          return WithLogits(std::move(way), *replies);
        }
        status = rows.status();
      }
      if (absl::IsUnauthenticated(status)) return status;
      answers.push_back(
          absl::StrCat(way.Name(), ": ", Short(way, status.message())));
    }
    return Refuse(absl::StrJoin(answers, "; "));
  }

 private:
  // The replies to all samples.
  absl::StatusOr<std::vector<PooledReply>> Ask(const PooledWay& way) {
    std::vector<std::string> bodies(head_.samples.size());
    for (size_t i = 0; i < bodies.size(); ++i) {
      DialectCall call = MakePooledCall(facts_, way, head_.samples[i]);
      pool_.Start({.id = i,
                   .path = std::move(call.path),
                   .body = std::move(call.body),
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
    std::vector<PooledReply> replies;
    for (const std::string& body : bodies) {
      ESP_ASSIGN_OR_RETURN(replies.emplace_back(),
                           ReadPooledReply(body, way, head_.labels));
    }
    return replies;
  }

  // Without the URL, which is said once.
  std::string Short(const PooledWay& way, absl::string_view message) const {
    absl::ConsumePrefix(&message, absl::StrCat(url_, way.path, " "));
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
    std::string remedy;
    if (facts_.kind == ServerKind::kVllm) {
      remedy = "start vLLM with --runner pooling";
      if (head_.tag >= 0 && !head_.whole) {
        absl::StrAppend(&remedy,
                        ", for rows per step with --pooler-config "
                        "'{\"pooling_type\": \"STEP\", \"step_tag_id\": ",
                        head_.tag, "}'");
      }
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

  const std::string url_;
  const ServerFacts& facts_;
  const PooledHead& head_;
  CallPool pool_;
};

}  // namespace

absl::StatusOr<PooledWay> FindPooledWay(const Endpoint& endpoint,
                                        const ServerFacts& facts,
                                        const PooledHead& head,
                                        const HttpOptions& http) {
  return PooledProbe(endpoint, facts, head, http).Run();
}

}  // namespace espalier
