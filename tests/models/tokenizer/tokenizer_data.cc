#include "tests/models/tokenizer/tokenizer_data.h"

#include <cstdlib>
#include <sstream>

#include "base/files.h"
#include "base/utf8.h"
#include "gtest/gtest.h"
#include "models/tokenizer/byte_alphabet.h"
#include "nlohmann/json.hpp"

namespace espalier {

using nlohmann::json;

std::string TokenizerData() {
  const char* root = std::getenv("ESPALIER_DATA");
  return root == nullptr ? "" : std::string(root) + "/tokenizers/";
}

std::vector<std::pair<std::string, std::vector<int32_t>>> TokenVectors(
    const std::string& name) {
  const std::string stem =
      TokenizerData() + "vectors/ggml-vocab-" + name + ".gguf";
  const std::string input = ReadFile(stem + ".inp").value();
  std::istringstream output(ReadFile(stem + ".out").value());
  const std::string separator = "\n__ggml_vocab_test__\n";
  std::vector<std::pair<std::string, std::vector<int32_t>>> vectors;
  size_t at = 0;
  for (std::string line; std::getline(output, line);) {
    const size_t end = input.find(separator, at);
    auto& [text, ids] = vectors.emplace_back();
    text = input.substr(at, end - at);
    at = end + separator.size();
    std::istringstream numbers(line);
    for (int32_t id; numbers >> id;) ids.push_back(id);
    if (end == std::string::npos) break;
  }
  return vectors;
}

void ExpectTokenVectors(const Tokenizer& tokenizer, const std::string& name) {
  const auto vectors = TokenVectors(name);
  ASSERT_GE(vectors.size(), 46u);
  for (const auto& [text, ids] : vectors) {
    const auto encoded = tokenizer.Encode(text);
    ASSERT_TRUE(encoded.ok()) << encoded.status();
    EXPECT_EQ(*encoded, ids) << testing::PrintToString(text);
    EXPECT_EQ(tokenizer.DecodeText(ids), text);
  }
}

std::string RandomText(RandomStream& rng, TextKind kind) {
  std::string text;
  const int length = rng.Range(0, 60);
  for (int i = 0; i < length; ++i) {
    if (kind == TextKind::kWords) {
      text += " \n'abcdst019.,"[rng.Below(15)];
    } else if (kind == TextKind::kBytes) {
      text += static_cast<char>(rng.Below(256));
    } else {
      uint32_t code = rng.Below(4) == 0 ? rng.Below(0x110000) : rng.Below(800);
      // Surrogates are not characters; U+2581 decodes to a space by design.
      if ((code >= 0xD800 && code <= 0xDFFF) || code == 0x2581) code = 'x';
      AppendUtf8(code, text);
    }
  }
  return text;
}

void ExpectRoundTrips(const Tokenizer& tokenizer,
                      const std::vector<TextKind>& kinds) {
  RandomStream rng(StreamKey(1, 2, 3, Purpose::kTest));
  for (const TextKind kind : kinds) {
    for (int i = 0; i < 1000; ++i) {
      const std::string text = RandomText(rng, kind);
      const auto ids = tokenizer.Encode(text);
      ASSERT_TRUE(ids.ok()) << ids.status();
      ASSERT_EQ(tokenizer.DecodeText(*ids), text);
      const auto more = tokenizer.EncodeContinuation(text);
      ASSERT_TRUE(more.ok()) << more.status();
      ASSERT_EQ(tokenizer.Decode(*more), text);
    }
  }
}

json SmallTokenizerJson(
    const std::vector<std::pair<std::string, std::string>>& merges) {
  json vocab = json::object(), list = json::array();
  for (int b = 0; b < 256; ++b) {
    vocab[std::string(SpellByte(static_cast<uint8_t>(b)))] = b;
  }
  for (const auto& [left, right] : merges) {
    const std::string l = SpellBytes(left), r = SpellBytes(right);
    if (!vocab.contains(l + r)) vocab[l + r] = vocab.size();
    list.push_back(l + " " + r);
  }
  return {{"version", "1.0"},
          {"added_tokens", json::array()},
          {"normalizer", nullptr},
          {"pre_tokenizer",
           {{"type", "ByteLevel"},
            {"add_prefix_space", false},
            {"use_regex", true}}},
          {"decoder", {{"type", "ByteLevel"}}},
          {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", list}}}};
}

}  // namespace espalier
