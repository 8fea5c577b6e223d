#include "src/trace/stored_tree.h"

#include <bit>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "base/text.h"

namespace espalier {

std::string_view StoredTree::Text(size_t node) const {
  return std::string_view(text).substr(nodes[node].text_begin,
                                       nodes[node].text_bytes);
}

std::vector<int32_t> StoredTree::Tokens(size_t node) const {
  const auto begin = tokens.begin() + nodes[node].token_begin;
  return {begin, begin + nodes[node].num_tokens};
}

std::vector<size_t> StoredTree::Path(size_t node) const {
  std::vector<size_t> path;
  while (nodes[node].parent >= 0) {
    path.push_back(node);
    node = static_cast<size_t>(nodes[node].parent);
  }
  return {path.rbegin(), path.rend()};
}

std::string StoredTree::Response(size_t node) const {
  std::string response;
  for (const size_t i : Path(node)) response += Text(i);
  return response;
}

std::vector<std::vector<size_t>> StoredTree::ChildLists() const {
  std::vector<std::vector<size_t>> children(nodes.size());
  for (size_t i = 1; i < nodes.size(); ++i) {
    children[static_cast<size_t>(nodes[i].parent)].push_back(i);
  }
  return children;
}

uint64_t Fingerprint(const SearchRequest& request) {
  uint64_t hash = MixHash(static_cast<uint64_t>(request.kind),
                          static_cast<uint64_t>(request.by));
  for (const NodeId node : request.nodes) hash = MixHash(hash, node);
  hash = MixHash(hash, static_cast<uint64_t>(request.expand.n));
  hash = MixHash(hash, std::bit_cast<uint32_t>(request.expand.temperature));
  if (!request.expand.forced.empty()) {
    hash = MixHash(hash, StableHash(request.expand.forced));
  }
  if (request.expand.top_logprobs > 0) {
    hash = MixHash(hash, static_cast<uint64_t>(request.expand.top_logprobs));
  }
  if (request.expand.alternatives > 0) {
    hash = MixHash(hash, StableHash("alternatives"));
    hash = MixHash(hash, static_cast<uint64_t>(request.expand.alternatives));
  }
  if (request.expand.hidden) hash = MixHash(hash, StableHash("hidden"));
  if (request.expand.filter) {
    const SampleFilter& filter = *request.expand.filter;
    hash = MixHash(hash, static_cast<uint64_t>(filter.top_k));
    hash = MixHash(hash, std::bit_cast<uint32_t>(filter.top_p));
    hash = MixHash(hash, std::bit_cast<uint32_t>(filter.min_p));
  }
  for (const std::string_view stop : request.expand.stop_strings) {
    hash = MixHash(hash, StableHash(stop));
  }
  hash = MixHash(hash, static_cast<uint64_t>(request.first_sample));
  hash = MixHash(hash, static_cast<uint64_t>(request.max_tokens));
  return MixHash(hash, MixHash(request.stream.hi, request.stream.lo));
}

namespace {

// Gives `node` the log-probs of the sample that created it.
void FillLogprobs(const Tree& tree, const LogEntry& entry, StoredTree& out,
                  std::vector<bool>& filled) {
  for (const SampledStep& sample : entry.completion.samples) {
    if (entry.nodes.empty() || entry.nodes[0] >= tree.size()) return;
    for (const NodeId child : Children(tree, entry.nodes[0])) {
      if (tree.tokens(child) != absl::MakeConstSpan(sample.tokens)) continue;
      if (filled[child]) break;
      filled[child] = true;
      const size_t begin = out.nodes[child].token_begin;
      for (size_t t = 0; t < sample.tokens.size(); ++t) {
        if (t < sample.logprobs.size()) {
          out.logprobs[begin + t] = sample.logprobs[t];
        }
        if (t < sample.sampler_logprobs.size()) {
          out.sampler_logprobs[begin + t] = sample.sampler_logprobs[t];
        }
      }
      break;
    }
  }
}

}  // namespace

StoredTree ToStored(const Tree& tree, absl::Span<const NodeVerdict> verdicts,
                    absl::Span<const LogEntry> log) {
  StoredTree out;
  out.nodes.reserve(tree.size());
  for (NodeId id = 0; id < tree.size(); ++id) {
    const Node& n = tree[id];
    const Step& step = tree.step(id);
    const absl::Span<const int32_t> tokens = tree.tokens(id);
    const std::string_view text = tree.text(id);
    out.nodes.push_back(
        {.parent = n.parent == kNoNode ? -1 : static_cast<int32_t>(n.parent),
         .kind = step.kind,
         .flags = n.flags,
         .verdict = id < verdicts.size() ? verdicts[id] : NodeVerdict{},
         .visits = n.visits,
         .draws = step.draws,
         .answer = step.answer,
         .original = step.original == kNoNode
                         ? -1
                         : static_cast<int32_t>(step.original),
         .prior = n.prior,
         .q = n.q,
         .step_score = step.step_score,
         .path_score = step.path_score,
         .outcome_score = tree.scores(id).outcome,
         .window_scores = tree.scores(id).windows,
         .logprob = step.logprob,
         .token_begin = static_cast<uint32_t>(out.tokens.size()),
         .num_tokens = static_cast<uint32_t>(tokens.size()),
         .text_begin = static_cast<uint32_t>(out.text.size()),
         .text_bytes = static_cast<uint32_t>(text.size())});
    out.tokens.insert(out.tokens.end(), tokens.begin(), tokens.end());
    out.text += text;
  }
  for (int i = 0; i < tree.num_answers(); ++i) {
    out.answers.push_back(tree.answer_text(i));
  }
  const float unknown = std::nanf("");
  out.logprobs.assign(out.tokens.size(), unknown);
  out.sampler_logprobs.assign(out.tokens.size(), unknown);
  std::vector<bool> filled(tree.size());
  for (const LogEntry& entry : log) {
    if (entry.kind == RequestKind::kExpand) {
      FillLogprobs(tree, entry, out, filled);
    }
  }
  return out;
}

namespace {

bool SameBits(float a, float b) {
  return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

}  // namespace

std::string FirstDifference(const StoredTree& a, const StoredTree& b) {
  const size_t both = std::min(a.nodes.size(), b.nodes.size());
  for (size_t i = 0; i < both; ++i) {
    const StoredNode& x = a.nodes[i];
    const StoredNode& y = b.nodes[i];
    const auto differs = [&](const char* what, auto p, auto q) {
      return absl::StrCat("node ", i, ": ", what, " ", p, " and ", q);
    };
    if (x.parent != y.parent) return differs("parent", x.parent, y.parent);
    if (a.Text(i) != b.Text(i)) {
      return differs("text", std::string(a.Text(i)), std::string(b.Text(i)));
    }
    if (x.kind != y.kind || x.flags != y.flags) {
      return differs("kind and flags", static_cast<int>(x.kind) * 256 + x.flags,
                     static_cast<int>(y.kind) * 256 + y.flags);
    }
    if (x.visits != y.visits) return differs("visits", x.visits, y.visits);
    if (x.draws != y.draws) return differs("draws", x.draws, y.draws);
    if (x.original != y.original)
      return differs("original", x.original, y.original);
    if (x.answer != y.answer) return differs("answer", x.answer, y.answer);
    if (!SameBits(x.prior, y.prior)) {
      return differs("prior", x.prior, y.prior);
    }
    if (!SameBits(x.q, y.q)) return differs("q", x.q, y.q);
    if (!SameBits(x.step_score, y.step_score)) {
      return differs("step score", x.step_score, y.step_score);
    }
    if (!SameBits(x.path_score, y.path_score)) {
      return differs("path score", x.path_score, y.path_score);
    }
    if (!SameBits(x.outcome_score, y.outcome_score)) {
      return differs("outcome score", x.outcome_score, y.outcome_score);
    }
    for (size_t w = 0; w < x.window_scores.size(); ++w) {
      if (!SameBits(x.window_scores[w], y.window_scores[w])) {
        return differs("window score", x.window_scores[w], y.window_scores[w]);
      }
    }
    if (!SameBits(x.logprob, y.logprob)) {
      return differs("log-prob", x.logprob, y.logprob);
    }
    if (x.num_tokens != y.num_tokens) {
      return differs("tokens", x.num_tokens, y.num_tokens);
    }
  }
  if (a.nodes.size() != b.nodes.size()) {
    return absl::StrCat(a.nodes.size(), " and ", b.nodes.size(), " nodes");
  }
  if (a.answers != b.answers) return "different answers";
  if (a.tokens != b.tokens) return "different tokens";
  for (size_t t = 0; t < a.tokens.size(); ++t) {
    if (!SameBits(a.logprobs[t], b.logprobs[t]) ||
        !SameBits(a.sampler_logprobs[t], b.sampler_logprobs[t])) {
      return absl::StrCat("token ", t, ": different log-probs");
    }
  }
  return "";
}

}  // namespace espalier
