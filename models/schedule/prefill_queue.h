// Prefill: sequences whose keys and values are being computed from tokens.
//
// A prefill computes everything that a path misses, starting from its longest
// stored prefix: an evicted suffix is one chunk, however many sequences it
// spans. Chunks end where a sequence ends whose last hidden row is not yet
// known. Two prefills never cover the same part of a path, so nothing is
// computed twice:
//
//   prompt [0, 100) --+-- a [100, 130)   prefills 0 .. 130
//                     `-- b [100, 120)   waits until a's table covers 100,
//                                        then prefills 100 .. 120
//
// Externally synchronised.
#ifndef ESPALIER_MODELS_SCHEDULE_PREFILL_QUEUE_H_
#define ESPALIER_MODELS_SCHEDULE_PREFILL_QUEUE_H_

#include <cstdint>
#include <vector>

#include "models/backend/backend.h"
#include "models/schedule/prefix_tree.h"
#include "models/trunk/trunk.h"

namespace espalier {

class PrefillQueue {
 public:
  PrefillQueue(PrefixTree& tree, BackendStats& stats)
      : tree_(tree), stats_(stats) {}

  // True if `id`'s hidden row is known (and, with `pages`, all its pages are in
  // its own table); else makes sure that what is missing is being computed.
  // Call it in every step for as long as the result is needed.
  bool Ensure(SeqId id, bool pages);

  // Begins a step: Ensure calls from now on mark what this step needs.
  void BeginStep() { ++step_; }
  // Stops prefills that no Ensure call of this step needed: their requests were
  // cancelled, failed or preempted. What is computed stays, open to eviction.
  // True if there were any.
  bool DropUnwanted();

  // Adds segments of at most `chunk` tokens each and `room` in total, oldest
  // prefill first. They stay valid until Advance.
  void Plan(int chunk, int room, std::vector<Segment>& segments);
  // The segments of the last Plan have run: `hidden(i)` is the last row of
  // segment i, `d` floats.
  template <class HiddenRow>
  void Advance(int d, const HiddenRow& hidden) {
    for (size_t i = 0; i < planned_.size(); ++i) {
      const float* row = hidden(i);
      AdvanceOne(planned_[i], absl::MakeConstSpan(row, static_cast<size_t>(d)));
    }
    Finish();
  }
  int planned() const { return static_cast<int>(planned_.size()); }

  // Memory is short: one prefill at a time.
  void set_scarce(bool scarce) { scarce_ = scarce; }
  // Drops the youngest prefill, unless it is the only one. True if it did.
  bool GiveUpYoungest();

 private:
  struct Prefill {
    SeqId target = kEmptySeq;
    int begin = 0;                // position of tokens[0]
    std::vector<int32_t> tokens;  // up to the target's end
  };
  struct Chunk {
    size_t fill = 0;
    int count = 0;
  };
  bool Begin(SeqId id);
  // Where the chunk that starts at position `have` has to end.
  int Boundary(SeqId target, int have) const;
  void Mark(SeqId id, int from, SeqId filler);
  void AdvanceOne(const Chunk& chunk, absl::Span<const float> hidden);
  void Finish();
  void Stop(const Prefill& fill);

  PrefixTree& tree_;
  BackendStats& stats_;
  std::vector<Prefill> prefills_;  // in order of start; targets are locked
  std::vector<Chunk> planned_;
  int64_t step_ = 0;
  bool scarce_ = false;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_SCHEDULE_PREFILL_QUEUE_H_
