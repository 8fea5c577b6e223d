#include "base/utf8.h"

#include <array>
#include <string>

#include "gtest/gtest.h"

namespace espalier {
namespace {

// The forms of RFC 3629, section 4, written out.
bool WellFormed(const std::string& s) {
  const auto in = [&](size_t i, int low, int high) {
    const int byte = static_cast<unsigned char>(s[i]);
    return byte >= low && byte <= high;
  };
  switch (s.size()) {
    case 1:
      return in(0, 0, 0x7F);
    case 2:
      return in(0, 0xC2, 0xDF) && in(1, 0x80, 0xBF);
    case 3:
      return in(2, 0x80, 0xBF) && ((in(0, 0xE0, 0xE0) && in(1, 0xA0, 0xBF)) ||
                                   (in(0, 0xE1, 0xEC) && in(1, 0x80, 0xBF)) ||
                                   (in(0, 0xED, 0xED) && in(1, 0x80, 0x9F)) ||
                                   (in(0, 0xEE, 0xEF) && in(1, 0x80, 0xBF)));
    case 4:
      return in(2, 0x80, 0xBF) && in(3, 0x80, 0xBF) &&
             ((in(0, 0xF0, 0xF0) && in(1, 0x90, 0xBF)) ||
              (in(0, 0xF1, 0xF3) && in(1, 0x80, 0xBF)) ||
              (in(0, 0xF4, 0xF4) && in(1, 0x80, 0x8F)));
    default:
      return false;
  }
}

TEST(Utf8Test, EveryScalarValueComesBack) {
  for (uint32_t code = 0; code <= 0x10FFFF; ++code) {
    if (code >= 0xD800 && code <= 0xDFFF) continue;
    std::string text;
    AppendUtf8(code, text);
    ASSERT_TRUE(WellFormed(text)) << code;
    const Utf8Char c = NextUtf8(text);
    ASSERT_TRUE(c.valid);
    ASSERT_EQ(c.code, code);
    ASSERT_EQ(c.size, text.size());
    // Cut short it is none.
    for (size_t cut = 1; cut < text.size(); ++cut) {
      ASSERT_FALSE(NextUtf8(text.substr(0, cut)).valid) << code;
    }
  }
}

TEST(Utf8Test, OnlyWellFormedBytesAreACharacter) {
  // The bytes at which the rules of a table row begin and end.
  constexpr std::array<int, 24> kEdges = {
      0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2,
      0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF3, 0xF4, 0xF5, 0xFF};
  for (const int a : kEdges) {
    for (const int b : kEdges) {
      for (const int c : kEdges) {
        for (const int d : kEdges) {
          const std::string text = {static_cast<char>(a), static_cast<char>(b),
                                    static_cast<char>(c), static_cast<char>(d)};
          size_t size = 1;
          while (size <= 4 && !WellFormed(text.substr(0, size))) ++size;
          const Utf8Char found = NextUtf8(text);
          ASSERT_EQ(found.valid, size <= 4) << a << " " << b << " " << c;
          ASSERT_EQ(found.size, size <= 4 ? size : 1);
        }
      }
    }
  }
}

TEST(Utf8Test, FirstWrongByte) {
  EXPECT_EQ(FirstInvalidUtf8("a\u00e9\u4e2d\U0001F600"), std::nullopt);
  EXPECT_EQ(FirstInvalidUtf8("a\u00e9\x80"), 3u);
  EXPECT_EQ(FirstInvalidUtf8("ab\xED\xA0\x80"), 2u);
  EXPECT_EQ(Utf8Stretch("\x80\xFFok", false), 2u);
}

TEST(Utf8Test, PlacesBetweenCharacters) {
  const std::string text = "a\u00e9\u4e2d";  // 1, 2 and 3 bytes
  const size_t next[] = {0, 1, 3, 3, 6, 6, 6, 6};
  for (size_t at = 0; at < 8; ++at) {
    EXPECT_EQ(NextUtf8Boundary(text, at), next[at]) << at;
  }
}

// As Unicode's EastAsianWidth.txt has them.
TEST(Utf8Test, ColumnsOfATerminal) {
  EXPECT_EQ(Utf8Columns('a'), 1);
  EXPECT_EQ(Utf8Columns(0xE9), 1);     // e acute
  EXPECT_EQ(Utf8Columns(0x301), 0);    // combining acute accent
  EXPECT_EQ(Utf8Columns(0x221A), 1);   // square root
  EXPECT_EQ(Utf8Columns(0x4E2D), 2);   // ideograph
  EXPECT_EQ(Utf8Columns(0x1F600), 2);  // emoji
}

}  // namespace
}  // namespace espalier
