// Which problems are held out of a fit or a training, to be measured on.
#ifndef ESPALIER_SRC_TRACE_LABELS_HELD_OUT_H_
#define ESPALIER_SRC_TRACE_LABELS_HELD_OUT_H_

#include <cstdint>

#include "base/random.h"

namespace espalier {

// Whether the problem of this hash is among the held-out ones, about `share` of
// all. It depends on nothing else, so a problem stays where it is when others
// are added. Stateless: thread-safe.
inline bool IsHeldOut(uint64_t problem_hash, double share, uint64_t seed) {
  RandomStream random(StreamKey(seed, problem_hash, 0, Purpose::kBootstrap));
  return random.UniformDouble() < share;
}

}  // namespace espalier

#endif  // ESPALIER_SRC_TRACE_LABELS_HELD_OUT_H_
