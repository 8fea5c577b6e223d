#include "models/tokenizer/stream_decoder.h"

#include "base/random.h"
#include "base/utf8.h"
#include "gtest/gtest.h"
#include "tests/models/tokenizer/tokenizer_data.h"

namespace espalier {
namespace {

// U+FFFD, n times.
std::string Bad(int n) {
  std::string text;
  for (int i = 0; i < n; ++i) text += "\xEF\xBF\xBD";
  return text;
}

std::string Whole(std::string_view bytes) {
  StreamDecoder decoder;
  std::string text = decoder.Push(bytes);
  return text + decoder.Finish();
}

TEST(StreamDecoderTest, ACharacterComesWithItsLastByte) {
  StreamDecoder decoder;
  EXPECT_EQ(decoder.Push("a\xF0\x9F"), "a");
  EXPECT_EQ(decoder.Push("\x9A"), "");
  EXPECT_EQ(decoder.Push("\x80z"), "\xF0\x9F\x9A\x80z");
  EXPECT_EQ(decoder.Finish(), "");
  EXPECT_EQ(decoder.Push("\xE2\x82"), "");
  EXPECT_EQ(decoder.Finish(), Bad(1));
  EXPECT_EQ(decoder.Push("b"), "b");
}

// The examples of the Unicode standard 15.0, section 3.9, tables 3-8 to 3-11.
TEST(StreamDecoderTest, MaximalSubpartsAreReplacedAsTheStandardShows) {
  EXPECT_EQ(Whole("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41"), Bad(8) + "A");
  EXPECT_EQ(Whole("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41"), Bad(8) + "A");
  EXPECT_EQ(Whole("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42"),
            Bad(5) + "A" + Bad(2) + "B");
  EXPECT_EQ(Whole("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"), Bad(4) + "A");
}

TEST(StreamDecoderTest, AnyDivisionOfAnyBytesGivesTheSameValidText) {
  RandomStream rng(StreamKey(5, 0, 0, Purpose::kTest));
  for (int i = 0; i < 3000; ++i) {
    std::string bytes =
        RandomText(rng, i % 3 == 0 ? TextKind::kBytes : TextKind::kUnicode);
    const bool valid = i % 3 != 0 && i % 2 == 0;
    if (!valid && !bytes.empty()) bytes.resize(rng.Below(bytes.size()) + 1);
    StreamDecoder decoder;
    std::string text;
    std::string_view rest = bytes;
    while (!rest.empty()) {
      const size_t size = rng.Below(std::min<size_t>(rest.size(), 4)) + 1;
      const std::string part = decoder.Push(rest.substr(0, size));
      ASSERT_EQ(Utf8Stretch(part, true), part.size());
      text += part;
      rest.remove_prefix(size);
    }
    text += decoder.Finish();
    ASSERT_EQ(text, Whole(bytes));
    ASSERT_EQ(Utf8Stretch(text, true), text.size());
    if (valid) {
      ASSERT_EQ(text, bytes);
    }
  }
}

}  // namespace
}  // namespace espalier
