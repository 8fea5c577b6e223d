#include "models/tokenizer/byte_bpe.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "base/check.h"
#include "base/files.h"
#include "base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/tokenizer/byte_alphabet.h"
#include "nlohmann/json.hpp"
#include "tests/base/one_thread.h"
#include "tests/models/tokenizer/tokenizer_data.h"

namespace espalier {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<TextKind> kAllKinds = {TextKind::kWords, TextKind::kUnicode,
                                         TextKind::kBytes};

std::unique_ptr<ByteBpe> Make(const json& value) {
  auto result = ByteBpe::FromJson(value.dump());
  ESP_CHECK_OK(result.status());
  return *std::move(result);
}

std::string Error(const json& value) {
  const auto result = ByteBpe::FromJson(value.dump());
  EXPECT_FALSE(result.ok());
  return std::string(result.status().message());
}

// The texts of the tokens of `text`.
std::vector<std::string> Texts(const Tokenizer& tokenizer,
                               std::string_view text) {
  const auto ids = tokenizer.Encode(text);
  EXPECT_TRUE(ids.ok()) << ids.status();
  std::vector<std::string> texts;
  for (const int32_t id : *ids) texts.emplace_back(tokenizer.TokenBytes(id));
  return texts;
}

TEST(ByteBpeTest, Gpt2VectorsOfAnotherImplementation) {
  SKIP_WITHOUT_TOKENIZER_DATA();
  const auto tokenizer = Tokenizer::Load(TokenizerData() + "gpt2");
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  EXPECT_EQ((*tokenizer)->vocab_size(), 50257);
  ExpectTokenVectors(**tokenizer, "gpt-2");
  ExpectRoundTrips(**tokenizer, kAllKinds);
}

TEST(ByteBpeTest, Llama3VectorsOfAnotherImplementation) {
  SKIP_WITHOUT_TOKENIZER_DATA();
  const auto tokenizer = ByteBpe::LoadVocabAndMerges(TokenizerData() + "llama3",
                                                     {kLlama3Pattern, true});
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  ExpectTokenVectors(**tokenizer, "llama-bpe");
  ExpectRoundTrips(**tokenizer, kAllKinds);
}

TEST(ByteBpeTest, HuggingFaceFilesRoundTrip) {
  SKIP_WITHOUT_TOKENIZER_DATA();
  const auto phi = Tokenizer::Load(TokenizerData() + "hf/phi-2.tokenizer.json");
  ASSERT_TRUE(phi.ok()) << phi.status();
  EXPECT_EQ((*phi)->vocab_size(), 50295);
  ExpectRoundTrips(**phi, kAllKinds);
  // The vocabulary of GPT-2, plus runs of spaces as added tokens.
  EXPECT_THAT(*(*phi)->Encode("Hello world"), ElementsAre(15496, 995));
  EXPECT_THAT(*(*phi)->Encode("a    b"), ElementsAre(64, 50284, 65));
  EXPECT_EQ((*phi)->TokenBytes(50256), "");

  // Has tokens for ASCII only, some of them spelled literally.
  const auto titan =
      Tokenizer::Load(TokenizerData() + "hf/torchtitan.tokenizer.json");
  ASSERT_TRUE(titan.ok()) << titan.status();
  EXPECT_EQ((*titan)->vocab_size(), 2020);
  ExpectRoundTrips(**titan, {TextKind::kWords});
  EXPECT_THAT(std::string((*titan)->Encode("\xC3").status().message()),
              HasSubstr("no token for byte 0xc3"));
}

TEST(ByteBpeTest, LowestRankMergesFirstAndLeftmostOfEquals) {
  const auto t = Make(SmallTokenizerJson({{"b", "c"}, {"a", "b"}, {"a", "a"}}));
  EXPECT_THAT(Texts(*t, "abc"), ElementsAre("a", "bc"));
  EXPECT_THAT(Texts(*t, "aaa"), ElementsAre("aa", "a"));
  EXPECT_THAT(Texts(*t, "aab"), ElementsAre("a", "ab"));
}

// Merging by definition: the lowest rank in the whole piece, leftmost, one
// merge per round.
std::vector<std::string> MergeByDefinition(
    const std::string& piece, const std::map<std::string, int>& rank_of) {
  std::vector<std::string> parts;
  for (const char c : piece) parts.emplace_back(1, c);
  while (true) {
    int best = -1, best_rank = 1 << 30;
    for (size_t i = 0; i + 1 < parts.size(); ++i) {
      const auto it = rank_of.find(parts[i] + " " + parts[i + 1]);
      if (it != rank_of.end() && it->second < best_rank) {
        best = static_cast<int>(i);
        best_rank = it->second;
      }
    }
    if (best < 0) return parts;
    parts[best] += parts[best + 1];
    parts.erase(parts.begin() + best + 1);
  }
}

TEST(ByteBpeTest, ShortAndLongPiecesMergeByTheDefinition) {
  RandomStream rng(StreamKey(7, 0, 0, Purpose::kTest));
  std::vector<std::pair<std::string, std::string>> merges;
  std::map<std::string, int> rank_of;
  std::vector<std::string> tokens = {"a", "b", "c"};
  while (merges.size() < 60) {
    const std::string l = tokens[rng.Below(tokens.size())];
    const std::string r = tokens[rng.Below(tokens.size())];
    if (l.size() + r.size() > 7) continue;
    if (!rank_of.emplace(l + " " + r, merges.size()).second) continue;
    merges.emplace_back(l, r);
    tokens.push_back(l + r);
  }
  const auto t = Make(SmallTokenizerJson(merges));
  for (int i = 0; i < 600; ++i) {
    std::string piece;
    const int length = rng.Range(1, i % 3 == 0 ? 300 : 60);
    for (int k = 0; k < length; ++k) piece += "abc"[rng.Below(3)];
    ASSERT_EQ(Texts(*t, piece), MergeByDefinition(piece, rank_of)) << piece;
  }
}

TEST(ByteBpeTest, AMegabyteWithoutASpaceIsNoTrap) {
  ESP_ONE_THREAD();
  const auto t = Make(SmallTokenizerJson({{"a", "a"}, {"aa", "aa"}}));
  const std::string text(1 << 20, 'a');
  EXPECT_EQ(t->Encode(text)->size(), text.size() / 4);
}

// Published patterns stay within the limits that stop hostile ones.
TEST(ByteBpeTest, MegabytesOfOneKindPassThePublishedPatterns) {
  ESP_ONE_THREAD();
  for (const char* pattern : {kGpt2Pattern, kLlama3Pattern, kQwen2Pattern}) {
    json value = SmallTokenizerJson();
    value["pre_tokenizer"] = {{"type", "Sequence"},
                              {"pretokenizers",
                               {{{"type", "Split"},
                                 {"pattern", {{"Regex", pattern}}},
                                 {"behavior", "Isolated"}},
                                {{"type", "ByteLevel"},
                                 {"add_prefix_space", false},
                                 {"use_regex", false}}}}};
    const auto t = Make(value);
    for (const char* unit : {"a", " ", "\n", "1", "!", " \n", "\u00E9", "\t"}) {
      std::string text;
      while (text.size() < 1 << 20) text += unit;
      for (const char* end : {"", "x", "\n"}) {
        const auto ids = t->Encode(text + end);
        ASSERT_TRUE(ids.ok()) << ids.status();
        EXPECT_EQ(ids->size(), text.size() + std::string(end).size());
      }
    }
  }
}

TEST(ByteBpeTest, MergesMayBeArrays) {
  json value = SmallTokenizerJson({{"h", "i"}});
  value["model"]["merges"] = json::array({json::array({"h", "i"})});
  EXPECT_THAT(Texts(*Make(value), "hi"), ElementsAre("hi"));
}

TEST(ByteBpeTest, IgnoreMergesTakesAWholePieceFromTheVocabulary) {
  json value = SmallTokenizerJson({{"b", "c"}});
  value["model"]["vocab"]["abc"] = 300;
  EXPECT_THAT(Texts(*Make(value), "abc"), ElementsAre("a", "bc"));
  value["model"]["ignore_merges"] = true;
  EXPECT_THAT(Texts(*Make(value), "abc"), ElementsAre("abc"));
}

TEST(ByteBpeTest, SpecialTokensAreFoundOnlyIfAsked) {
  json value = SmallTokenizerJson();
  value["added_tokens"] = {
      {{"id", 256}, {"content", "<end>"}, {"special", true}},
      {{"id", 257}, {"content", "<tool>"}, {"special", false}},
      {{"id", 258}, {"content", "<tool>s"}, {"special", false}}};
  const auto t = Make(value);
  EXPECT_EQ(t->Encode("x<end>")->size(), 6u);
  EXPECT_THAT(*t->Encode("x<end>", true), ElementsAre('x', 256));
  EXPECT_THAT(*t->Encode("<tool>"), ElementsAre(257));
  EXPECT_THAT(*t->Encode("<tool>s"), ElementsAre(258));  // the longest
  EXPECT_EQ(t->TokenBytes(256), "");
  EXPECT_EQ(t->TokenBytes(257), "<tool>");
  EXPECT_EQ(t->TokenBytes(999), "");
  EXPECT_EQ(t->TokenBytes(-1), "");
}

TEST(ByteBpeTest, AddedTokensObeyTheirFlags) {
  json value = SmallTokenizerJson();
  value["added_tokens"] = {
      {{"id", 256}, {"content", "no"}, {"single_word", true}},
      {{"id", 257}, {"content", "@"}, {"lstrip", true}, {"rstrip", true}}};
  const auto t = Make(value);
  EXPECT_THAT(*t->Encode("no"), ElementsAre(256));
  EXPECT_THAT(*t->Encode("now"), ElementsAre('n', 'o', 'w'));
  EXPECT_THAT(*t->Encode("a  @ b"), ElementsAre('a', 257, 'b'));
  // No-break space, em space and ideographic space are also white space.
  EXPECT_THAT(*t->Encode("a\u00A0\u2003@\u3000b"), ElementsAre('a', 257, 'b'));
}

TEST(ByteBpeTest, NfcComposesOnlyIfTheFileSaysSo) {
  json value = SmallTokenizerJson();
  const std::string e_acute = "e\xCC\x81";  // e + combining acute
  EXPECT_EQ(Make(value)->Decode(*Make(value)->Encode(e_acute)), e_acute);
  value["normalizer"] = {{"type", "NFC"}};
  const auto t = Make(value);
  EXPECT_EQ(t->Decode(*t->Encode(e_acute)), "\xC3\xA9");
  // An invalid byte passes through between normalised stretches.
  EXPECT_EQ(t->Decode(*t->Encode(e_acute + "\xFF" + e_acute)),
            "\xC3\xA9\xFF\xC3\xA9");
}

TEST(ByteBpeTest, InvalidUtf8BecomesOneTokenAByte) {
  const auto t = Make(SmallTokenizerJson({{"\xC3", "\xA9"}, {"\xFF", "\xFE"}}));
  EXPECT_THAT(*t->Encode("\xC3\xA9"), ElementsAre(256));
  EXPECT_THAT(*t->Encode("\xFF\xFE"), ElementsAre(0xFF, 0xFE));
  // Overlong, surrogate, above U+10FFFF, truncated.
  for (const char* bad :
       {"\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "a\xE2\x82", "\x80"}) {
    EXPECT_EQ(t->Decode(*t->Encode(bad)), bad);
  }
}

TEST(ByteBpeTest, PreTokenizersCutAsPublished) {
  const auto pieces = [](const json& pre, const std::string& text) {
    const auto cut = PreTokenizer::FromJson(pre);
    EXPECT_TRUE(cut.ok()) << cut.status();
    Pieces out;
    EXPECT_TRUE(cut->Split(text, true, out).ok());
    std::vector<std::string> list;
    for (const TextRange r : out.ranges) {
      list.push_back(out.text.substr(r.begin, r.end - r.begin));
    }
    return list;
  };
  const auto split = [](const std::string& behavior, bool invert = false) {
    return json{{"type", "Split"},
                {"pattern", {{"String", "-"}}},
                {"behavior", behavior},
                {"invert", invert}};
  };
  // The example in the documentation of the tokenizers library.
  const std::string text = "the-final--countdown";
  EXPECT_THAT(pieces(split("Removed"), text),
              ElementsAre("the", "final", "countdown"));
  EXPECT_THAT(pieces(split("Isolated"), text),
              ElementsAre("the", "-", "final", "-", "-", "countdown"));
  EXPECT_THAT(pieces(split("MergedWithPrevious"), text),
              ElementsAre("the-", "final-", "-", "countdown"));
  EXPECT_THAT(pieces(split("MergedWithNext"), text),
              ElementsAre("the", "-final", "-", "-countdown"));
  EXPECT_THAT(pieces(split("Contiguous"), text),
              ElementsAre("the", "-", "final", "--", "countdown"));
  EXPECT_THAT(pieces(split("Removed", true), text), ElementsAre("-", "-", "-"));

  const json digits = {{"type", "Digits"}, {"individual_digits", true}};
  EXPECT_THAT(pieces(digits, "ab12 c"), ElementsAre("ab", "1", "2", " c"));
  EXPECT_THAT(pieces({{"type", "Digits"}}, "ab12 c"),
              ElementsAre("ab", "12", " c"));
  const json gpt2 = {{"type", "ByteLevel"}, {"add_prefix_space", true}};
  EXPECT_THAT(pieces(gpt2, "I've 12\n\n  x!"),
              ElementsAre(" I", "'ve", " 12", "\n\n ", " x", "!"));
  const json both = {{"type", "Sequence"},
                     {"pretokenizers",
                      {digits,
                       {{"type", "ByteLevel"},
                        {"add_prefix_space", false},
                        {"use_regex", true}}}}};
  EXPECT_THAT(pieces(both, "a 12"), ElementsAre("a", " ", "1", "2"));
  // After ByteLevel a pattern sees the spelled bytes: a space is U+0120, and
  // the bytes of U+00BD spell "Â½", whose second character is a digit.
  const json after = {{"type", "Sequence"},
                      {"pretokenizers",
                       {{{"type", "ByteLevel"},
                         {"add_prefix_space", false},
                         {"use_regex", false}},
                        {{"type", "Split"},
                         {"pattern", {{"Regex", "\\x{120}|\\p{N}"}}},
                         {"behavior", "Isolated"}}}}};
  EXPECT_THAT(pieces(after, "a b\xC2\xBD"),
              ElementsAre("a", " ", "b\xC2", "\xBD"));
}

TEST(ByteBpeTest, WhatIsNotKnownIsRefusedByName) {
  const auto with = [](const char* pointer, const json& value) {
    json file = SmallTokenizerJson({{"a", "b"}});
    file[json::json_pointer(pointer)] = value;
    return Error(file);
  };
  EXPECT_THAT(with("/pre_tokenizer", {{"type", "Metaspace"}}),
              HasSubstr("\"Metaspace\" is not supported"));
  EXPECT_THAT(with("/pre_tokenizer", nullptr), HasSubstr("ByteLevel"));
  EXPECT_THAT(with("/pre_tokenizer", 3), HasSubstr("expected an object"));
  EXPECT_THAT(with("/normalizer", {{"type", "Lowercase"}}),
              HasSubstr("\"Lowercase\" is not supported"));
  EXPECT_THAT(with("/decoder", {{"type", "WordPiece"}}),
              HasSubstr("\"WordPiece\""));
  EXPECT_THAT(with("/model/type", "Unigram"), HasSubstr("\"Unigram\""));
  EXPECT_THAT(with("/model/end_of_word_suffix", "</w>"), HasSubstr("</w>"));
  EXPECT_THAT(with("/model/vocab", json::array()),
              HasSubstr("model.vocab: expected an object"));
  EXPECT_THAT(with("/model/vocab/a", "x"), HasSubstr("model.vocab[\"a\"]"));
  EXPECT_THAT(with("/model/vocab/a", 98), HasSubstr("id 98"));
  EXPECT_THAT(with("/model/vocab/a", -5), HasSubstr("id -1"));
  EXPECT_THAT(with("/model/vocab/a", 4000000000u), HasSubstr("\"a\" has id"));
  EXPECT_THAT(with("/model/merges", json::array({"a b c"})),
              HasSubstr("one space"));
  EXPECT_THAT(with("/model/merges", json::array({"a b", 3})),
              HasSubstr("model.merges[1]"));
  EXPECT_THAT(with("/model/merges", json::array({"b a"})),
              HasSubstr("\"ba\" is not in the vocabulary"));
  EXPECT_THAT(with("/added_tokens", json::array({{{"id", 3}}})),
              HasSubstr("content"));
}

TEST(ByteBpeTest, HostilePatternsGiveErrors) {
  const auto with = [](const std::string& pattern) {
    json file = SmallTokenizerJson();
    file["pre_tokenizer"] = {{"type", "Sequence"},
                             {"pretokenizers",
                              {{{"type", "Split"},
                                {"pattern", {{"Regex", pattern}}},
                                {"behavior", "Isolated"}},
                               {{"type", "ByteLevel"},
                                {"add_prefix_space", false},
                                {"use_regex", false}}}}};
    return ByteBpe::FromJson(file.dump());
  };
  EXPECT_THAT(std::string(with("(a").status().message()),
              HasSubstr("wrong at byte 2"));
  EXPECT_FALSE(with(std::string(500, '(') + std::string(500, ')')).ok());
  EXPECT_FALSE(with("[a-z&&[^b]]").ok());
  EXPECT_FALSE(with("\\h+").ok());
  EXPECT_FALSE(with("a\\C").ok());
  const auto slow = with("(a+a+)+$");
  ASSERT_TRUE(slow.ok());
  const auto stopped = (*slow)->Encode(std::string(40, 'a') + "b");
  EXPECT_EQ(stopped.status().code(), absl::StatusCode::kResourceExhausted);
  // Many starting positions, each slow, are also stopped.
  const auto slow_everywhere = with("(?=(a?){17}[^a])a|a");
  ASSERT_TRUE(slow_everywhere.ok());
  EXPECT_EQ(
      (*slow_everywhere)->Encode(std::string(1 << 18, 'a')).status().code(),
      absl::StatusCode::kResourceExhausted);
  // Empty matches terminate too.
  const auto empty = with("x*");
  ASSERT_TRUE(empty.ok());
  EXPECT_EQ((*empty)->Decode(*(*empty)->Encode("axxb")), "axxb");
}

TEST(ByteBpeTest, MalformedJsonNamesTheFile) {
  const std::string path = testing::TempDir() + "/broken_tokenizer.json";
  std::ofstream(path) << "{\"model\": {";
  const auto result = Tokenizer::Load(path);
  EXPECT_THAT(std::string(result.status().message()),
              testing::AllOf(HasSubstr(path), HasSubstr("malformed JSON")));
  EXPECT_FALSE(ByteBpe::FromJson("[]").ok());
  EXPECT_FALSE(ByteBpe::FromJson("{}").ok());
  const auto missing = Tokenizer::Load("/nowhere/at/all");
  EXPECT_THAT(std::string(missing.status().message()),
              HasSubstr("/nowhere/at/all"));
  const auto empty = Tokenizer::Load(testing::TempDir());
  EXPECT_THAT(std::string(empty.status().message()),
              HasSubstr("expected tokenizer.json"));
}

// Every prefix and many mutations of a file give a tokenizer or an error.
TEST(ByteBpeTest, DamagedFilesNeverCrash) {
  const std::string whole =
      SmallTokenizerJson({{"a", "b"}, {"ab", "c"}}).dump();
  RandomStream rng(StreamKey(9, 0, 0, Purpose::kTest));
  int loaded = 0;
  for (int i = 0; i < 400; ++i) {
    std::string damaged = whole;
    const int hits = rng.Range(1, 3);
    for (int k = 0; k < hits; ++k) {
      damaged[rng.Below(damaged.size())] = "{}[]\",:0a\xFF"[rng.Below(10)];
    }
    if (i % 4 == 0) damaged.resize(rng.Below(damaged.size()));
    const auto result = ByteBpe::FromJson(damaged);
    if (!result.ok()) continue;
    ++loaded;
    const auto ids = (*result)->Encode("abc abc \xFF");
    if (ids.ok()) {
      EXPECT_LE(ids->size(), 9u);
    }
  }
  EXPECT_GT(loaded, 0);
}

}  // namespace
}  // namespace espalier
