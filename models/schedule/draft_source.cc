#include "models/schedule/draft_source.h"

#include <algorithm>

namespace espalier {
namespace {

// Chances follow a change of texts within about this many guesses.
constexpr uint32_t kMostCounted = 1024;

// One product: many words are hashed for each token that is drawn.
uint64_t WithWord(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9E3779B97F4A7C15ull;
  return hash ^ hash >> 32;
}
uint64_t WithToken(uint64_t hash, int32_t token) {
  return WithWord(hash, static_cast<uint32_t>(token) + uint64_t{1});
}

}  // namespace

void DraftSource::Context::Add(int32_t token) {
  whole_ = WithToken(whole_, token);
  std::copy_backward(last_.begin(), last_.end() - 1, last_.end());
  last_[0] = token;
  size_ = std::min(size_ + 1, kLongest);
}

void DraftSource::Context::AddGuess(int32_t token) {
  Add(token);
  streak_ = std::min(streak_ + 1, kLongStreak);
}

uint64_t DraftSource::Hash(uint64_t text, absl::Span<const int32_t> tokens) {
  for (const int32_t token : tokens) text = WithToken(text, token);
  return text;
}

DraftSource::Context DraftSource::Start(uint64_t prompt, uint64_t whole,
                                        absl::Span<const int32_t> tail) {
  Context context;
  for (const int32_t token : tail) context.Add(token);
  context.prompt_ = prompt;
  context.whole_ = whole;
  return context;
}

DraftSource::Keys DraftSource::KeysOf(const Context& context) {
  std::array<uint64_t, kLongest + 1> last;  // hash of the last k tokens
  last[0] = 0;
  for (int k = 0; k < context.size_; ++k) {
    const auto at = static_cast<size_t>(k);
    last[at + 1] = WithToken(last[at], context.last_[at]);
  }
  Keys keys = {};
  for (size_t kind = 0; kind < kKinds.size(); ++kind) {
    const auto [tokens, own] = kKinds[kind];
    if (tokens > context.size_) continue;
    uint64_t key =
        tokens == 0 ? context.whole_ : last[static_cast<size_t>(tokens)];
    if (own) key = WithWord(key, context.prompt_);
    keys[kind] = WithWord(key, (kind + 1) << 56);
  }
  return keys;
}

size_t DraftSource::Class(size_t kind, const Seen& seen, int streak) {
  const size_t total = seen.total < 3 ? seen.total - 1 : seen.total < 7 ? 2 : 3;
  const size_t share =
      std::min<size_t>(kShares - 1, size_t{seen.count} * kShares / seen.total);
  return ((kind * kTotals + total) * kShares + share) * (kLongStreak + 1) +
         static_cast<size_t>(streak);
}

// Begins at the guess's own share, as if from two guesses.
float DraftSource::ChanceOf(size_t kind, const Seen& seen, int streak) const {
  const Chance& chance = chances_[Class(kind, seen, streak)];
  const float share =
      static_cast<float>(seen.count) / (static_cast<float>(seen.total) + 1);
  return (static_cast<float>(chance.right) + 2 * share) /
         (static_cast<float>(chance.guesses) + 2);
}

DraftSource::Seen DraftSource::Find(const Context& context, size_t kind) const {
  const uint64_t key = KeysOf(context)[kind];
  const auto it = seen_.find(key);
  return key == 0 || it == seen_.end() ? Seen() : it->second;
}

DraftSource::Guess DraftSource::Next(const Context& context) const {
  Guess best;
  const Keys keys = KeysOf(context);
  for (size_t kind = 0; kind < kKinds.size(); ++kind) {
    if (keys[kind] == 0) continue;
    const auto it = seen_.find(keys[kind]);
    if (it == seen_.end()) continue;
    const float chance = ChanceOf(kind, it->second, context.streak_);
    if (chance > best.chance) best = {it->second.token, chance};
  }
  return best;
}

void DraftSource::Count(uint64_t key, Seen& seen, int32_t token) {
  ++seen.total;
  if (seen.count == 0) seen.token = token;
  if (token == seen.token) {
    ++seen.count;
    return;
  }
  uint32_t& count = others_[WithToken(key, token)];
  if (++count <= seen.count) return;
  // It takes over. The reference stays valid only until the next insertion.
  const Seen before = seen;
  seen.token = token;
  seen.count = count;
  others_[WithToken(key, before.token)] = before.count;
}

void DraftSource::MakeRoom() {
  if (seen_.size() + others_.size() <= kMostEndings) return;
  seen_.clear();
  others_.clear();
}

void DraftSource::Learn(Context& context, int32_t token) {
  MakeRoom();
  const Keys keys = KeysOf(context);
  Guess best;
  for (size_t kind = 0; kind < kKinds.size(); ++kind) {
    if (keys[kind] == 0) continue;
    Seen& seen = seen_[keys[kind]];
    if (seen.total > 0) {
      const float guessed = ChanceOf(kind, seen, context.streak_);
      if (guessed > best.chance) best = {seen.token, guessed};
      Chance& chance = chances_[Class(kind, seen, context.streak_)];
      chance.right += seen.token == token ? 1 : 0;
      if (++chance.guesses >= kMostCounted) {
        chance.right /= 2;
        chance.guesses /= 2;
      }
    }
    Count(keys[kind], seen, token);
  }
  if (best.token == token) {
    context.AddGuess(token);
  } else {
    context.Add(token);
    context.streak_ = 0;
  }
}

void DraftSource::LearnGiven(Context& context, int32_t token) {
  MakeRoom();
  const Keys keys = KeysOf(context);
  for (size_t kind = 0; kind < kKinds.size(); ++kind) {
    if (keys[kind] != 0) Count(keys[kind], seen_[keys[kind]], token);
  }
  context.Add(token);
}

}  // namespace espalier
