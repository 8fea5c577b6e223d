#include "models/tokenizer/bpe_trainer.h"

#include <chrono>

#include "base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/tokenizer/byte_bpe.h"
#include "tests/base/one_thread.h"

namespace espalier {
namespace {

using testing::ElementsAre;

std::vector<std::string> Corpus(size_t bytes) {
  const char* words[] = {"Ann",  "has",   "finds", "gives", "shells", "more",
                         "then", "twice", "left",  "Tom",   "boxes",  "each"};
  RandomStream rng(StreamKey(1, 0, 0, Purpose::kTest));
  std::vector<std::string> corpus;
  for (size_t total = 0; total < bytes;) {
    std::string line;
    for (int i = 0; i < 12; ++i) {
      line += words[rng.Below(12)];
      // Made-up names provide many different words.
      if (i == 6) {
        line += ' ';
        for (int k = 0; k < 6; ++k) line += "abcdefghijklmnop"[rng.Below(16)];
      }
      line += i % 3 == 0 ? " = 12" + std::to_string(rng.Below(100)) : "";
      line += i == 11 ? ".\n" : " ";
    }
    total += line.size();
    corpus.push_back(line);
  }
  return corpus;
}

std::unique_ptr<ByteBpe> Load(const std::string& json) {
  return ByteBpe::FromJson(json).value();
}

TEST(BpeTrainerTest, TheMostFrequentPairMergesFirstAndTheLowestOfEquals) {
  // "ab" occurs 3 times, "cd" and "bx" twice.
  const auto json = TrainByteBpe({"ab-cd", "ab.cd", "abx", "bx"},
                                 {.vocab_size = 259, .special = {}});
  ASSERT_TRUE(json.ok()) << json.status();
  const auto t = Load(*json);
  EXPECT_EQ(t->vocab_size(), 258);  // after merging "ab" only "cd" occurs twice
  EXPECT_EQ(t->TokenBytes(256), "ab");
  EXPECT_EQ(t->TokenBytes(257), "cd");
  const auto tie = TrainByteBpe({"zy", "zy", "cd", "cd"},
                                {.vocab_size = 257, .special = {}});
  EXPECT_EQ(Load(*tie)->TokenBytes(256), "cd");
}

TEST(BpeTrainerTest, DigitsNewlinesAndMarksStaySingleAndBytesAreAllThere) {
  const auto json = TrainByteBpe(Corpus(100000), {.vocab_size = 400});
  ASSERT_TRUE(json.ok()) << json.status();
  const auto t = Load(*json);
  EXPECT_EQ(t->vocab_size(), 400);
  for (int b = 0; b < 256; ++b) {
    EXPECT_EQ(t->TokenBytes(b), std::string(1, static_cast<char>(b)));
  }
  int with_space = 0;
  for (int id = 256; id < 399; ++id) {
    const std::string_view bytes = t->TokenBytes(id);
    EXPECT_EQ(bytes.find_first_of("0123456789\n=.,"), bytes.npos) << bytes;
    EXPECT_EQ(bytes.find(' ', 1), bytes.npos) << bytes;
    with_space += bytes[0] == ' ';
  }
  EXPECT_GT(with_space, 10);
  EXPECT_EQ(t->TokenBytes(399), "");  // <|end|>
  EXPECT_THAT(*t->Encode("<|end|>", true), ElementsAre(399));
  EXPECT_THAT(*t->Encode("120\n"), ElementsAre('1', '2', '0', '\n'));
  EXPECT_EQ(t->Encode(" shells")->size(), 1u);
}

TEST(BpeTrainerTest, TheResultRoundTripsAnyBytes) {
  const auto t = Load(*TrainByteBpe(Corpus(50000), {}));
  RandomStream rng(StreamKey(2, 0, 0, Purpose::kTest));
  for (int i = 0; i < 1000; ++i) {
    std::string text;
    const int length = rng.Range(0, 50);
    for (int k = 0; k < length; ++k) {
      text += static_cast<char>(i % 2 ? rng.Below(256) : 32 + rng.Below(95));
    }
    ASSERT_EQ(t->Decode(*t->Encode(text)), text);
  }
}

TEST(BpeTrainerTest, TwoMegabytesTakeSecondsAndGiveTheSameFileTwice) {
  ESP_ONE_THREAD();
  const auto corpus = Corpus(2 << 20);
  const auto start = std::chrono::steady_clock::now();
  const auto once = TrainByteBpe(corpus, {});
  const std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LT(seconds.count(), 20);  // 5 s on an idle core
#endif
  RecordProperty("seconds", std::to_string(seconds.count()));
  EXPECT_EQ(*once, *TrainByteBpe(corpus, {}));
}

TEST(BpeTrainerTest, WrongInputIsAnError) {
  EXPECT_FALSE(TrainByteBpe({"a"}, {.vocab_size = 256}).ok());
  EXPECT_FALSE(TrainByteBpe({"a\xFF"}, {}).ok());
}

}  // namespace
}  // namespace espalier
