#include "src/learn/trainable.h"

#include "absl/strings/str_cat.h"
#include "base/random.h"

namespace espalier {

void AllWeights::Apply(Executor& executor) { RefreshMatrices(net_, executor); }

std::string AllWeights::Description() const {
  return absl::StrCat("all weights of a net of the shapes ",
                      absl::Hex(HashShapes(net_.parameters())));
}

void RefreshMatrices(net::LlamaNet& net, Executor& executor) {
  executor.ParallelFor(net.matrices(), 1, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) net.RefreshMatrix(i);
  });
}

uint64_t HashShapes(absl::Span<const net::NetParameter> parameters) {
  uint64_t hash = StableHash("shapes");
  for (const net::NetParameter& p : parameters) {
    hash = MixHash(hash, StableHash(p.name));
    for (int64_t n : p.shape) hash = MixHash(hash, static_cast<uint64_t>(n));
  }
  return hash;
}

}  // namespace espalier
