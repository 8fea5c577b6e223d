#include "models/tokenizer/gguf_tokenizer.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/files.h"
#include "base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/tokenizer/byte_alphabet.h"
#include "models/tokenizer/sentencepiece.pb.h"
#include "nlohmann/json.hpp"
#include "tests/models/testing/gguf_builder.h"
#include "tests/models/testing/random_checkpoint.h"
#include "tests/models/tokenizer/tokenizer_data.h"

namespace espalier {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int32_t kNormal = 1, kControl = 3, kUserDefined = 4, kUnused = 5;

// A file with only the vocabulary of FOLDER/{encoder.json,vocab.bpe}.
std::string VocabularyOnly(const std::string& folder, const std::string& pre,
                           const std::vector<std::string>& control) {
  const json vocab = json::parse(ReadFile(folder + "/encoder.json").value());
  std::vector<std::string> tokens(vocab.size());
  for (const auto& [token, id] : vocab.items()) tokens.at(id) = token;
  std::vector<int32_t> kinds(tokens.size(), kNormal);
  for (const std::string& token : control) {
    const auto at = std::find(tokens.begin(), tokens.end(), token);
    if (at == tokens.end()) {
      tokens.push_back(token);
      kinds.push_back(kControl);
    } else {
      kinds[static_cast<size_t>(at - tokens.begin())] = kControl;
    }
  }
  std::vector<std::string> merges;
  std::istringstream lines(ReadFile(folder + "/vocab.bpe").value());
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line.substr(0, 9) != "#version:") {
      merges.push_back(line);
    }
  }
  GgufBuilder file;
  file.Text("tokenizer.ggml.model", "gpt2")
      .Text("tokenizer.ggml.pre", pre)
      .Texts("tokenizer.ggml.tokens", tokens)
      .Wholes("tokenizer.ggml.token_type", kinds)
      .Texts("tokenizer.ggml.merges", merges);
  return file.Write(TempFolder() + "/vocab.gguf");
}

std::unique_ptr<Tokenizer> LoadGguf(const std::string& path) {
  auto tokenizer = Tokenizer::Load(path);
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status();
  return tokenizer.ok() ? *std::move(tokenizer) : nullptr;
}

TEST(GgufTokenizerTest, Gpt2VectorsOfAnotherImplementation) {
  SKIP_WITHOUT_TOKENIZER_DATA();
  const auto t = LoadGguf(
      VocabularyOnly(TokenizerData() + "gpt2", "gpt-2", {"<|endoftext|>"}));
  ASSERT_NE(t, nullptr);
  EXPECT_EQ(t->vocab_size(), 50257);
  ExpectTokenVectors(*t, "gpt-2");
  EXPECT_THAT(*t->Encode("a<|endoftext|>", true), ElementsAre(64, 50256));
  EXPECT_GT(t->Encode("a<|endoftext|>")->size(), 2u);
  EXPECT_EQ(t->TokenBytes(50256), "");
  EXPECT_EQ(t->Decode(*t->Encode("Führer \xFF ½")), "Führer \xFF ½");
}

TEST(GgufTokenizerTest, Llama3VectorsOfAnotherImplementation) {
  SKIP_WITHOUT_TOKENIZER_DATA();
  const auto t = LoadGguf(VocabularyOnly(TokenizerData() + "llama3",
                                         "llama-bpe", {"<|begin_of_text|>"}));
  ASSERT_NE(t, nullptr);
  ExpectTokenVectors(*t, "llama-bpe");
  EXPECT_EQ(t->Encode("<|begin_of_text|>x", true)->front(), 128000);
}

// Only the vocabulary of a tokenizer.model.
GgufBuilder SentencePieceOnly(const std::string& path) {
  spm::Model model;
  EXPECT_TRUE(model.ParseFromString(ReadFile(path).value()));
  std::vector<std::string> tokens;
  std::vector<float> scores;
  std::vector<int32_t> kinds;
  for (const spm::Piece& piece : model.pieces()) {
    tokens.push_back(piece.piece());
    scores.push_back(piece.score());
    kinds.push_back(piece.type());
  }
  for (int i = 0; i < 64; ++i) {  // padding, as files often have
    tokens.push_back(absl::StrCat("[PAD", i, "]"));
    scores.push_back(-10000);
    kinds.push_back(kUnused);
  }
  GgufBuilder file;
  file.Text("tokenizer.ggml.model", "llama")
      .Texts("tokenizer.ggml.tokens", tokens)
      .Floats("tokenizer.ggml.scores", scores)
      .Wholes("tokenizer.ggml.token_type", kinds)
      .Whole("tokenizer.ggml.bos_token_id", 1)
      .Whole("tokenizer.ggml.eos_token_id", 2);
  return file;
}

TEST(GgufTokenizerTest, Llama2VectorsOfAnotherImplementation) {
  SKIP_WITHOUT_TOKENIZER_DATA();
  const GgufBuilder file =
      SentencePieceOnly(TokenizerData() + "llama2/tokenizer.model");
  const auto t = LoadGguf(file.Write(TempFolder() + "/spm.gguf"));
  ASSERT_NE(t, nullptr);
  EXPECT_EQ(t->vocab_size(), 32000);
  ExpectTokenVectors(*t, "llama-spm");
  EXPECT_EQ(t->marks().bos, 1);
  EXPECT_EQ(t->marks().eos, 2);
  EXPECT_TRUE(t->marks().add_bos);
  EXPECT_THAT(*t->Encode("</s>", true), ElementsAre(2));

  GgufBuilder plain = file;
  plain.Flag("tokenizer.ggml.add_space_prefix", false)
      .Flag("tokenizer.ggml.add_bos_token", false);
  const auto bare = LoadGguf(plain.Write(TempFolder() + "/bare.gguf"));
  ASSERT_NE(bare, nullptr);
  EXPECT_FALSE(bare->marks().add_bos);
  EXPECT_EQ(t->Encode("Hello").value().size(), 1u);  // "▁Hello"
  EXPECT_THAT(*bare->Encode(" Hello"), *t->Encode("Hello"));
  EXPECT_NE(*bare->Encode("Hello"), *t->Encode("Hello"));
}

TEST(GgufTokenizerTest, TheFileAndTheFoldersTokenizerAgree) {
  SKIP_WITHOUT_TOKENIZER_DATA();
  const auto from_file =
      LoadGguf(SentencePieceOnly(TokenizerData() + "llama2/tokenizer.model")
                   .Write(TempFolder() + "/spm.gguf"));
  const auto from_folder = LoadGguf(TokenizerData() + "llama2/tokenizer.model");
  ASSERT_TRUE(from_file != nullptr && from_folder != nullptr);
  RandomStream random(StreamKey(23, 0, 0, Purpose::kTest));
  for (int i = 0; i < 500; ++i) {
    const std::string text = RandomText(random, static_cast<TextKind>(i % 3));
    ASSERT_EQ(*from_file->Encode(text), *from_folder->Encode(text));
  }
}

// All bytes, plus "ab" and "12".
GgufBuilder Small(const std::string& pre = "gpt-2") {
  std::vector<std::string> tokens;
  for (int b = 0; b < 256; ++b) {
    tokens.emplace_back(SpellByte(static_cast<uint8_t>(b)));
  }
  std::vector<int32_t> kinds(256, kNormal);
  for (const auto& [token, kind] :
       {std::pair("ab", kNormal), std::pair("12", kNormal),
        std::pair("<end>", kControl), std::pair("  ", kUserDefined),
        std::pair("[PAD260]", kUnused)}) {
    tokens.emplace_back(token);
    kinds.push_back(kind);
  }
  GgufBuilder file;
  file.Text("tokenizer.ggml.model", "gpt2")
      .Text("tokenizer.ggml.pre", pre)
      .Texts("tokenizer.ggml.tokens", tokens)
      .Wholes("tokenizer.ggml.token_type", kinds)
      .Texts("tokenizer.ggml.merges", {"a b", "1 2"});
  return file;
}

std::string PutKey(const GgufBuilder& file) {
  return file.Write(TempFolder() + "/t.gguf");
}

void ExpectKeyRefused(const GgufBuilder& file, const std::string& what) {
  const std::string path = PutKey(file);
  const auto tokenizer = Tokenizer::Load(path);
  ASSERT_FALSE(tokenizer.ok()) << what;
  EXPECT_THAT(std::string(tokenizer.status().message()),
              testing::AllOf(HasSubstr(path), HasSubstr(what)));
}

TEST(GgufTokenizerTest, KindsOfTokensDecideHowTheyAreFound) {
  const auto t = LoadGguf(PutKey(Small()));
  ASSERT_NE(t, nullptr);
  EXPECT_THAT(*t->Encode("ab  a"), ElementsAre(256, 259, 'a'));
  EXPECT_THAT(*t->Encode("b<end>", true), ElementsAre('b', 258));
  EXPECT_EQ(t->Encode("<end>")->size(), 5u);
  EXPECT_EQ(t->Encode("[PAD260]", true)->size(), 8u);  // matches no text
  EXPECT_EQ(t->TokenBytes(259), "  ");
  EXPECT_EQ(t->TokenBytes(258), "");
  EXPECT_EQ(t->TokenBytes(260), "");
}

TEST(GgufTokenizerTest, TheNameOfThePatternDecidesHowTextIsCut) {
  // GPT-2 joins digits; Qwen2 and SmolLM split before each digit.
  EXPECT_THAT(*LoadGguf(PutKey(Small("gpt-2")))->Encode("12"),
              ElementsAre(257));
  EXPECT_THAT(*LoadGguf(PutKey(Small("llama-bpe")))->Encode("12"),
              ElementsAre(257));
  EXPECT_THAT(*LoadGguf(PutKey(Small("qwen2")))->Encode("12"),
              ElementsAre('1', '2'));
  EXPECT_THAT(*LoadGguf(PutKey(Small("tekken")))->Encode("12"),
              ElementsAre('1', '2'));
  EXPECT_THAT(*LoadGguf(PutKey(Small("smollm")))->Encode("12"),
              ElementsAre('1', '2'));
  // Qwen2's tokenizer normalises to NFC first: e and a combining acute are
  // U+00E9.
  const auto qwen = LoadGguf(PutKey(Small("qwen2")));
  EXPECT_EQ(qwen->Decode(*qwen->Encode("e\xCC\x81")), "\xC3\xA9");
  ExpectKeyRefused(Small("llama-bpee"), "did you mean \"llama-bpe\"");
}

TEST(GgufTokenizerTest, TheTokenizerJsonInTheFileDecides) {
  GgufBuilder file = Small();
  file.Text("tokenizer.huggingface.json",
            json{{"model",
                  {{"type", "BPE"},
                   {"vocab", {{"x", 0}, {"y", 1}, {"xy", 2}}},
                   {"merges", {"x y"}}}},
                 {"pre_tokenizer",
                  {{"type", "ByteLevel"}, {"add_prefix_space", false}}}}
                .dump());
  EXPECT_THAT(*LoadGguf(PutKey(file))->Encode("xyy"), ElementsAre(2, 1));
}

TEST(GgufTokenizerTest, MarksComeFromKeysAndFromThePattern) {
  GgufBuilder file = Small();
  file.Whole("tokenizer.ggml.bos_token_id", 258);
  EXPECT_EQ(LoadGguf(PutKey(file))->marks().bos, 258);
  EXPECT_FALSE(LoadGguf(PutKey(file))->marks().add_bos);
  file.Flag("tokenizer.ggml.add_bos_token", true);
  EXPECT_TRUE(LoadGguf(PutKey(file))->marks().add_bos);
  GgufBuilder llama = Small("llama-bpe");
  EXPECT_FALSE(LoadGguf(PutKey(llama))->marks().add_bos);  // has no such token
  llama.Whole("tokenizer.ggml.bos_token_id", 258)
      .Whole("tokenizer.ggml.padding_token_id", 9999);
  EXPECT_TRUE(LoadGguf(PutKey(llama))->marks().add_bos);
  EXPECT_EQ(LoadGguf(PutKey(llama))->marks().pad, -1);
  ExpectKeyRefused(Small().Whole("tokenizer.ggml.eos_token_id", 261),
                   "expected an id below 261, found 261");
  ExpectKeyRefused(Small().Whole("tokenizer.ggml.add_bos_token", 1),
                   "expected true or false, found 1");
}

TEST(GgufTokenizerTest, PiecesOfEveryKindAreRead) {
  GgufBuilder file;
  const std::string mark = "\xE2\x96\x81";
  file.Text("tokenizer.ggml.model", "llama")
      .Texts("tokenizer.ggml.tokens", {"<unk>", "<s>", "<0x41>", mark, "a", "b",
                                       "ab", "[PAD7]", "x y", mark + "ab"})
      .Floats("tokenizer.ggml.scores", {0, 0, 0, -3, -4, -5, -1, 0, 0, -2})
      .Wholes("tokenizer.ggml.token_type", {2, 3, 6, 1, 1, 1, 1, 5, 4, 1});
  const auto t = LoadGguf(PutKey(file));
  ASSERT_NE(t, nullptr);
  EXPECT_THAT(*t->Encode("ab"), ElementsAre(9));
  EXPECT_THAT(*t->Encode("ba"), ElementsAre(3, 5, 4));
  EXPECT_THAT(*t->Encode("bA"), ElementsAre(3, 5, 2));
  EXPECT_THAT(*t->Encode("ax yb"), ElementsAre(3, 4, 8, 5));
  EXPECT_THAT(*t->Encode("<s>ab", true), ElementsAre(1, 6));
  EXPECT_EQ(t->TokenBytes(8), "x y");
}

TEST(GgufTokenizerTest, DamagedVocabulariesAreRefused) {
  GgufBuilder scoreless;
  scoreless.Text("tokenizer.ggml.model", "llama")
      .Texts("tokenizer.ggml.tokens", {"a", "b"});
  ExpectKeyRefused(scoreless, "tokenizer.ggml.scores: expected an array of 2");
  scoreless.Floats("tokenizer.ggml.scores", {0, NAN});
  ExpectKeyRefused(scoreless, "piece 1 has the score nan");
  ExpectKeyRefused(GgufBuilder(), "tokenizer.ggml.model: found nothing");
  GgufBuilder bert;
  bert.Text("tokenizer.ggml.model", "bert");
  ExpectKeyRefused(bert, "found bert");
  GgufBuilder number;
  number.Whole("tokenizer.ggml.model", 3);
  ExpectKeyRefused(number, "expected a text, found 3");
  const auto base = [] {
    GgufBuilder file;
    file.Text("tokenizer.ggml.model", "gpt2");
    return file;
  };
  ExpectKeyRefused(base(), "tokenizer.ggml.tokens: expected an array of texts");
  ExpectKeyRefused(base().Texts("tokenizer.ggml.tokens", {"a"}),
                   "tokenizer.ggml.merges");
  ExpectKeyRefused(base().Wholes("tokenizer.ggml.tokens", {1}),
                   "found another value at 0");
  ExpectKeyRefused(base()
                       .Texts("tokenizer.ggml.tokens", {"a", "b"})
                       .Wholes("tokenizer.ggml.token_type", {1}),
                   "expected an array of 2 whole numbers, found an array of 1");
  for (const char* merge : {"ab", "a ", "", " "}) {
    ExpectKeyRefused(base()
                         .Texts("tokenizer.ggml.tokens", {"a", "b"})
                         .Texts("tokenizer.ggml.merges", {merge}),
                     "merge 0: expected two tokens");
  }
  ExpectKeyRefused(base()
                       .Texts("tokenizer.ggml.tokens", {"a", "b"})
                       .Texts("tokenizer.ggml.merges", {"a b"}),
                   "\"ab\" is not in the vocabulary");
}

TEST(GgufTokenizerTest, DamagedBytesNeverDoMoreThanFail) {
  const std::string whole = Small().Bytes();
  RandomStream random(StreamKey(17, 0, 0, Purpose::kTest));
  const std::string path = TempFolder() + "/f.gguf";
  int loaded = 0;
  for (int round = 0; round < 1000; ++round) {
    std::string bytes = whole;
    for (int i = random.Range(1, 3); i > 0; --i) {
      bytes[random.Below(static_cast<uint32_t>(bytes.size()))] =
          static_cast<char>(random.Next32());
    }
    WriteFast(path, bytes);
    const auto t = Tokenizer::Load(path);
    if (!t.ok()) continue;
    ++loaded;
    const auto ids = (*t)->Encode("ab 12  <end>", true);
    if (ids.ok()) (*t)->Decode(*ids);
  }
  EXPECT_GT(loaded, 0);
  EXPECT_LT(loaded, 1000);
}

}  // namespace
}  // namespace espalier
