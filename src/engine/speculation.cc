#include "src/engine/speculation.h"

#include <algorithm>

#include "base/check.h"

namespace espalier {
namespace {

// Equal but for the number of samples and their length.
bool SameDraws(const GenerateRequest& a, const GenerateRequest& b) {
  return a.from == b.from && a.stream == b.stream &&
         a.first_sample == b.first_sample &&
         a.sampling.temperature == b.sampling.temperature &&
         a.sampling.top_k == b.sampling.top_k &&
         a.sampling.top_p == b.sampling.top_p &&
         a.sampling.min_p == b.sampling.min_p &&
         a.stop.delimiter == b.stop.delimiter &&
         a.stop.stop_strings == b.stop.stop_strings &&
         a.top_alternatives == b.top_alternatives &&
         a.top_logprobs == b.top_logprobs && a.hidden == b.hidden;
}

}  // namespace

void Speculation::Learn(const SearchRequest& expand, size_t policy) {
  last_ = expand;
  policy_ = policy;
}

std::vector<SearchRequest> Speculation::Choose(const SearchContext& context,
                                               absl::Span<const NodeId> nodes,
                                               uint64_t seed,
                                               size_t most) const {
  std::vector<SearchRequest> chosen;
  if (!last_) return chosen;
  const Tree& tree = context.tree();
  std::vector<NodeId> open;
  for (const NodeId node : nodes) {
    if (!entries_.contains(node) && !tree[node].terminal() &&
        !tree[node].truncated() &&
        tree.step(node).depth < context.format().max_steps) {
      open.push_back(node);
    }
  }
  std::stable_sort(open.begin(), open.end(), [&tree](NodeId a, NodeId b) {
    return tree.step(a).logprob > tree.step(b).logprob;
  });
  if (open.size() > most) open.resize(most);
  const uint64_t problem = StableHash(context.problem().question);
  for (const NodeId node : open) {
    SearchRequest& request = chosen.emplace_back(*last_);
    request.nodes = {node};
    request.first_sample = tree.samples_drawn(node);
    // As SearchContext::Expand makes it; if it were another, the samples would
    // not be used.
    request.stream =
        StreamKey(seed, problem, tree.path_hash(node), Purpose::kSample);
  }
  return chosen;
}

void Speculation::Add(RequestId id, NodeId node, size_t policy,
                      GenerateRequest body) {
  entries_[node] = {.id = id, .policy = policy, .body = std::move(body)};
  under_way_[id] = node;
}

bool Speculation::Serves(const Entry& entry, int n, int max_tokens) {
  if (static_cast<int>(entry.samples.size()) < n) return false;
  return std::all_of(
      entry.samples.begin(), entry.samples.begin() + n,
      [&](const Continuation& sample) {
        // One that was cut, or reaches the limit, may have another end under
        // another limit.
        return max_tokens == entry.body.stop.max_tokens ||
               (sample.finish != Finish::kLength &&
                static_cast<int>(sample.tokens.size()) < max_tokens);
      });
}

std::vector<Continuation> Speculation::Take(Entry& entry, int n) {
  std::vector<Continuation> taken(
      std::make_move_iterator(entry.samples.begin()),
      std::make_move_iterator(entry.samples.begin() + n));
  entry.samples.erase(entry.samples.begin(), entry.samples.begin() + n);
  Spare(entry);
  return taken;
}

void Speculation::Spare(Entry& entry) {
  for (const Continuation& sample : entry.samples) {
    spare_.emplace_back(entry.policy, sample.seq);
    unused_tokens_ += static_cast<int64_t>(sample.tokens.size());
  }
  entry.samples.clear();
}

Speculation::Answer Speculation::Ask(const SearchRequest& request,
                                     size_t policy, const GenerateRequest& body,
                                     std::vector<Continuation>& samples) {
  const auto at = entries_.find(request.nodes[0]);
  if (at == entries_.end()) return Answer::kNone;
  Entry& entry = at->second;
  // Another request may wait for it.
  if (entry.policy != policy || entry.request) return Answer::kNone;
  if (SameDraws(entry.body, body) && entry.body.n >= body.n) {
    if (!entry.arrived) {
      entry.request = request;
      entry.asked_n = body.n;
      entry.asked_tokens = body.stop.max_tokens;
      return Answer::kUnderWay;
    }
    if (Serves(entry, body.n, body.stop.max_tokens)) {
      samples = Take(entry, body.n);
      entries_.erase(at);
      return Answer::kHere;
    }
  }
  // The node's next samples are drawn by the request itself.
  if (entry.arrived) {
    Spare(entry);
    entries_.erase(at);
  }
  return Answer::kNone;
}

Speculation::Arrival Speculation::Arrive(RequestId id,
                                         std::vector<Continuation> samples) {
  const auto node = under_way_.extract(id);
  ESP_CHECK(!node.empty());
  const auto at = entries_.find(node.mapped());
  Entry& entry = at->second;
  entry.arrived = true;
  entry.samples = std::move(samples);
  Arrival arrival;
  const bool failed = entry.samples.empty();
  if (!entry.request && !failed) {
    arrived_.emplace_back(id, node.mapped());
    Trim();
    return arrival;
  }
  arrival.request = std::move(entry.request);
  if (arrival.request && Serves(entry, entry.asked_n, entry.asked_tokens)) {
    arrival.serves = true;
    arrival.samples = Take(entry, entry.asked_n);
  }
  Spare(entry);
  entries_.erase(at);
  return arrival;
}

void Speculation::Trim() {
  while (arrived_.size() > kMostKept) {
    const auto [id, node] = arrived_.front();
    arrived_.pop_front();
    const auto at = entries_.find(node);
    if (at == entries_.end() || at->second.id != id) continue;
    Spare(at->second);
    entries_.erase(at);
  }
}

std::optional<uint64_t> Speculation::AskedBy(RequestId id) const {
  const auto node = under_way_.find(id);
  if (node == under_way_.end()) return std::nullopt;
  const Entry& entry = entries_.at(node->second);
  if (!entry.request) return std::nullopt;
  return entry.request->number;
}

void Speculation::DropUnderWay() {
  for (const auto& [id, node] : under_way_) entries_.erase(node);
  under_way_.clear();
}

void Speculation::DropAll() {
  DropUnderWay();
  for (auto& [node, entry] : entries_) Spare(entry);
  entries_.clear();
  arrived_.clear();
}

std::vector<std::pair<size_t, SeqId>> Speculation::TakeSpare() {
  return std::exchange(spare_, {});
}

}  // namespace espalier
