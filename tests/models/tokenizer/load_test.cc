// Tokenizer::Load: which file is used, and what tokenizer_config.json adds.
#include <filesystem>
#include <fstream>

#include "base/check.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/tokenizer/sentencepiece.pb.h"
#include "models/tokenizer/tokenizer.h"
#include "nlohmann/json.hpp"
#include "tests/models/tokenizer/tokenizer_data.h"

namespace espalier {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class LoadTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "/load_" +
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ + "/" + name) << text;
  }
  void WritePair(const json& tokenizer) {
    Write("vocab.json", tokenizer["model"]["vocab"].dump());
    std::string merges = "#version: 0.2\r\n";
    for (const auto& merge : tokenizer["model"]["merges"]) {
      merges += merge.get<std::string>() + "\r\n";
    }
    Write("merges.txt", merges);
  }
  std::unique_ptr<Tokenizer> Load() {
    auto result = Tokenizer::Load(folder_);
    ESP_CHECK_OK(result.status());
    return *std::move(result);
  }
  std::string Error() {
    const auto result = Tokenizer::Load(folder_);
    EXPECT_FALSE(result.ok());
    return std::string(result.status().message());
  }
  std::string folder_;
};

// One token per character: letters' ids show how the text is split.
json WithWords() {
  return SmallTokenizerJson({{"1", "2"}, {"12", "3"}, {" ", "a"}});
}

TEST_F(LoadTest, TokenizerJsonComesFirstThenTheModelThenThePair) {
  WritePair(WithWords());
  EXPECT_EQ(Load()->vocab_size(), 259);
  spm::Model model;
  for (const char* text : {"<unk>", "<s>", "</s>", "▁", "a"}) {
    spm::Piece* piece = model.add_pieces();
    piece->set_piece(text);
    piece->set_type(text[0] == '<' ? spm::Piece::CONTROL : spm::Piece::NORMAL);
  }
  Write("tokenizer.model", model.SerializeAsString());
  EXPECT_EQ(Load()->vocab_size(), 5);
  Write("tokenizer.json", SmallTokenizerJson().dump());
  EXPECT_EQ(Load()->vocab_size(), 256);
}

TEST_F(LoadTest, TheFamilyDecidesHowAPairCutsText) {
  WritePair(WithWords());
  // GPT-2 takes a run of digits together with the space before it.
  EXPECT_THAT(*Load()->Encode("123 a"), ElementsAre(257, 258));
  Write("config.json", R"({"model_type": "qwen2"})");  // digit by digit
  EXPECT_THAT(*Load()->Encode("123 a"), ElementsAre('1', '2', '3', 258));
  EXPECT_THAT(*Load()->Encode("e\u0301"), ElementsAre(0xC3, 0xA9));  // NFC
  Write("config.json", R"({"model_type": "llama"})");  // three digits
  EXPECT_THAT(*Load()->Encode("1231 a"), ElementsAre(257, '1', 258));
  EXPECT_THAT(*Load()->Encode("e\u0301"), ElementsAre('e', 0xCC, 0x81));
  Write("tokenizer_config.json", R"({"tokenizer_class": "Qwen2Tokenizer"})");
  EXPECT_THAT(*Load()->Encode("12"), ElementsAre('1', '2'));
}

TEST_F(LoadTest, TheConfigAddsTokensAndMarks) {
  WritePair(WithWords());
  Write("tokenizer_config.json", R"({
    "added_tokens_decoder": {
      "300": {"content": "<|im_start|>", "special": true},
      "301": {"content": "<|im_end|>", "special": true},
      "302": {"content": "<tool>", "special": false}},
    "bos_token": null, "eos_token": "<|im_end|>",
    "pad_token": {"content": "<|im_start|>"}, "add_bos_token": false})");
  const auto t = Load();
  EXPECT_EQ(t->vocab_size(), 303);
  EXPECT_EQ(t->TokenId("<|im_end|>"), 301);
  EXPECT_EQ(t->marks().bos, -1);
  EXPECT_EQ(t->marks().eos, 301);
  EXPECT_EQ(t->marks().pad, 300);
  EXPECT_FALSE(t->marks().add_bos);
  EXPECT_THAT(*t->Encode("<|im_end|><tool>", true), ElementsAre(301, 302));
  EXPECT_EQ(t->DecodeText({301, 302}), "<tool>");
}

// Llama 3's format: a Sequence of ByteLevel and a template that begins with a
// token; tokenizer_config.json may override it.
TEST_F(LoadTest, ATemplateSaysThatATextBeginsWithAToken) {
  json value = WithWords();
  value["added_tokens"] = {
      {{"id", 400}, {"content", "<|begin_of_text|>"}, {"special", true}},
      {{"id", 401}, {"content", "<|eot_id|>"}, {"special", true}}};
  value["post_processor"] = json::parse(R"({"type": "Sequence", "processors": [
    {"type": "ByteLevel"},
    {"type": "TemplateProcessing",
     "single": [{"SpecialToken": {"id": "<|begin_of_text|>", "type_id": 0}},
                {"Sequence": {"id": "A", "type_id": 0}}],
     "pair": []}]})");
  Write("tokenizer.json", value.dump());
  EXPECT_EQ(Load()->marks().bos, 400);
  EXPECT_TRUE(Load()->marks().add_bos);
  EXPECT_FALSE(Load()->marks().add_eos);
  Write("tokenizer_config.json",
        R"({"add_bos_token": false, "eos_token": "<|eot_id|>"})");
  EXPECT_EQ(Load()->marks().bos, 400);
  EXPECT_FALSE(Load()->marks().add_bos);
  EXPECT_EQ(Load()->marks().eos, 401);
}

TEST_F(LoadTest, Gpt2sFolderNamesItsEndOfTextByTheVocabularyAlone) {
  SKIP_WITHOUT_TOKENIZER_DATA();
  const auto t = Tokenizer::Load(TokenizerData() + "gpt2");
  ASSERT_TRUE(t.ok()) << t.status();
  EXPECT_EQ((*t)->marks().eos, 50256);
  EXPECT_EQ((*t)->TokenId("<|endoftext|>"), 50256);
  EXPECT_FALSE((*t)->marks().add_bos);
}

TEST_F(LoadTest, ErrorsNameTheFile) {
  EXPECT_THAT(Error(), AllOf(HasSubstr(folder_), HasSubstr("tokenizer.model")));
  Write("tokenizer.model", "no model");
  EXPECT_THAT(Error(), HasSubstr("tokenizer.model: expected a SentencePiece"));
  Write("tokenizer.json", "{");
  EXPECT_THAT(Error(), HasSubstr("tokenizer.json: malformed"));
  Write("tokenizer.json", SmallTokenizerJson().dump());
  Write("tokenizer_config.json", "[]");
  EXPECT_THAT(Error(), HasSubstr("tokenizer_config.json: "));
  Write("tokenizer_config.json", R"({"added_tokens_decoder": {"x": {}}})");
  EXPECT_THAT(Error(), HasSubstr("added_tokens_decoder[\"x\"]"));
  Write("tokenizer_config.json",
        R"({"added_tokens_decoder": {"-3": {"content": "<a>"}}})");
  EXPECT_THAT(Error(), HasSubstr("\"<a>\" has id -3"));
}

// A pattern that never finishes fails its own request with an error that names
// the file; other requests are served.
TEST_F(LoadTest, AHostilePatternEndsItsRequestAndNamesItsFile) {
  json value = SmallTokenizerJson();
  value["pre_tokenizer"] = {{"type", "Sequence"},
                            {"pretokenizers",
                             {{{"type", "Split"},
                               {"pattern", {{"Regex", "(a+a+)+$"}}},
                               {"behavior", "Isolated"}},
                              {{"type", "ByteLevel"},
                               {"add_prefix_space", false},
                               {"use_regex", false}}}}};
  Write("tokenizer.json", value.dump());
  const auto t = Load();
  const auto stopped = t->Encode(std::string(40, 'a') + "b");
  EXPECT_EQ(stopped.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(stopped.status().message()),
              AllOf(HasSubstr("tokenizer.json"), HasSubstr("(a+a+)+$")));
  EXPECT_THAT(*t->Encode("ab"), ElementsAre('a', 'b'));
}

}  // namespace
}  // namespace espalier
