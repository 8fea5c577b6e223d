#include "datasets/tasks/split.h"

#include <algorithm>

#include "base/random.h"

namespace espalier {

bool BelongsToSeed(std::string_view content, uint64_t seed) {
  // 0 tests, 1 choosing, 2 training.
  const uint64_t of_content = std::min<uint64_t>(StableHash(content) % 10, 2);
  const uint64_t of_seed = seed >= kFirstTestSeed       ? 0
                           : seed >= kFirstChoosingSeed ? 1
                                                        : 2;
  return of_content == of_seed;
}

}  // namespace espalier
