#include "src/engine/verdict_reader.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "base/text.h"

namespace espalier {
namespace {

// What a vote without a verdict counts.
constexpr double kUndecided = 0.5;

// `which` of the first round's part, whose continuations are all votes; others
// are of the vote with this index.
constexpr int kFirstRound = -1;

bool HasText(std::string_view text) {
  return !absl::StripAsciiWhitespace(AbslView(text)).empty();
}

// Appends tokens [0, count) of a continuation to what a vote wrote.
void AppendTokens(const StepTokens& from, SampledStep& to) {
  to.tokens.insert(to.tokens.end(), from.tokens.begin(), from.tokens.end());
  to.logprobs.insert(to.logprobs.end(), from.logprobs.begin(),
                     from.logprobs.end());
  to.sampler_logprobs.insert(to.sampler_logprobs.end(),
                             from.sampler_logprobs.begin(),
                             from.sampler_logprobs.end());
  for (const float logprob : from.logprobs) to.logprob += logprob;
}

}  // namespace

VerdictCost VerdictCostOf(const RewardFormat& format) {
  if (!format.verdict) return {};
  VerdictCost cost{
      .votes = format.verdict->votes,
      .path = format.verdict->has_history() || format.path_from_steps()};
  for (const auto& round : format.verdict->rounds) cost.tokens += round.tokens;
  return cost;
}

absl::StatusOr<std::unique_ptr<VerdictReader>> VerdictReader::Open(
    const RewardScorer& scorer, Backend& model, const Tokenizer& tokenizer,
    std::string question, uint64_t seed) {
  ESP_ASSIGN_OR_RETURN(const std::vector<int32_t> least,
                       scorer.layout.LayVerdict(question, {""}, {}));
  std::unique_ptr<VerdictReader> reader(
      new VerdictReader(scorer, model, tokenizer, std::move(question), seed));
  if (least.size() >= reader->room()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the question takes ", least.size(), " tokens in the layout of the ",
        "reward format ", scorer.format().name, " and the reward model's ",
        "context is ", reader->room(), "; shorten the question or take a ",
        "reward model with a longer context"));
  }
  return reader;
}

VerdictReader::~VerdictReader() {
  for (Place& place : places_) Forget(place);
}

void VerdictReader::Forget(Place& place) {
  model_.Release(place.prompt);
  for (const Vote& vote : place.votes) model_.Release(vote.seq);
  place = {};
}

bool VerdictReader::needs_path() const {
  return VerdictCostOf(scorer_.format()).path;
}

std::vector<NodeId> VerdictReader::WithText(const Tree& tree,
                                            NodeId node) const {
  std::vector<NodeId> nodes;
  for (const NodeId id : PathOf(tree, node)) {
    if (id == kRoot || HasText(tree.text(id))) nodes.push_back(id);
  }
  return nodes;
}

bool VerdictReader::IsSame(const Tree& tree, NodeId node) const {
  return needs_path() && node != kRoot && !HasText(tree.text(node)) &&
         Before(tree, node) != kNoNode;
}

absl::Status VerdictReader::Begin(const Tree& tree, NodeId node) {
  if (places_.size() < tree.size()) places_.resize(tree.size());
  Place& place = places_[node];
  Forget(place);
  const NodeId before = Before(tree, node);
  if (IsSame(tree, node)) {
    place.value = places_[before].value;
    Done(tree, node);
    return absl::OkStatus();
  }
  std::vector<std::string> steps, said;
  for (const NodeId id : WithText(tree, node)) {
    steps.emplace_back(id == kRoot ? "" : tree.text(id));
    if (id != node && format().has_history()) {
      ESP_CHECK(!places_[id].votes.empty());
      said.push_back(places_[id].votes[0].written.text);
    }
  }
  if (steps.empty()) steps.emplace_back();
  ESP_ASSIGN_OR_RETURN(place.ids,
                       scorer_.layout.LayVerdict(question_, steps, said));
  if (place.ids.size() >= room()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a path of ", steps.size(), steps.size() == 1 ? " step" : " steps",
        " takes ", place.ids.size(),
        " tokens in the layout of the reward format ", scorer_.format().name,
        " and the reward model's context is ", room(),
        ", which leaves none for its verdict; limit the response's tokens or "
        "take a reward model with a longer context"));
  }
  size_t shared = 0;
  if (before != kNoNode && before < places_.size()) {
    const auto& above = places_[before].ids;
    const auto [end, unused] = std::mismatch(place.ids.begin(), place.ids.end(),
                                             above.begin(), above.end());
    shared = static_cast<size_t>(end - place.ids.begin());
  }
  stats_.laid_out += static_cast<int64_t>(place.ids.size() - shared);
  // The prefix of a dialogue that goes on is the sequence of its last prompt.
  const bool goes_on = shared > 0 && shared < place.ids.size() &&
                       shared == places_[before].ids.size();
  place.prompt =
      goes_on ? model_.Extend(places_[before].prompt,
                              absl::MakeConstSpan(place.ids).subspan(shared))
              : model_.Extend(kEmptySeq, place.ids);
  place.votes.resize(static_cast<size_t>(format().votes));
  place.open = place.votes.size();
  for (Vote& vote : place.votes) {
    vote.length = place.ids.size();
    vote.written.text = StepLayout::Numbered(FirstSaid(), steps.size() - 1);
  }
  if (format().rounds[0].tokens == 0) {
    // Nothing is written: all votes are the same.
    for (size_t i = 0; i < place.votes.size(); ++i) {
      ReadChoices(node, i, place.prompt);
    }
    return absl::OkStatus();
  }
  GenerateRequest request =
      Write(tree, node, 0, place.prompt, place.ids.size(), Allowed(node, 0, 0));
  request.n = format().votes;
  Send(node, kFirstRound, model_, {.body = std::move(request)});
  return absl::OkStatus();
}

std::string VerdictReader::FirstSaid() const {
  // A prompt's end, such as the instruction and the control token after it, is
  // not part of what is said in a history.
  return format().has_history() ? format().rounds[0].say : std::string();
}

int VerdictReader::Allowed(NodeId node, size_t round, size_t written) const {
  const std::vector<RewardFormat::Verdict::Round>& rounds = format().rounds;
  if (max_tokens(node) == 0) return rounds[round].tokens;
  // Rounds that want little get it, and the others share the rest evenly.
  int left = max_tokens(node) - static_cast<int>(written);
  if (left < 1) return 0;
  std::vector<int> wanted;
  for (size_t r = round; r < rounds.size(); ++r) {
    if (rounds[r].tokens > 0) wanted.push_back(rounds[r].tokens);
  }
  std::sort(wanted.begin(), wanted.end());
  for (size_t i = 0; i < wanted.size(); ++i) {
    const int share = left / static_cast<int>(wanted.size() - i);
    if (wanted[i] > share) {
      return std::min(rounds[round].tokens, std::max(1, share));
    }
    left -= wanted[i];
  }
  return rounds[round].tokens;
}

GenerateRequest VerdictReader::Write(const Tree& tree, NodeId node,
                                     size_t round, SeqId from, size_t length,
                                     int allowed) const {
  const RewardFormat::Verdict::Round& rules = format().rounds[round];
  GenerateRequest request{
      .from = from,
      .sampling = {.temperature = format().temperature,
                   .top_k = format().top_k,
                   .top_p = format().top_p},
      .stop = {.delimiter = "",
               .max_tokens =
                   std::min(allowed, static_cast<int>(room() - length))},
      .stream = StreamKey(seed_, StableHash(question_), tree.path_hash(node),
                          Purpose::kVerdict, round)};
  const size_t index = std::max<size_t>(1, WithText(tree, node).size()) - 1;
  for (const std::string& stop : rules.stops) {
    request.stop.stop_strings.push_back(StepLayout::Numbered(stop, index));
  }
  return request;
}

absl::Status VerdictReader::Continue(const Tree& tree, NodeId node, int which,
                                     Completion completion) {
  if (!completion.rows.empty()) {
    const std::vector<float>& row = completion.rows[0];
    const std::vector<double> outputs(row.begin(), row.end());
    const RewardFormat& format = scorer_.format();
    EndVote(tree, node, static_cast<size_t>(which),
            SearchScore(format, RewardValue(format, outputs)));
    return absl::OkStatus();
  }
  auto& written = completion.continuations;
  if (which != kFirstRound) {
    return TakeRound(tree, node, static_cast<size_t>(which),
                     std::move(written[0]));
  }
  // All are taken, so that their sequences belong to the votes.
  absl::Status status;
  for (size_t i = 0; i < written.size(); ++i) {
    status.Update(TakeRound(tree, node, i, std::move(written[i])));
  }
  return status;
}

absl::Status VerdictReader::TakeRound(const Tree& tree, NodeId node,
                                      size_t index, Continuation written) {
  Vote& vote = places_[node].votes[index];
  const SeqId before = vote.seq == kEmptySeq ? places_[node].prompt : vote.seq;
  AppendTokens(written, vote.written);
  const auto& rules = format().rounds[vote.round];
  // What the text keeps: not the end token, nor a stop that is left out.
  std::vector<int32_t> tokens = std::move(written.tokens);
  if (written.finish == Finish::kEnd) tokens.pop_back();
  std::string text = tokenizer_.Decode(tokens);
  std::string rest;
  if (written.finish == Finish::kStop && !rules.keep_stop) {
    text.resize(std::min(text.size(), written.text_bytes));
    size_t bytes = 0, kept = 0;
    while (kept < tokens.size()) {
      const size_t more = tokenizer_.TokenBytes(tokens[kept]).size();
      if (bytes + more > text.size()) break;
      bytes += more;
      ++kept;
    }
    rest = text.substr(bytes);
    tokens.resize(kept);
  }
  vote.written.text += text;
  const bool last = vote.round + 1 == format().rounds.size();
  if (last) {
    ReadWritten(tree, node, index, before, tokens);
    model_.Release(written.seq);
    return absl::OkStatus();
  }
  const SeqId seq = tokens.empty() ? kEmptySeq : model_.Extend(before, tokens);
  vote.length += tokens.size();
  ++vote.round;
  const absl::Status status =
      NextRound(tree, node, index, seq == kEmptySeq ? before : seq, rest);
  model_.Release(seq);
  model_.Release(written.seq);
  return status;
}

absl::Status VerdictReader::NextRound(const Tree& tree, NodeId node,
                                      size_t index, SeqId from,
                                      const std::string& rest) {
  Vote& vote = places_[node].votes[index];
  const auto& rules = format().rounds[vote.round];
  const size_t steps = std::max<size_t>(1, WithText(tree, node).size());
  const std::string say = StepLayout::Numbered(rules.say, steps - 1);
  vote.written.text += say;
  ESP_ASSIGN_OR_RETURN(const std::vector<int32_t> tokens,
                       tokenizer_.EncodeContinuation(rest + say));
  vote.length += tokens.size();
  const bool writes = rules.tokens > 0;
  const int allowed = Allowed(node, vote.round, vote.written.tokens.size());
  // Without room for what is said, no verdict comes.
  if (vote.length > room() ||
      (writes && (vote.length == room() || allowed < 1))) {
    EndVote(tree, node, index, std::numeric_limits<double>::quiet_NaN());
    return absl::OkStatus();
  }
  const SeqId seq = model_.Extend(from, tokens);
  model_.Release(std::exchange(vote.seq, seq));
  if (!writes) {
    ReadChoices(node, index, seq);
    return absl::OkStatus();
  }
  GenerateRequest request =
      Write(tree, node, vote.round, seq, vote.length, allowed);
  request.first_sample = static_cast<int>(index);
  Send(node, static_cast<int>(index), model_, {.body = std::move(request)});
  return absl::OkStatus();
}

void VerdictReader::ReadWritten(const Tree& tree, NodeId node, size_t index,
                                SeqId before,
                                const std::vector<int32_t>& tokens) {
  const std::vector<int32_t>& choices = scorer_.layout.choices();
  for (size_t i = tokens.size(); i-- > 0;) {
    if (std::find(choices.begin(), choices.end(), tokens[i]) == choices.end()) {
      continue;
    }
    const std::string after =
        tokenizer_.Decode(absl::MakeConstSpan(tokens).subspan(i + 1));
    if (!after.starts_with(format().closes)) continue;
    Vote& vote = places_[node].votes[index];
    if (i == 0) {
      ReadChoices(node, index, before);
      return;
    }
    const SeqId seq =
        model_.Extend(before, absl::MakeConstSpan(tokens).first(i));
    model_.Release(std::exchange(vote.seq, seq));
    ReadChoices(node, index, seq);
    return;
  }
  EndVote(tree, node, index, std::numeric_limits<double>::quiet_NaN());
}

void VerdictReader::ReadChoices(NodeId node, size_t index, SeqId seq) {
  Send(node, static_cast<int>(index), model_,
       {.body = ScoreRequest{.sequences = {seq},
                             .read = ScoreRead::kLogprobs,
                             .tokens = scorer_.layout.choices()}});
}

void VerdictReader::EndVote(const Tree& tree, NodeId node, size_t index,
                            double value) {
  Place& place = places_[node];
  Vote& vote = place.votes[index];
  vote.written.truncated = std::isnan(value);
  vote.written.verdict =
      static_cast<float>(std::isnan(value) ? kUndecided : value);
  // The first vote's text is what a history goes on from.
  if (index > 0 || !format().has_history()) {
    model_.Release(std::exchange(vote.seq, kEmptySeq));
  }
  if (--place.open > 0) return;
  Average(place);
  Done(tree, node);
}

void VerdictReader::Average(Place& place) const {
  double sum = 0;
  for (const Vote& vote : place.votes) sum += vote.written.verdict;
  place.value =
      static_cast<float>(sum / static_cast<double>(place.votes.size()));
}

StepScores VerdictReader::Score(const Tree& tree, NodeId node) const {
  StepScores scores{.step = places_[node].value, .path = places_[node].value};
  if (!scorer_.format().path_from_steps()) return scores;
  for (const NodeId id : PathOf(tree, node)) {
    scores.path = std::min(scores.path, places_[id].value);
  }
  return scores;
}

void VerdictReader::AddWritten(NodeId node, SearchCompletion& out) const {
  for (const Vote& vote : places_[node].votes) {
    out.samples.push_back(vote.written);
  }
}

bool VerdictReader::TakeWritten(const Tree& tree, NodeId node,
                                absl::Span<const SampledStep>& samples) {
  if (places_.size() < tree.size()) places_.resize(tree.size());
  Place& place = places_[node];
  if (IsSame(tree, node)) {
    place.value = places_[Before(tree, node)].value;
    return !std::isnan(place.value);
  }
  const auto votes = static_cast<size_t>(format().votes);
  if (samples.size() < votes) return false;
  place.votes.resize(votes);
  for (size_t i = 0; i < votes; ++i) place.votes[i].written = samples[i];
  samples.remove_prefix(votes);
  Average(place);
  return true;
}

void VerdictReader::SetRetention(NodeId node, float priority) {
  if (node >= places_.size()) return;
  model_.SetRetention(places_[node].prompt, priority);
}

}  // namespace espalier
