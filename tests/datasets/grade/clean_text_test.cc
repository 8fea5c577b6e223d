#include "datasets/grade/clean_text.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

TEST(WithPlainSigns, OneByteEach) {
  EXPECT_EQ(WithPlainSigns("Ann\u2019s \u22125"), "Ann's -5");
  EXPECT_EQ(WithPlainSigns("\u2018it\u02bcs\u2019"), "'it's'");
  EXPECT_EQ(WithPlainSigns("\u2026\xe2\x80"), "\u2026\xe2\x80");
}

}  // namespace
}  // namespace espalier
