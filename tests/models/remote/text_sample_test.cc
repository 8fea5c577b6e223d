#include "models/remote/text_sample.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace espalier {
namespace {

// A token per byte, and one for "ab"; 300 ends texts.
class PairTokenizer : public Tokenizer {
 public:
  PairTokenizer() {
    for (int i = 0; i < 256; ++i) all_.push_back(static_cast<char>(i));
    marks_.eos = 300;
  }
  absl::StatusOr<std::vector<int32_t>> Encode(std::string_view text,
                                              bool) const override {
    std::vector<int32_t> ids;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text.substr(i, 2) == "ab") {
        ids.push_back(256);
        ++i;
      } else {
        ids.push_back(static_cast<unsigned char>(text[i]));
      }
    }
    return ids;
  }
  std::string_view TokenBytes(int32_t id) const override {
    if (id == 256) return "ab";
    if (id > 256) return "";
    return std::string_view(all_).substr(static_cast<size_t>(id), 1);
  }
  int vocab_size() const override { return 301; }

 private:
  std::string all_;
};

TextTokens Of(const std::vector<int32_t>& path, const RemoteText& text) {
  const PairTokenizer tokenizer;
  auto taken = TokensOfText(tokenizer, path, text, EndToken(tokenizer));
  EXPECT_TRUE(taken.ok()) << taken.status();
  return *std::move(taken);
}

TEST(TextSample, GoesOnFromThePath) {
  const TextTokens taken = Of({'x'}, {.text = "ab\n"});
  EXPECT_EQ(taken.tokens, std::vector<int32_t>({256, '\n'}));
  EXPECT_EQ(taken.logprobs, std::vector<float>({0, 0}));
  EXPECT_FALSE(taken.missed);
}

TEST(TextSample, TokensThatMergeAcrossTheEndAreAMiss) {
  const TextTokens taken = Of({'x', 'a'}, {.text = "bab"});
  EXPECT_EQ(taken.tokens, std::vector<int32_t>({'b', 256}));
  EXPECT_TRUE(taken.missed);
}

// The path itself may have tokens that its text does not give.
TEST(TextSample, APathOfOtherTokensIsAMiss) {
  const TextTokens taken = Of({'a', 'b'}, {.text = "c"});
  EXPECT_EQ(taken.tokens, std::vector<int32_t>({'c'}));
  EXPECT_TRUE(taken.missed);
}

TEST(TextSample, LogprobsOfTheSameTokensAreExact) {
  const TextTokens taken =
      Of({'x'}, {.text = "abc",
                 .pieces = {{"ab", -1.25f}, {"c", -0.5f}, {"</s>", -2.0f}},
                 .end = TextEnd::kEnd});
  EXPECT_EQ(taken.tokens, std::vector<int32_t>({256, 'c', 300}));
  EXPECT_EQ(taken.logprobs, std::vector<float>({-1.25f, -0.5f, -2.0f}));
}

// "a", "bc" against "ab", "c": half of the second goes to each.
TEST(TextSample, LogprobsOfOtherTokensKeepTheirSum) {
  TextTokens taken =
      Of({'x'}, {.text = "abc", .pieces = {{"a", -1}, {"bc", -3}}});
  EXPECT_EQ(taken.logprobs, std::vector<float>({-2.5f, -1.5f}));
  // Of a text that is not what its tokens say (U+FFFD for parts of a
  // character), evenly.
  taken = Of({'x'}, {.text = "abc", .pieces = {{"?", -1}, {"bc", -3}}});
  EXPECT_EQ(taken.logprobs, std::vector<float>({-2, -2}));
  // Of a part of the text: nothing for the rest.
  taken = Of({'x'}, {.text = "cab\n", .pieces = {{"c", -1}}});
  EXPECT_EQ(taken.logprobs, std::vector<float>({-1, 0, 0}));
}

TEST(TextSample, StopsArePutBack) {
  RemoteText text = {.text = "a", .end = TextEnd::kStop};
  RestoreStop({"\n", "END"}, text);
  EXPECT_EQ(text.text, "a\n");
  RestoreStop({"\n", "END"}, text);
  EXPECT_EQ(text.text, "a\n");
  text = {.text = "a", .end = TextEnd::kStop, .stop = "END"};
  RestoreStop({"\n", "END"}, text);
  EXPECT_EQ(text.text, "aEND");
}

TEST(TextSample, TellsStopsFromEnds) {
  const std::vector<std::string> stops = {"\n", "END"};
  const auto told = [&](RemoteText text) {
    text.end = TextEnd::kUntold;
    EXPECT_TRUE(TellEnd(stops, text));
    return text;
  };
  EXPECT_EQ(told({.text = "a\n"}).end, TextEnd::kStop);
  EXPECT_EQ(told({.text = "a", .pieces = {{"a", -1}, {"EN", -1}}}).stop, "END");
  EXPECT_EQ(told({.text = "a", .pieces = {{"a", -1}, {"\n\n", -1}}}).stop,
            "\n");
  EXPECT_EQ(told({.text = "a", .pieces = {{"a", -1}, {"</s>", -1}}}).end,
            TextEnd::kEnd);
  RemoteText text = {.text = "a", .end = TextEnd::kUntold};
  EXPECT_TRUE(TellEnd({}, text));
  EXPECT_EQ(text.end, TextEnd::kEnd);

  const auto asked = [&](const RemoteText& next) {
    RemoteText out = {
        .text = "a", .pieces = {{"a", -1}}, .end = TextEnd::kUntold};
    EXPECT_FALSE(TellEnd(stops, out));
    TellEnd(stops, next, out);
    return out;
  };
  EXPECT_EQ(asked({.end = TextEnd::kUntold}).end, TextEnd::kEnd);
  EXPECT_EQ(asked({.text = "E", .end = TextEnd::kLength}).stop, "END");
  const RemoteText line =
      asked({.text = "\n", .pieces = {{"\n", -0.5f}}, .end = TextEnd::kLength});
  EXPECT_EQ(line.end, TextEnd::kStop);
  EXPECT_EQ(line.pieces.back().logprob, -0.5f);
  // Another draw than before: a stop it was.
  EXPECT_EQ(asked({.text = "q", .end = TextEnd::kLength}).end, TextEnd::kStop);
}

}  // namespace
}  // namespace espalier
