#include "src/learn/tree_packer.h"

#include <algorithm>
#include <numeric>

namespace espalier {

size_t CommonPrefix(const std::vector<int32_t>& a,
                    const std::vector<int32_t>& b) {
  const auto [at, unused] =
      std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<size_t>(at - a.begin());
}

TreeStream PackTrees(absl::Span<const TrainSequence* const> sequences,
                     bool share) {
  TreeStream out;
  out.rows.resize(sequences.size());
  std::vector<size_t> order(sequences.size());
  std::iota(order.begin(), order.end(), size_t{0});
  // Sorted, each sequence shares its longest prefix with the previous one.
  if (share) {
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return sequences[a]->tokens < sequences[b]->tokens;
    });
  }
  net::PackedStream& stream = out.stream;
  const std::vector<int32_t>* path = nullptr;    // rows of the previous one
  const std::vector<int32_t>* before = nullptr;  // its tokens
  const auto close = [&](size_t depth) {
    if (path == nullptr) return;
    for (size_t t = depth; t < path->size(); ++t) {
      stream.ends[static_cast<size_t>((*path)[t])] = stream.size();
    }
  };
  for (const size_t s : order) {
    const std::vector<int32_t>& tokens = sequences[s]->tokens;
    size_t shared =
        share && before != nullptr ? CommonPrefix(tokens, *before) : 0;
    if (shared < kWorthSharing) shared = 0;
    close(shared);
    std::vector<int32_t>& rows = out.rows[s];
    if (shared > 0) {
      rows.assign(path->begin(),
                  path->begin() + static_cast<std::ptrdiff_t>(shared));
    } else if (stream.size() > 0) {
      stream.starts.push_back(stream.size());
    }
    for (size_t t = shared; t < tokens.size(); ++t) {
      out.parents.push_back(rows.empty() ? -1 : rows.back());
      rows.push_back(stream.size());
      stream.tokens.push_back(tokens[t]);
      stream.positions.push_back(static_cast<int32_t>(t));
      stream.ends.push_back(0);
    }
    path = &rows;
    before = &tokens;
  }
  close(0);
  stream.starts.push_back(stream.size());
  return out;
}

}  // namespace espalier
