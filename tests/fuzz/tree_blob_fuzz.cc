// A stored tree, plain and compressed.
#include "base/check.h"
#include "src/trace/stored_tree.h"
#include "tests/fuzz/fuzz_target.h"

namespace espalier {

ESPALIER_FUZZ(tree_blob) {
  const auto plain = Decompress(bytes, size_t{1} << 24);
  const auto tree = DecodeTree(plain.ok() ? std::string_view(*plain) : bytes);
  if (!tree.ok()) return;
  const auto again = DecodeTree(EncodeTree(*tree));
  ESP_CHECK_OK(again.status());
  ESP_CHECK(FirstDifference(*tree, *again).empty());
  ESP_CHECK(tree->ChildLists().size() == tree->nodes.size());
  const size_t step = tree->nodes.size() / 100 + 1;
  for (size_t i = 0; i < tree->nodes.size(); i += step) {
    Touch(tree->Text(i));
    Touch(tree->Response(i));
    ESP_CHECK(tree->Tokens(i).size() == tree->nodes[i].num_tokens);
  }
}

}  // namespace espalier
