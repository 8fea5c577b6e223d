// Trees of random steps for tests of reward models' readers.
#ifndef ESPALIER_TESTS_ENGINE_REWARD_TREES_H_
#define ESPALIER_TESTS_ENGINE_REWARD_TREES_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "search/tree/tree.h"

namespace espalier {

inline NodeId AddStep(Tree& tree, NodeId parent, const std::string& text) {
  return tree.Add(parent, {.text = text});
}

// A line of text in which tokenizers merge, also at its end.
inline std::string RandomStep(RandomStream& random) {
  const char* words[] = {"the", "Step", "is",   "17",   "+ 25", "= 42.",
                         "so",  "даже", "руки", "even", "x\ny", "and,"};
  std::string text;
  for (int n = random.Range(3, 9); n > 0; --n) {
    absl::StrAppend(&text, text.empty() ? "" : " ", words[random.Below(12)]);
  }
  const char* ends[] = {"\n", ".\n", ".\n\n", "\n\n"};
  return text + ends[random.Below(4)];
}

// Adds `count` nodes at random places.
inline void Grow(Tree& tree, int count, RandomStream& random) {
  for (int i = 0; i < count; ++i) {
    // Half of them extend one of the newest, so that some paths are long.
    const auto size = static_cast<uint32_t>(tree.size());
    const uint32_t newest = std::min<uint32_t>(size, 6);
    const NodeId parent =
        random.Below(2) == 0
            ? static_cast<NodeId>(random.Below(size))
            : static_cast<NodeId>(size - newest + random.Below(newest));
    AddStep(tree, parent, absl::StrCat(RandomStep(random)));
  }
}

// A step of about 30 tokens, as models write them.
inline std::string LongStep(int i) {
  return absl::StrCat("Then the sum of ", i, " and ", i + 3,
                      " is taken, which is ", 2 * i + 3, ", so it holds.\n\n");
}

// The steps of a path without white space around them.
inline std::vector<std::string> StrippedSteps(const Tree& tree, NodeId node) {
  std::vector<std::string> steps;
  for (const NodeId id : tree.Path(node)) {
    steps.emplace_back(absl::StripAsciiWhitespace(
        absl::string_view(tree.text(id).data(), tree.text(id).size())));
  }
  return steps;
}

}  // namespace espalier

#endif  // ESPALIER_TESTS_ENGINE_REWARD_TREES_H_
