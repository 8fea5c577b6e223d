#include "models/tokenizer/sentencepiece_file.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/check.h"
#include "base/files.h"
#include "base/random.h"
#include "datasets/tasks/stories.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/tokenizer/sentencepiece.pb.h"
#include "models/tokenizer/stream_decoder.h"
#include "tests/base/one_thread.h"
#include "tests/models/tokenizer/tokenizer_data.h"

namespace espalier {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A model with a few pieces: <unk> 0, <s> 1, </s> 2, then the added ones.
class SmallModel {
 public:
  explicit SmallModel(spm::TrainerSpec::ModelType type) {
    model_.mutable_trainer_spec()->set_model_type(type);
    model_.mutable_normalizer_spec()->set_remove_extra_whitespaces(false);
    Add("<unk>", 0, spm::Piece::UNKNOWN);
    Add("<s>", 0, spm::Piece::CONTROL);
    Add("</s>", 0, spm::Piece::CONTROL);
  }
  SmallModel& Add(const std::string& text, float score,
                  spm::Piece::Type type = spm::Piece::NORMAL) {
    spm::Piece* piece = model_.add_pieces();
    piece->set_piece(text);
    piece->set_score(score);
    piece->set_type(type);
    return *this;
  }
  spm::Model& proto() { return model_; }
  std::string Bytes() const { return model_.SerializeAsString(); }
  std::unique_ptr<Tokenizer> Load(const TokenizerConfig& config = {}) const {
    auto result = SentencePieceFromBytes(Bytes(), config);
    ESP_CHECK_OK(result.status());
    return *std::move(result);
  }
  std::string Error() const {
    const auto result = SentencePieceFromBytes(Bytes(), {});
    EXPECT_FALSE(result.ok());
    return std::string(result.status().message());
  }

 private:
  spm::Model model_;
};

// Lines of stories, each followed by a hard one: odd spaces, characters with
// other normal forms or missing from the model, invalid UTF-8.
std::vector<std::string> Lines() {
  std::vector<std::string> lines;
  RandomStream rng(StreamKey(3, 0, 0, Purpose::kTest));
  for (uint64_t i = 0; i < 400; ++i) {
    lines.push_back(MakeStory(*FindStoryBand("hard"), 1, i).problem.question);
    std::string odd =
        RandomText(rng, i % 2 == 0 ? TextKind::kUnicode : TextKind::kBytes);
    if (i % 4 == 1)
      odd = "  ﬁne ①  ｆｕｌｌ½ \xC2\xA0" + odd + "<sep>  e\xCC\x81 ";
    for (char& c : odd) {
      if (c == '\n' || c == '\r' || c == '\0') c = ' ';
    }
    lines.push_back(odd);
  }
  return lines;
}

// Trains a model with the library's own program and compares the ids with those
// of its encoder, line by line.
void ExpectIdsOfTheLibrary(const std::string& name, const std::string& options,
                           const std::vector<std::string>& lines) {
  const std::string folder = testing::TempDir() + "/spm_" + name;
  std::filesystem::create_directories(folder);
  std::ofstream corpus(folder + "/corpus.txt");
  std::ofstream input(folder + "/input.txt");
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i % 2 == 0) corpus << lines[i] << "\n";
    input << lines[i] << "\n";
  }
  corpus.close();
  input.close();
  const std::string train = "cd " + folder +
                            " && spm_train --input=corpus.txt "
                            "--model_prefix=m --vocab_size=500 "
                            "--hard_vocab_limit=false " +
                            options + " > log 2>&1";
  ASSERT_EQ(std::system(train.c_str()), 0) << ReadFile(folder + "/log").value();
  const std::string encode = "cd " + folder +
                             " && spm_encode --model=m.model "
                             "--output_format=id < input.txt > ids.txt";
  ASSERT_EQ(std::system(encode.c_str()), 0);
  const auto tokenizer = Tokenizer::Load(folder + "/m.model");
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  std::ifstream ids(folder + "/ids.txt");
  for (const std::string& line : lines) {
    std::string row;
    ASSERT_TRUE(std::getline(ids, row));
    std::istringstream numbers(row);
    std::vector<int32_t> expected;
    for (int32_t id; numbers >> id;) expected.push_back(id);
    ASSERT_EQ((*tokenizer)->Encode(line).value(), expected)
        << testing::PrintToString(line);
  }
}

#define SKIP_WITHOUT_SENTENCEPIECE()                                   \
  if (std::system("command -v spm_train spm_encode > /dev/null") != 0) \
  GTEST_SKIP() << "install Debian's package sentencepiece"

TEST(SentencePieceFileTest, UnigramIdsAreThoseOfTheLibrary) {
  SKIP_WITHOUT_SENTENCEPIECE();
  ExpectIdsOfTheLibrary("unigram", "--model_type=unigram", Lines());
}

TEST(SentencePieceFileTest, UnigramWithBytesAndOwnSymbolsAsTheLibrary) {
  SKIP_WITHOUT_SENTENCEPIECE();
  std::vector<std::string> lines = Lines();
  // The library replaces invalid bytes; this tokenizer keeps them.
  for (std::string& line : lines) {
    StreamDecoder decoder;
    line = decoder.Push(line);
  }
  ExpectIdsOfTheLibrary("bytes",
                        "--model_type=unigram --byte_fallback=true "
                        "--user_defined_symbols='<sep>' "
                        "--normalization_rule_name=nfkc",
                        lines);
}

TEST(SentencePieceFileTest, BpeIdsAreThoseOfTheLibrary) {
  SKIP_WITHOUT_SENTENCEPIECE();
  ExpectIdsOfTheLibrary("bpe", "--model_type=bpe", Lines());
}

TEST(SentencePieceFileTest, BpeAcrossWordsWithoutNormalisationAsTheLibrary) {
  SKIP_WITHOUT_SENTENCEPIECE();
  ExpectIdsOfTheLibrary("across",
                        "--model_type=bpe --split_by_whitespace=false "
                        "--normalization_rule_name=identity "
                        "--remove_extra_whitespaces=false "
                        "--user_defined_symbols='<sep>'",
                        Lines());
}

TEST(SentencePieceFileTest, TheMostLikelySplitWins) {
  SmallModel model(spm::TrainerSpec::UNIGRAM);
  model.Add("▁", -3).Add("a", -2).Add("b", -2).Add("ab", -3.5f);
  const auto t = model.Load();
  EXPECT_THAT(*t->Encode("ab"), ElementsAre(3, 6));
  EXPECT_THAT(*t->Encode("ba"), ElementsAre(3, 5, 4));
  EXPECT_THAT(*t->Encode("axxb"), ElementsAre(3, 4, 0, 5));
  EXPECT_EQ(t->DecodeText({3, 4, 0, 5}), "a \u2047 b");
}

TEST(SentencePieceFileTest, EqualScoresMergeFromTheLeft) {
  SmallModel model(spm::TrainerSpec::BPE);
  model.Add("▁", -9).Add("a", -9).Add("b", -9).Add("bb", -1).Add("ab", -1);
  const auto t = model.Load();
  EXPECT_THAT(*t->Encode("abb"), ElementsAre(3, 7, 5));
  EXPECT_THAT(*t->Encode("babb"), ElementsAre(3, 5, 7, 5));
}

TEST(SentencePieceFileTest, MarksComeFromTheModelOrTheConfig) {
  SmallModel model(spm::TrainerSpec::BPE);
  model.Add("▁", -1);
  const TextMarks own = model.Load()->marks();
  EXPECT_EQ(own.bos, 1);
  EXPECT_EQ(own.eos, 2);
  EXPECT_EQ(own.pad, -1);
  EXPECT_TRUE(own.add_bos);
  EXPECT_FALSE(own.add_eos);
  TokenizerConfig config;
  config.added = {{.id = 4, .content = "<|end|>", .special = true}};
  config.eos = "<|end|>";
  config.add_bos = false;
  const auto named = model.Load(config);
  EXPECT_EQ(named->marks().eos, 4);
  EXPECT_FALSE(named->marks().add_bos);
  EXPECT_EQ(named->vocab_size(), 5);
  EXPECT_EQ(named->TokenId("<|end|>"), 4);
}

TEST(SentencePieceFileTest, WhatIsNotSupportedOrWrongIsNamed) {
  EXPECT_THAT(SmallModel(spm::TrainerSpec::WORD).Error(), HasSubstr("words"));
  EXPECT_THAT(SmallModel(spm::TrainerSpec::BPE).Add("", 0).Error(),
              HasSubstr("piece 3 has 0 bytes"));
  EXPECT_THAT(SmallModel(spm::TrainerSpec::BPE).Add("a", NAN).Error(),
              HasSubstr("finite"));
  EXPECT_THAT(
      SmallModel(spm::TrainerSpec::BPE).Add("a", 0, spm::Piece::UNUSED).Error(),
      HasSubstr("unused"));
  EXPECT_THAT(
      SmallModel(spm::TrainerSpec::BPE).Add("x", 0, spm::Piece::BYTE).Error(),
      HasSubstr("<0x0A>"));
  SmallModel mapped(spm::TrainerSpec::BPE);
  mapped.proto().mutable_normalizer_spec()->set_precompiled_charsmap(
      "\xFF\xFF\xFF\x7Fxxxx");
  EXPECT_THAT(mapped.Error(), HasSubstr("character map"));
  SmallModel suffix(spm::TrainerSpec::BPE);
  suffix.proto().mutable_trainer_spec()->set_treat_whitespace_as_suffix(true);
  EXPECT_THAT(suffix.Error(), HasSubstr("treat_whitespace_as_suffix"));
  EXPECT_FALSE(SentencePieceFromBytes("", {}).ok());
  EXPECT_FALSE(SentencePieceFromBytes("hello", {}).ok());
}

// Truncated and damaged models give a tokenizer or an error.
TEST(SentencePieceFileTest, DamagedFilesNeverCrash) {
  ESP_ONE_THREAD();
  std::vector<std::string> files;
  for (const auto type : {spm::TrainerSpec::BPE, spm::TrainerSpec::UNIGRAM}) {
    SmallModel model(type);
    for (const char* text : {"▁", "a", "b", "ab", "▁a", "▁ab"}) {
      model.Add(text, -static_cast<float>(std::string(text).size()));
    }
    // A trie of 256 units, each with a leaf, and a text.
    std::string map("\0\4\0\0", 4);
    for (uint32_t i = 0; i < 256; ++i) {
      map += std::string({static_cast<char>(i), '\1', '\4', '\0'});
    }
    model.proto().mutable_normalizer_spec()->set_precompiled_charsmap(map +
                                                                      "x");
    files.push_back(model.Bytes());
  }
  RandomStream rng(StreamKey(9, 1, 0, Purpose::kTest));
  int loaded = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string damaged = files[i % files.size()];
    const int hits = rng.Range(1, 4);
    for (int k = 0; k < hits; ++k) {
      damaged[rng.Below(damaged.size())] = static_cast<char>(rng.Below(256));
    }
    if (i % 4 == 0) damaged.resize(rng.Below(damaged.size()));
    const auto result = SentencePieceFromBytes(damaged, {});
    if (!result.ok()) continue;
    ++loaded;
    const auto ids =
        (*result)->Encode(RandomText(rng, TextKind::kBytes) + "ab ab", true);
    if (ids.ok()) (*result)->DecodeText(*ids);
  }
  EXPECT_GT(loaded, 100);
}

}  // namespace
}  // namespace espalier
