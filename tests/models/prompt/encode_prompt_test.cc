#include "models/prompt/encode_prompt.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/tokenizer/tokenizer.h"

namespace espalier {
namespace {

using Ids = std::vector<int32_t>;

// Bytes as tokens, plus the special tokens <s>, which begins a text, and
// <|user|>.
class MarkedTokenizer : public Tokenizer {
 public:
  static constexpr int32_t kBos = 256, kUser = 257;
  explicit MarkedTokenizer(bool add_bos) {
    marks_.bos = kBos;
    marks_.add_bos = add_bos;
  }
  absl::StatusOr<Ids> Encode(std::string_view text,
                             bool parse_special) const override {
    Ids ids;
    while (!text.empty()) {
      if (parse_special && text.starts_with("<s>")) {
        ids.push_back(kBos);
        text.remove_prefix(3);
      } else if (parse_special && text.starts_with("<|user|>")) {
        ids.push_back(kUser);
        text.remove_prefix(8);
      } else {
        ids.push_back(static_cast<unsigned char>(text[0]));
        text.remove_prefix(1);
      }
    }
    return ids;
  }
  std::string_view TokenBytes(int32_t id) const override {
    return id < 256 ? std::string_view("x") : std::string_view();
  }
  int vocab_size() const override { return 258; }
};

TEST(EncodePromptTest, ATextBeginsAsTheModelWasTrained) {
  EXPECT_EQ(EncodePrompt(MarkedTokenizer(true), "a", false).value(),
            (Ids{256, 'a'}));
  EXPECT_EQ(EncodePrompt(MarkedTokenizer(false), "a", false).value(),
            (Ids{'a'}));
  EXPECT_EQ(EncodePrompt(MarkedTokenizer(true), "", false).value(), (Ids{256}));
  EXPECT_EQ(EncodePrompt(MarkedTokenizer(true), "a", true).value(),
            (Ids{256, 'a'}));
}

TEST(EncodePromptTest, ATemplateSaysItselfHowItBegins) {
  EXPECT_EQ(EncodePrompt(MarkedTokenizer(true), "<s>a<|user|>", true).value(),
            (Ids{256, 'a', 257}));
  EXPECT_EQ(EncodePrompt(MarkedTokenizer(true), "<|user|>a", true).value(),
            (Ids{257, 'a'}));
}

TEST(EncodePromptTest, PlainTextSpellsNoControlToken) {
  EXPECT_EQ(EncodePrompt(MarkedTokenizer(false), "<s>", false).value(),
            (Ids{'<', 's', '>'}));
}

TEST(EncodePromptTest, AnotherModelsTemplateIsRefused) {
  const auto status =
      EncodePrompt(MarkedTokenizer(true), "<|im_start|>user\n", true).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("<|im_start|>user\\n"),
            absl::string_view::npos);
}

}  // namespace
}  // namespace espalier
