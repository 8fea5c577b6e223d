#include "datasets/answers/words/stance.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/datasets/answers/pair_file.h"

namespace espalier {
namespace {

// Offsets found in the lower-case copy are used in the original text.
TEST(PlainLower, PlacesAreThoseOfTheText) {
  std::vector<std::string> texts = Corpus();
  texts.emplace_back("Ann\u2019s\\,pay\n IS \u2212\u221a5\xff");
  for (const std::string& text : texts) {
    const std::string lower = PlainLower(text);
    ASSERT_EQ(lower.size(), text.size()) << text;
    for (size_t at = 0; at < text.size(); ++at) {
      if (text[at] >= '0' && text[at] <= '9') {
        ASSERT_EQ(lower[at], text[at]) << text;
      }
    }
  }
}

}  // namespace
}  // namespace espalier
