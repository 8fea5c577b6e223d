// Drafts: rows run guesses of their next tokens together with their last token.
//
//   tokens   ... 2 3 + 4      the row, "4" not yet run
//   ahead            4 8 = 7  run in this step: 4, then three guesses
//   drawn              8 = 8  after 4, 8 and =: the third is not the guess
//   tokens   ... 2 3 + 4 8 = 8
//
// What is drawn is the sampler's own choice at each place, from logits that are
// the same bits as without guesses (trunk.h) and with the random number of that
// place: a guess decides only how much is drawn in one step. Keys and values of
// wrong guesses stay in the row's last page, beyond its resident tokens, and
// are overwritten.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "models/schedule/trunk_backend.h"

namespace espalier {
namespace {

constexpr int kMostGuesses = 15;  // per row and step
constexpr int32_t kNoGuess = -1;  // no token
constexpr float kMargin = 1.1f;
constexpr float kSure = 0.97f;  // such a guess may always join

// What a step costs whatever its rows, in rows: reading the weights and the
// step's own overhead. Measured with one thread of an AVX-512 machine without
// AMX: 2 for 1 M to 5 M parameters, which caches hold, 7 for 100 M. With AMX it
// is more.
float StepCost(const TrunkConfig& config) {
  const double d = config.hidden_size;
  const double parameters =
      d * config.vocab_size +
      config.layers * (2 * d * d + 3 * d * config.intermediate_size);
  return parameters < 16e6 ? 2.0f : 6.0f;
}

}  // namespace

// What a question says comes again in the responses. Of a prompt that begins as
// others do, which the tree stores once, that part is learned once.
void TrunkBackend::LearnPrompt(SeqId prompt) {
  constexpr size_t kMostPrompts = 1 << 16;
  if (prompts_.size() > kMostPrompts) prompts_.clear();
  const uint64_t own = tree_.at(prompt).hash;
  for (SeqId id = prompt; id > kEmptySeq; id = tree_.at(id).parent) {
    const Sequence& part = tree_.at(id);
    if (!prompts_.insert(part.hash).second) return;
    DraftSource::Context context =
        DraftSource::Start(own, tree_.at(part.parent).hash, {});
    for (const int32_t token : part.tokens) drafts_.LearnGiven(context, token);
  }
}

DraftSource::Context TrunkBackend::ContextOf(SeqId id) {
  const Sequence& text = tree_.at(id);
  LearnPrompt(text.group);
  std::vector<int32_t> tail;  // the last token first
  for (SeqId part = id; part > kEmptySeq; part = tree_.at(part).parent) {
    const std::vector<int32_t>& tokens = tree_.at(part).tokens;
    for (size_t i = tokens.size(); i-- > 0;) {
      if (tail.size() == DraftSource::kLongest) break;
      tail.push_back(tokens[i]);
    }
    if (tail.size() == DraftSource::kLongest) break;
  }
  std::reverse(tail.begin(), tail.end());
  return DraftSource::Start(tree_.at(text.group).hash, text.hash, tail);
}

bool TrunkBackend::Draws(const Batch::Planned& planned) const {
  const Row& row = *planned.row;
  return tree_.at(row.job->from()).end() + row.forwarded() ==
         row.table.resident + planned.count;
}

void TrunkBackend::PlanDrafts() {
  if (!options_.drafts) return;
  float cost = StepCost(trunk_.config());
  float gain = 0;
  for (const Batch::Planned& planned : batch_.rows) {
    cost += static_cast<float>(planned.count);
    gain += planned.row->job->kind == JobKind::kGenerate ? 1 : 0;
  }
  for (size_t i = batch_.rows.size(); i < batch_.segments.size(); ++i) {
    cost += static_cast<float>(batch_.segments[i].tokens.size());
  }
  for (const Batch::Planned& planned : batch_.rows) {
    Row& row = *planned.row;
    row.ahead.clear();
    // The penalty would have to know of the guesses.
    if (row.job->kind != JobKind::kGenerate || !Draws(planned) ||
        planned.count > 1 ||
        row.job->generation.sampling.repetition_penalty != 1) {
      continue;
    }
    const int have = row.table.resident;
    const int written = static_cast<int>(row.tokens.size());
    // In the page that it has anyway, and where tokens may still be drawn.
    const int most =
        std::min({kMostGuesses, options_.chunk_tokens - 1,
                  kPageSlots - 1 - have % kPageSlots,
                  row.job->generation.stop.max_tokens - written - 1,
                  capabilities_.context_length -
                      tree_.at(row.job->from()).end() - written - 1});
    Guess(row, most, cost, gain);
  }
}

// Another guess raises the tokens per cost of the step if its chance is above
// gain / cost; it has to by some margin, as both are estimates.
void TrunkBackend::Guess(Row& row, int most, float& cost, float& gain) {
  DraftSource::Context context = row.context;
  StopMatcher stop;
  float chance = 1;
  bool ends = false;
  for (int i = 0; i < most && !ends; ++i) {
    const DraftSource::Guess guess = drafts_.Next(context);
    chance *= guess.chance;
    const float least = std::min(kMargin * gain / cost, kSure);
    if (guess.token < 0 || chance <= least ||
        trunk_.config().IsEnd(guess.token)) {
      return;
    }
    if (row.ahead.empty()) {
      row.ahead.push_back(row.tokens.back());
      stop = row.stop;
    }
    row.ahead.push_back(guess.token);
    context.AddGuess(guess.token);
    gain += chance;
    cost += 1;
    ends = stop.Add(row.job->generation.stop,
                    tokenizer_.TokenBytes(guess.token)) !=
           StopMatcher::Found::kNothing;
  }
}

void TrunkBackend::TakeDraws(Row& row,
                             absl::Span<const RowSampler::Output> outputs) {
  places_.resize(row.members.size());
  std::iota(places_.begin(), places_.end(), size_t{0});
  stats_.tokens_drafted += static_cast<int64_t>(outputs.size() - 1);
  const std::vector<int32_t> ahead = std::move(row.ahead);
  row.ahead.clear();
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].status.ok()) {
      row.job->failure.Update(outputs[i].status);
      return;
    }
    const int32_t guess = i + 1 < outputs.size() ? ahead[i + 1] : kNoGuess;
    if (!Accept(row, outputs[i], guess)) return;
    Advance(row, 1);
    ++stats_.drafts_accepted;
    if (row.finished) {
      const absl::Span<const float> hidden = outputs[i + 1].hidden;
      row.last_hidden.assign(hidden.begin(), hidden.end());
      return;
    }
  }
}

bool TrunkBackend::Accept(Row& row, const RowSampler::Output& output,
                          int32_t guess) {
  const std::vector<Sampled>& drawn = output.drawn;
  const int32_t first = drawn[places_[0]].token;
  const bool agree =
      std::all_of(places_.begin(), places_.end(),
                  [&](size_t place) { return drawn[place].token == first; });
  if (agree) {
    Push(row, drawn[places_[0]], output);
    return first == guess;
  }
  struct Group {
    Sampled drawn;
    std::vector<Member> members;
    std::vector<size_t> places;
  };
  std::vector<Group> groups;  // in order of their first members
  absl::flat_hash_map<int32_t, size_t> group_of;
  for (size_t i = 0; i < places_.size(); ++i) {
    const Sampled& sampled = drawn[places_[i]];
    const auto [it, is_new] =
        group_of.try_emplace(sampled.token, groups.size());
    if (is_new) groups.push_back({sampled, {}, {}});
    groups[it->second].members.push_back(row.members[i]);
    groups[it->second].places.push_back(places_[i]);
  }
  // The guess's keys and values are in the row's own page.
  const auto guessed = group_of.find(guess);
  const size_t kept = guessed == group_of.end() ? 0 : guessed->second;
  for (size_t g = 0; g < groups.size(); ++g) {
    if (g == kept) continue;
    row.forks.push_back(Fork(row, std::move(groups[g].members)));
    Push(*row.forks.back(), groups[g].drawn, output);
  }
  row.members = std::move(groups[kept].members);
  places_ = std::move(groups[kept].places);
  Push(row, groups[kept].drawn, output);
  return guessed != group_of.end();
}

}  // namespace espalier
