#include "models/tokenizer/metaspace.h"

#include <filesystem>
#include <fstream>
#include <map>

#include "base/check.h"
#include "base/files.h"
#include "base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/tokenizer/tokenizer_json.h"
#include "nlohmann/json.hpp"
#include "tests/base/one_thread.h"
#include "tests/models/tokenizer/tokenizer_data.h"

namespace espalier {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<TextKind> kMetaspaceKinds = {
    TextKind::kWords, TextKind::kUnicode, TextKind::kBytes};

// The format of Llama 2's tokenizer.json: <unk> 0, <s> 1, </s> 2, bytes 3-258,
// then `pieces`.
json Llama2Like(const std::vector<std::string>& pieces,
                const std::vector<std::string>& merges) {
  json vocab = {{"<unk>", 0}, {"<s>", 1}, {"</s>", 2}};
  char name[8];
  for (int b = 0; b < 256; ++b) {
    std::snprintf(name, sizeof(name), "<0x%02X>", b);
    vocab[name] = 3 + b;
  }
  for (const std::string& piece : pieces) vocab[piece] = vocab.size();
  const auto added = [](int id, const char* content) {
    return json{{"id", id},
                {"content", content},
                {"special", true},
                {"normalized", false}};
  };
  return {
      {"added_tokens", {added(1, "<s>"), added(2, "</s>")}},
      {"normalizer",
       {{"type", "Sequence"},
        {"normalizers",
         {{{"type", "Prepend"}, {"prepend", "▁"}},
          {{"type", "Replace"},
           {"pattern", {{"String", " "}}},
           {"content", "▁"}}}}}},
      {"pre_tokenizer", nullptr},
      {"post_processor",
       {{"type", "TemplateProcessing"},
        {"single",
         {{{"SpecialToken", {{"id", "<s>"}, {"type_id", 0}}}},
          {{"Sequence", {{"id", "A"}, {"type_id", 0}}}}}}}},
      {"decoder",
       {{"type", "Sequence"},
        {"decoders",
         {{{"type", "Replace"},
           {"pattern", {{"String", "▁"}}},
           {"content", " "}},
          {{"type", "ByteFallback"}},
          {{"type", "Fuse"}},
          {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}}}}}},
      {"model",
       {{"type", "BPE"},
        {"unk_token", "<unk>"},
        {"fuse_unk", true},
        {"byte_fallback", true},
        {"vocab", vocab},
        {"merges", merges}}}};
}

std::unique_ptr<Tokenizer> MakeMetaspace(const json& value) {
  auto result = TokenizerFromJson(value.dump(), {});
  ESP_CHECK_OK(result.status());
  return *std::move(result);
}

std::string MetaspaceError(const json& value) {
  const auto result = TokenizerFromJson(value.dump(), {});
  EXPECT_FALSE(result.ok());
  return std::string(result.status().message());
}

TEST(MetaspaceTest, Llama2VectorsOfAnotherImplementationFromBothFiles) {
  SKIP_WITHOUT_TOKENIZER_DATA();
  for (const char* name : {"llama2/tokenizer.json", "llama2/tokenizer.model"}) {
    const auto tokenizer = Tokenizer::Load(TokenizerData() + name);
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
    EXPECT_EQ((*tokenizer)->vocab_size(), 32000);
    ExpectTokenVectors(**tokenizer, "llama-spm");
    ExpectRoundTrips(**tokenizer, kMetaspaceKinds);
    EXPECT_EQ((*tokenizer)->marks().bos, 1);
    EXPECT_TRUE((*tokenizer)->marks().add_bos);
    EXPECT_EQ((*tokenizer)->TokenId("</s>"), 2);
    EXPECT_EQ((*tokenizer)->TokenBytes(2), "");
    // "Hello" after other tokens has no space before it.
    EXPECT_THAT(*(*tokenizer)->Encode("Hello"), ElementsAre(15043));
    EXPECT_THAT(*(*tokenizer)->EncodeContinuation(" Hello"),
                ElementsAre(15043));
    EXPECT_THAT(*(*tokenizer)->EncodeContinuation("Hello"), ElementsAre(10994));
  }
}

// Ids that Hugging Face's tokenizers 0.20 gives with the public tokenizer.json:
// special tokens are searched in the normalised text, so that one absorbs the
// space before it and is not recognised without one.
TEST(MetaspaceTest, NormalisedSpecialTokensAreFoundAsHuggingFaceFindsThem) {
  SKIP_WITHOUT_TOKENIZER_DATA();
  const auto t = Tokenizer::Load(TokenizerData() + "llama2/tokenizer.json");
  ASSERT_TRUE(t.ok()) << t.status();
  EXPECT_THAT(*(*t)->Encode("Hello <s> x", true), ElementsAre(15043, 1, 921));
  EXPECT_THAT(*(*t)->Encode("<s>Hello", true), ElementsAre(1, 10994));
  EXPECT_THAT(*(*t)->Encode("Hello<s>", true),
              ElementsAre(15043, 29966, 29879, 29958));
  EXPECT_THAT(*(*t)->Encode("\n  a"), ElementsAre(29871, 13, 29871, 263));
  EXPECT_THAT(*(*t)->Encode("▁ x"), ElementsAre(259, 921));
  EXPECT_THAT(*(*t)->Encode("Hello <s> x"),
              ElementsAre(15043, 529, 29879, 29958, 921));
}

TEST(MetaspaceTest, CharactersWithoutAPieceBecomeBytesAndComeBack) {
  const auto t =
      MakeMetaspace(Llama2Like({"▁", "a", "b", "▁a", "ab"}, {"▁ a", "a b"}));
  EXPECT_EQ(t->vocab_size(), 264);
  EXPECT_THAT(*t->Encode("ab"), ElementsAre(262, 261));  // "▁a" is of rank 0
  EXPECT_THAT(*t->Encode("é"), ElementsAre(259, 3 + 0xC3, 3 + 0xA9));
  EXPECT_EQ(t->TokenBytes(3 + 0xC3), "\xC3");
  EXPECT_THAT(*t->Encode("a\xFF"), ElementsAre(262, 3 + 0xFF));
  EXPECT_THAT(*t->Encode(""), ElementsAre());
  ExpectRoundTrips(*t, kMetaspaceKinds);
}

TEST(MetaspaceTest, SpecialTokensCutTheTextAndAreFoundOnlyIfAsked) {
  const auto t = MakeMetaspace(Llama2Like({"▁", "a", "▁a"}, {"▁ a"}));
  EXPECT_THAT(*t->Encode("a</s>a", true), ElementsAre(261, 2, 261));
  EXPECT_EQ(t->Encode("a</s>")->size(), 5u);
  EXPECT_EQ(t->TokenId("<s>"), 1);
  EXPECT_EQ(t->TokenId("▁a"), 261);
  EXPECT_EQ(t->TokenId("nothing"), -1);
  EXPECT_EQ(t->DecodeText({1, 261, 261}), "a a");
}

TEST(MetaspaceTest, WithoutByteTokensUnknownCharactersFuse) {
  json value = Llama2Like({"▁", "a", "▁a"}, {"▁ a"});
  value["model"]["byte_fallback"] = false;
  value["pre_tokenizer"] = {{"type", "Metaspace"},
                            {"replacement", "▁"},
                            {"prepend_scheme", "first"},
                            {"split", false}};
  value["normalizer"] = nullptr;
  const auto t = MakeMetaspace(value);
  EXPECT_THAT(*t->Encode("a xyz a"), ElementsAre(261, 259, 0, 261));
  value["model"]["fuse_unk"] = false;
  EXPECT_THAT(*MakeMetaspace(value)->Encode("axy"), ElementsAre(261, 0, 0));
  value["model"]["unk_token"] = nullptr;
  EXPECT_THAT(
      std::string(MakeMetaspace(value)->Encode("ax").status().message()),
      HasSubstr("no piece for \"x\""));
}

// The stages of Gemma's files, whose normalizer leaves no space to split at:
// pieces reach over words.
TEST(MetaspaceTest, ASplitAtSpacesThatAreGoneIsNone) {
  json value = Llama2Like({"▁", "a", "b", "a▁", "a▁b"}, {"a ▁", "a▁ b"});
  value["normalizer"] = {
      {"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "▁"}};
  value["pre_tokenizer"] = {{"type", "Split"},
                            {"pattern", {{"String", " "}}},
                            {"behavior", "MergedWithPrevious"},
                            {"invert", false}};
  const auto t = MakeMetaspace(value);
  EXPECT_EQ(t->Encode("a b")->size(), 1u);
  EXPECT_EQ(t->Encode("b a b")->size(), 3u);
  value["normalizer"] = nullptr;
  EXPECT_THAT(MetaspaceError(value), HasSubstr("pre_tokenizer"));
}

TEST(MetaspaceTest, ThePreTokenizerPrefixesAsItsSchemeSays) {
  json value = Llama2Like({"▁", "a", "▁a"}, {"▁ a"});
  value["normalizer"] = nullptr;
  const auto with = [&](const char* scheme) {
    value["pre_tokenizer"] = {{"type", "Metaspace"},
                              {"replacement", "▁"},
                              {"prepend_scheme", scheme}};
    return *MakeMetaspace(value)->Encode("a</s>a", true);
  };
  EXPECT_THAT(with("always"), ElementsAre(261, 2, 261));
  EXPECT_THAT(with("first"), ElementsAre(261, 2, 260));
  EXPECT_THAT(with("never"), ElementsAre(260, 2, 260));
  // No space is prepended where there already is one.
  value["pre_tokenizer"]["prepend_scheme"] = "first";
  EXPECT_THAT(*MakeMetaspace(value)->Encode(" a"), ElementsAre(261));
}

// Merging by definition over a whole text, one merge per round.
std::vector<std::string> MergeByDefinition(
    std::vector<std::string> parts,
    const std::map<std::pair<std::string, std::string>, int>& rank_of) {
  while (true) {
    int best = -1, best_rank = 1 << 30;
    for (size_t i = 0; i + 1 < parts.size(); ++i) {
      const auto it = rank_of.find({parts[i], parts[i + 1]});
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

// With and without merges across word boundaries: without them the text is
// split at marks, otherwise merged as a whole.
TEST(MetaspaceTest, TextsMergeByTheDefinition) {
  ESP_ONE_THREAD();
  for (const bool across : {false, true}) {
    RandomStream rng(StreamKey(7, across, 0, Purpose::kTest));
    std::vector<std::string> tokens = {"▁", "a", "b"}, lines;
    std::map<std::pair<std::string, std::string>, int> rank_of;
    while (lines.size() < 60) {
      const std::string l = tokens[rng.Below(tokens.size())];
      const std::string r = tokens[rng.Below(tokens.size())];
      if (l.size() + r.size() > 12) continue;
      const bool crosses = l.back() >= 'a' && r.find("▁") != r.npos;
      if (crosses && !across) continue;
      if (!rank_of.emplace(std::pair(l, r), lines.size()).second) continue;
      lines.push_back(l + " " + r);
      if (std::find(tokens.begin(), tokens.end(), l + r) == tokens.end()) {
        tokens.push_back(l + r);
      }
    }
    const auto t = MakeMetaspace(Llama2Like(tokens, lines));
    for (int i = 0; i < 300; ++i) {
      std::string text;
      std::vector<std::string> characters = {"▁"};
      const int length = rng.Range(1, i % 3 == 0 ? 200 : 40);
      for (int k = 0; k < length; ++k) {
        text += " ab"[rng.Below(3)];
        characters.emplace_back(
            text.back() == ' ' ? "▁" : std::string(1, text.back()));
      }
      std::vector<std::string> found;
      const std::vector<int32_t> ids = t->Encode(text).value();
      for (const int32_t id : ids) {
        found.push_back(tokens.at(static_cast<size_t>(id) - 259));
      }
      ASSERT_EQ(found, MergeByDefinition(characters, rank_of)) << text;
    }
  }
}

TEST(MetaspaceTest, AMegabyteOfOneLetterOrOfSpacesIsNoTrap) {
  ESP_ONE_THREAD();
  const auto t = MakeMetaspace(
      Llama2Like({"▁", "a", "aa", "▁▁", "a▁"}, {"a a", "▁ ▁", "a ▁"}));
  EXPECT_EQ(t->Encode(std::string(1 << 20, 'a'))->size(), (1u << 19) + 1);
  EXPECT_EQ(t->Encode(std::string((1 << 20) - 1, ' '))->size(), 1u << 19);
}

// Each step doubles the text.
TEST(MetaspaceTest, ANormalizerCannotFillTheMemory) {
  json hostile = Llama2Like({"▁", "a"}, {});
  json& steps = hostile["normalizer"]["normalizers"];
  for (int i = 0; i < 60; ++i) {
    steps.push_back({{"type", "Replace"},
                     {"pattern", {{"String", "a"}}},
                     {"content", "aa"}});
  }
  const auto ids = MakeMetaspace(hostile)->Encode("a");
  EXPECT_EQ(ids.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(ids.status().message()),
              HasSubstr("expected at most 64 times as many"));
  steps.back()["content"] = std::string(65, 'a');
  EXPECT_THAT(MetaspaceError(hostile), HasSubstr("Replace of 1 bytes by 65"));
}

// Each space of a line could be the one between the two tokens.
TEST(MetaspaceTest, AMergeOfAMegabyteOfSpacesIsNoTrap) {
  ESP_ONE_THREAD();
  const std::string spaces(1 << 20, ' ');
  EXPECT_THAT(MetaspaceError(Llama2Like({"▁", "a b"}, {"a" + spaces})),
              HasSubstr("merge"));
}

TEST(MetaspaceTest, UnsupportedFilesAreRefusedByName) {
  const json good = Llama2Like({"▁", "a", "▁a"}, {"▁ a"});
  const auto with = [&](const char* pointer, const json& value) {
    json bad = good;
    bad[json::json_pointer(pointer)] = value;
    return MetaspaceError(bad);
  };
  EXPECT_THAT(with("/pre_tokenizer", {{"type", "Whitespace"}}),
              HasSubstr("Whitespace"));
  EXPECT_THAT(with("/normalizer", {{"type", "Lowercase"}}),
              HasSubstr("\"Lowercase\" is not supported"));
  EXPECT_THAT(with("/decoder", {{"type", "WordPiece"}}),
              HasSubstr("WordPiece"));
  EXPECT_THAT(with("/model/merges", {"a ▁"}),
              HasSubstr("\"a▁\" is not in the vocabulary"));
  EXPECT_THAT(with("/model/type", "Unigram"), HasSubstr("tokenizer.model"));
  EXPECT_THAT(with("/truncation", {{"max_length", 5}}),
              HasSubstr("truncation"));
  json deep = json::array();
  for (int i = 0; i < 100; ++i) deep = json::array({deep});
  EXPECT_THAT(with("/pre_tokenizer", deep), HasSubstr("nested"));
}

// Truncated and damaged files give a tokenizer or an error.
TEST(MetaspaceTest, DamagedFilesNeverCrash) {
  ESP_ONE_THREAD();
  json value = Llama2Like({"▁", "a", "b", "▁a", "ab"}, {"▁ a", "a b"});
  for (int b = 0; b < 250; ++b) {  // a few bytes are enough, and faster
    char name[8];
    std::snprintf(name, sizeof(name), "<0x%02X>", b);
    value["model"]["vocab"].erase(name);
  }
  std::string files[2] = {value.dump(), ""};
  value["normalizer"] = nullptr;
  value["pre_tokenizer"] = {
      {"type", "Metaspace"}, {"replacement", "▁"}, {"prepend_scheme", "first"}};
  files[1] = value.dump();
  RandomStream rng(StreamKey(9, 2, 0, Purpose::kTest));
  int loaded = 0;
  for (int i = 0; i < 10000; ++i) {
    std::string damaged = files[i % 2];
    const int hits = rng.Range(1, 3);
    for (int k = 0; k < hits; ++k) {
      damaged[rng.Below(damaged.size())] = "{}[]\",:0a\xFF"[rng.Below(10)];
    }
    if (i % 4 == 0) damaged.resize(rng.Below(damaged.size()));
    const auto result = TokenizerFromJson(damaged, {});
    if (!result.ok()) continue;
    ++loaded;
    const auto ids =
        (*result)->Encode(RandomText(rng, TextKind::kBytes) + "<s> ab", true);
    if (ids.ok()) (*result)->DecodeText(*ids);
  }
  EXPECT_GT(loaded, 100);
}

}  // namespace
}  // namespace espalier
