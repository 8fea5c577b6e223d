// Samples of a search's nodes that were drawn before the search asks for them.
//
// While the scores of new steps are under way a search waits, though it will
// most likely go on from one of the likeliest. What it will ask for is known
// but for the node: samples of a node come from the node's own stream. So they
// are drawn meanwhile, and kept for when the search asks. A request that
// differs in anything that matters is sent as if nothing had been drawn: trees
// and answers are those of the search without speculation.
//
// The latest kMostKept nodes' samples are kept.
//
// Holds references to sequences, which the runner releases (TakeSpare).
// Externally synchronised.
#ifndef ESPALIER_SRC_ENGINE_SPECULATION_H_
#define ESPALIER_SRC_ENGINE_SPECULATION_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "models/backend/backend.h"
#include "search/search_context.h"

namespace espalier {

class Speculation {
 public:
  static constexpr size_t kMostKept = 1024;

  enum class Answer : uint8_t {
    kNone,      // nothing was drawn, or not what is asked for
    kHere,      // it was drawn
    kUnderWay,  // it is being drawn: Arrive returns the request
  };
  // What an arrival means for a search that waits for it.
  struct Arrival {
    std::optional<SearchRequest> request;  // that waits; nullopt: none does
    bool serves = false;                   // `samples` answer it
    std::vector<Continuation> samples;
  };

  // Remembers an Expand, sent to policy number `policy`: the next ones will be
  // like it.
  void Learn(const SearchRequest& expand, size_t policy);
  // Up to `most` Expands that the search may ask for once it has the scores of
  // `nodes`: of the likeliest of these by the log-prob of their step. Empty if
  // the search has not expanded a node yet. `seed`: the search's.
  std::vector<SearchRequest> Choose(const SearchContext& context,
                                    absl::Span<const NodeId> nodes,
                                    uint64_t seed, size_t most) const;
  size_t policy() const { return policy_; }

  // `id`: the request that draws `body` at policy number `policy` for `node`.
  void Add(RequestId id, NodeId node, size_t policy, GenerateRequest body);
  // Answers `request` of the search, which would be sent as `body`. kHere fills
  // `samples`.
  Answer Ask(const SearchRequest& request, size_t policy,
             const GenerateRequest& body, std::vector<Continuation>& samples);
  // The samples of `id`; none if they could not be drawn.
  Arrival Arrive(RequestId id, std::vector<Continuation> samples);
  // The number of the request that waits for `id`; nullopt: none does.
  std::optional<uint64_t> AskedBy(RequestId id) const;

  // Forgets what is under way, or everything.
  void DropUnderWay();
  void DropAll();
  // Sequences to be released, each with its policy's number.
  std::vector<std::pair<size_t, SeqId>> TakeSpare();
  // Tokens that were drawn, have arrived and were not asked for, so far as that
  // is known: all that is held counts once DropAll was called.
  int64_t unused_tokens() const { return unused_tokens_; }

 private:
  struct Entry {
    RequestId id = 0;
    size_t policy = 0;
    GenerateRequest body;
    bool arrived = false;
    std::optional<SearchRequest> request;  // that waits
    int asked_n = 0, asked_tokens = 0;     // its samples, tokens of each
    std::vector<Continuation> samples;
  };

  // True if the samples are what a request of `n` samples of at most
  // `max_tokens` tokens each would get.
  static bool Serves(const Entry& entry, int n, int max_tokens);
  // Takes the first `n` samples out; the others are spare.
  std::vector<Continuation> Take(Entry& entry, int n);
  void Spare(Entry& entry);
  // Lets go of the oldest if there are too many.
  void Trim();

  std::optional<SearchRequest> last_;
  size_t policy_ = 0;
  absl::flat_hash_map<NodeId, Entry> entries_;
  absl::flat_hash_map<RequestId, NodeId> under_way_;
  // Those that have arrived, the oldest first; some are gone since.
  std::deque<std::pair<RequestId, NodeId>> arrived_;
  std::vector<std::pair<size_t, SeqId>> spare_;
  int64_t unused_tokens_ = 0;
};

}  // namespace espalier

#endif  // ESPALIER_SRC_ENGINE_SPECULATION_H_
