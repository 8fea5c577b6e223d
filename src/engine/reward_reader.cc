#include "src/engine/reward_reader.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "models/trunk/label_head.h"

namespace espalier {
namespace {

size_t Common(const std::vector<int32_t>& a, const std::vector<int32_t>& b) {
  const auto [end, unused] =
      std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<size_t>(end - a.begin());
}

// `logits` [heads * outputs] of Espalier's own heads.
StepScores OwnScores(const std::vector<LevelSet>& outputs,
                     const std::vector<double>& logits) {
  std::vector<float> probabilities;
  for (const double logit : logits) {
    probabilities.push_back(static_cast<float>(1 / (1 + std::exp(-logit))));
  }
  return EnsembleScores(outputs, probabilities);
}

}  // namespace

LevelSet RewardScorer::levels() const {
  LevelSet all;
  for (const LevelSet output : format().outputs) all = all | output;
  const auto heads = static_cast<int>(format().outputs.size());
  if (!all.empty()) return format().labels > heads ? all.WithSpread() : all;
  if (format().window > 1) return kStepAndPath | WindowLevel(format().window);
  return format().unit == RewardUnit::kResponse ? kStepAndPath | Level::kOutcome
                                                : kStepAndPath;
}

absl::StatusOr<std::unique_ptr<RewardReader>> RewardReader::Open(
    const RewardScorer& scorer, Backend& backend, std::string question) {
  if (scorer.format().compares() || scorer.format().writes()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the reward format ", scorer.format().name,
                     scorer.format().writes() ? " writes its verdicts"
                                              : " compares two models",
                     " and is not read in one pass"));
  }
  std::unique_ptr<RewardReader> reader(
      new RewardReader(scorer, backend, std::move(question)));
  Place& stem = reader->stem_;
  ESP_ASSIGN_OR_RETURN(stem.ids, scorer.layout.Stem(reader->question_));
  const int room = backend.capabilities().context_length;
  if (stem.ids.size() >= static_cast<size_t>(room)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the question takes ", stem.ids.size(), " tokens in the layout of the ",
        "reward format ", scorer.format().name, " and the reward model's ",
        "context is ", room, "; shorten the question or take a reward model ",
        "with a longer context"));
  }
  if (!stem.ids.empty()) {
    stem.cuts.push_back(stem.ids.size());
    stem.seqs.push_back(backend.Extend(kEmptySeq, stem.ids));
  }
  return reader;
}

RewardReader::~RewardReader() {
  places_.push_back(std::move(stem_));
  for (const Place& place : places_) {
    for (const SeqId seq : place.seqs) backend_.Release(seq);
  }
}

void RewardReader::Extend(const Tree& tree, NodeId parent, LaidOutPath path,
                          Place& place) {
  // The longest prefix of the path that has a sequence already.
  SeqId seq = kEmptySeq;
  size_t have = 0;
  for (NodeId id = parent;; id = id == kRoot ? kNoNode : tree[id].parent) {
    const Place& above = id == kNoNode ? stem_ : places_[id];
    const size_t common = Common(above.ids, path.ids);
    for (size_t i = above.cuts.size(); i-- > 0;) {
      if (above.cuts[i] > common || above.cuts[i] <= have) continue;
      have = above.cuts[i];
      seq = above.seqs[i];
    }
    // Nothing further up is longer than what this one shares.
    if (id == kNoNode || have == common) break;
  }
  const size_t before = parent == kNoNode ? 0 : places_[parent].ids.size();
  const size_t grown = path.ids.size() > before ? path.ids.size() - before : 0;
  const size_t made = path.ids.size() - have;
  stats_.laid_out += static_cast<int64_t>(made);
  if (parent != kNoNode && made > grown) {
    stats_.again += static_cast<int64_t>(made - grown);
  }
  const absl::Span<const int32_t> ids = path.ids;
  for (const size_t cut : path.cuts) {
    // The last cut is the path itself, which may be one that exists.
    if (cut < have || (cut == have && cut != path.cuts.back())) continue;
    seq = backend_.Extend(seq, ids.subspan(have, cut - have));
    have = cut;
    place.cuts.push_back(cut);
    place.seqs.push_back(seq);
  }
  place.ids = std::move(path.ids);
}

absl::Status RewardReader::LayOut(const Tree& tree, NodeId node) {
  if (places_.size() < tree.size()) places_.resize(tree.size());
  std::vector<NodeId> path = tree.Path(node);
  std::vector<std::string> steps;
  // The root is judged as a response without text.
  if (path.empty()) path.push_back(kRoot);
  NodeId parent = kNoNode;
  for (const NodeId id : path) {
    steps.emplace_back(id == kRoot ? "" : tree.text(id));
    Place& place = places_[id];
    if (place.ids.empty()) {
      ESP_ASSIGN_OR_RETURN(LaidOutPath laid,
                           scorer_.layout.Lay(question_, steps));
      if (laid.ids.empty()) {
        return absl::InvalidArgumentError(
            "neither the question nor the step has any text to judge");
      }
      const int room = backend_.capabilities().context_length;
      if (laid.ids.size() > static_cast<size_t>(room)) {
        return absl::InvalidArgumentError(absl::StrCat(
            "a path of ", steps.size(), " steps takes ", laid.ids.size(),
            " tokens in the layout of the reward format ",
            scorer_.format().name, " and the reward model's context is ", room,
            "; limit the response's tokens or take a reward model with a "
            "longer context"));
      }
      Extend(tree, parent, std::move(laid), place);
    }
    parent = id;
  }
  return absl::OkStatus();
}

absl::StatusOr<RewardQuery> RewardReader::Ask(const Tree& tree,
                                              absl::Span<const NodeId> nodes) {
  RewardQuery query;
  query.request.read = scorer_.served                ? ScoreRead::kOutputs
                       : scorer_.head.layers.empty() ? ScoreRead::kLogprobs
                                                     : ScoreRead::kHidden;
  query.request.tokens = scorer_.layout.choices();
  const auto add = [&](NodeId id) {
    const auto& listed = query.nodes;
    if (!std::isnan(places_[id].value) ||
        std::find(listed.begin(), listed.end(), id) != listed.end()) {
      return;
    }
    query.nodes.push_back(id);
    query.request.sequences.push_back(places_[id].seqs.back());
  };
  for (const NodeId node : nodes) {
    ESP_RETURN_IF_ERROR(LayOut(tree, node));
    if (from_steps()) {
      for (const NodeId id : tree.Path(node)) add(id);
    }
    add(node);
  }
  return query;
}

void RewardReader::Take(absl::Span<const NodeId> nodes,
                        const std::vector<std::vector<float>>& rows) {
  ESP_CHECK(nodes.size() == rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::vector<double> outputs =
        scorer_.head.layers.empty()
            ? std::vector<double>(rows[i].begin(), rows[i].end())
            : scorer_.head.Apply(rows[i]);
    const RewardFormat& format = scorer_.format();
    Place& place = places_[nodes[i]];
    if (!format.outputs.empty()) {
      place.own = OwnScores(format.outputs, outputs);
      place.value = place.own[format.outputs[0].first()];
      continue;
    }
    place.value =
        static_cast<float>(SearchScore(format, RewardValue(format, outputs)));
    if (format.path_label >= 0) {
      place.path =
          static_cast<float>(SearchScore(format, PathValue(format, outputs)));
    }
  }
}

StepScores RewardReader::Score(const Tree& tree, NodeId node) const {
  if (!scorer_.format().outputs.empty()) return places_[node].own;
  StepScores scores{.step = places_[node].value, .path = places_[node].value};
  if (scorer_.format().unit == RewardUnit::kResponse) {
    scores.outcome = scores.path;
  }
  if (scorer_.format().path_label >= 0) scores.path = places_[node].path;
  if (scorer_.format().window > 1) {
    scores[WindowLevel(scorer_.format().window)] = scores.step;
  }
  if (!from_steps()) return scores;
  for (const NodeId id : tree.Path(node)) {
    scores.path = std::min(scores.path, places_[id].value);
  }
  return scores;
}

void RewardReader::SetRetention(NodeId node, float priority) {
  if (node >= places_.size()) return;
  for (const SeqId seq : places_[node].seqs) {
    backend_.SetRetention(seq, priority);
  }
}

}  // namespace espalier
