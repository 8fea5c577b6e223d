#include "src/engine/log_ratio_reader.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"

namespace espalier {
namespace {

size_t Shared(const std::vector<int32_t>& a, const std::vector<int32_t>& b) {
  const auto [end, unused] =
      std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<size_t>(end - a.begin());
}

}  // namespace

absl::StatusOr<std::unique_ptr<LogRatioReader>> LogRatioReader::Open(
    const RewardScorer& scorer, Backend& model, Backend& reference,
    std::string question) {
  std::unique_ptr<LogRatioReader> reader(
      new LogRatioReader(scorer, model, reference, std::move(question)));
  ESP_ASSIGN_OR_RETURN(reader->stem_, scorer.layout.Before(reader->question_));
  const size_t length = reader->stem_.size();
  if (length >= static_cast<size_t>(reader->room())) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the question takes ", length, " tokens in the layout of the reward ",
        "format ", scorer.format().name, " and the context of the reward ",
        "model and its reference is ", reader->room(),
        "; shorten the question or take models with a longer context"));
  }
  if (length == 0) {
    return absl::InvalidArgumentError(
        "the question has no text after which a response could be judged");
  }
  reader->stem_cut_ = {length};
  for (size_t i = 0; i < 2; ++i) {
    reader->stem_cut_.seqs[i] =
        reader->backends_[i]->Extend(kEmptySeq, reader->stem_);
  }
  return reader;
}

LogRatioReader::~LogRatioReader() {
  for (Place& place : places_) Forget(place);
  Release(stem_cut_);
}

void LogRatioReader::Release(const Cut& cut) {
  for (size_t i = 0; i < 2; ++i) backends_[i]->Release(cut.seqs[i]);
}

void LogRatioReader::Forget(Place& place) {
  for (const Cut& cut : place.cuts) Release(cut);
  // A part that only one of the models has read.
  if (place.unread > 0) Release(place.next);
  place = {};
}

int LogRatioReader::room() const {
  return std::min(backends_[0]->capabilities().context_length,
                  backends_[1]->capabilities().context_length);
}

LogRatioReader::Cut LogRatioReader::Longest(
    const Tree& tree, NodeId node, const std::vector<int32_t>& ids) const {
  Cut longest = stem_cut_;
  const size_t stem = Shared(stem_, ids);
  if (stem < stem_.size()) longest = {};
  for (NodeId id = Before(tree, node); id != kNoNode; id = Before(tree, id)) {
    const Place& above = places_[id];
    const size_t shared = Shared(above.ids, ids);
    for (const Cut& cut : above.cuts) {
      if (cut.length <= shared && cut.length > longest.length) longest = cut;
    }
  }
  return longest;
}

absl::Status LogRatioReader::Begin(const Tree& tree, NodeId node) {
  if (places_.size() < tree.size()) places_.resize(tree.size());
  Place& place = places_[node];
  Forget(place);
  std::vector<std::string> steps;
  for (const NodeId id : PathOf(tree, node)) {
    steps.emplace_back(id == kRoot ? "" : tree.text(id));
  }
  ESP_ASSIGN_OR_RETURN(LaidOutPath path, scorer_.layout.Lay(question_, steps));
  if (path.ids.size() > static_cast<size_t>(room())) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a path of ", steps.size(), " steps takes ", path.ids.size(),
        " tokens in the layout of the reward format ", scorer_.format().name,
        " and the context of the reward model and its reference is ", room(),
        "; limit the response's tokens or take models with a longer context"));
  }
  place.ids = std::move(path.ids);
  place.from = Longest(tree, node, place.ids);
  if (place.from.length == 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the reward model's tokenizer merges the question with the first step "
        "in the layout of the reward format ",
        scorer_.format().name,
        "; end its question_suffix with something that nothing merges with"));
  }
  for (const size_t cut : path.cuts) {
    if (cut > place.from.length) place.ends.push_back(cut);
  }
  const NodeId before = Before(tree, node);
  const size_t grown_from =
      before == kNoNode ? stem_.size() : places_[before].ids.size();
  const auto made = static_cast<int64_t>(place.ids.size() - place.from.length);
  const int64_t grown =
      static_cast<int64_t>(place.ids.size()) - static_cast<int64_t>(grown_from);
  stats_.laid_out += 2 * made;
  stats_.again += 2 * std::max<int64_t>(0, made - std::max<int64_t>(0, grown));
  Proceed(tree, node);
  return absl::OkStatus();
}

void LogRatioReader::Proceed(const Tree& tree, NodeId node) {
  Place& place = places_[node];
  if (place.ends.empty()) {
    place.ratio = place.from.ratio();
    Done(tree, node);
    return;
  }
  const size_t end = place.ends.front();
  place.ends.erase(place.ends.begin());
  place.next = {end, {kEmptySeq, kEmptySeq}, place.from.sums};
  place.unread = 2;
  const std::vector<int32_t> text(
      place.ids.begin() + static_cast<std::ptrdiff_t>(place.from.length),
      place.ids.begin() + static_cast<std::ptrdiff_t>(end));
  for (size_t i = 0; i < 2; ++i) {
    Send(node, static_cast<int>(i), *backends_[i],
         {.body = TextScoreRequest{.from = place.from.seqs[i],
                                   .continuations = {text},
                                   .keep = true}});
  }
}

absl::Status LogRatioReader::Continue(const Tree& tree, NodeId node, int which,
                                      Completion completion) {
  Place& place = places_[node];
  const TextScore& text = completion.texts[0];
  const auto model = static_cast<size_t>(which);
  for (const float logprob : text.logprobs) place.next.sums[model] += logprob;
  place.next.seqs[model] = text.seq;
  if (--place.unread > 0) return absl::OkStatus();
  place.cuts.push_back(place.next);
  place.from = place.next;
  Proceed(tree, node);
  return absl::OkStatus();
}

StepScores LogRatioReader::Score(const Tree& tree, NodeId node) const {
  const RewardFormat& format = scorer_.format();
  const auto score = [&](double log_ratio) {
    const double output = format.log_ratio * log_ratio;
    return static_cast<float>(SearchScore(
        format, RewardValue(format, absl::MakeConstSpan(&output, 1))));
  };
  const NodeId before = Before(tree, node);
  const double ratio = places_[node].ratio;
  const double earlier = before == kNoNode ? 0 : places_[before].ratio;
  return {.step = score(ratio - earlier), .path = score(ratio)};
}

void LogRatioReader::SetRetention(NodeId node, float priority) {
  if (node >= places_.size()) return;
  for (const Cut& cut : places_[node].cuts) {
    for (size_t i = 0; i < 2; ++i) {
      backends_[i]->SetRetention(cut.seqs[i], priority);
    }
  }
}

}  // namespace espalier
