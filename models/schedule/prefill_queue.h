// Sequences whose keys and values are being computed from their tokens.
//
// A fill takes what is missing of a whole path in one go, from the longest
// beginning that is stored: an evicted suffix is one chunk, whatever the number
// of sequences that it spans. Chunks end where a sequence ends whose last
// hidden row is not known yet. What lies on the path of one fill is not filled
// by another, so nothing is computed twice:
//
//   prompt [0, 100) --+-- a [100, 130)   fills 0 .. 130
//                     `-- b [100, 120)   waits until a's table covers 100,
//                                        then fills 100 .. 120
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

  // True if `id`'s hidden row is there (and its pages, all in a table of its
  // own, if `pages`); else sees to it that what is missing is being computed.
  // To be called in every step in which somebody still wants it.
  bool Ensure(SeqId id, bool pages);

  // Begins a step: from now on Ensure tells what is wanted.
  void BeginStep() { ++step_; }
  // Stops computing what nobody has asked for in this step: its requests were
  // cancelled, failed or put off. What is computed stays, open to eviction.
  // True if there was any.
  bool DropUnwanted();

  // Adds segments of at most `chunk` tokens each and `room` together, the
  // oldest fill first. They stay valid until Advance.
  void Plan(int chunk, int room, std::vector<Segment>& segments);
  // Segment i of the last Plan has run: `hidden(i)` is its last row. Of `d`
  // floats each.
  template <class HiddenRow>
  void Advance(int d, const HiddenRow& hidden) {
    for (size_t i = 0; i < planned_.size(); ++i) {
      const float* row = hidden(i);
      AdvanceOne(planned_[i], absl::MakeConstSpan(row, static_cast<size_t>(d)));
    }
    Finish();
  }
  int planned() const { return static_cast<int>(planned_.size()); }

  // Memory is short: one fill at a time.
  void set_scarce(bool scarce) { scarce_ = scarce; }
  // Gives up the youngest fill but one. False: there is at most one.
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
  // Where the chunk that begins at `have` has to end.
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
