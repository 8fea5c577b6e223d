// Shared by the tests of several tokenizers: public files and test vectors,
// random texts.
#ifndef ESPALIER_TESTS_MODELS_TOKENIZER_TOKENIZER_DATA_H_
#define ESPALIER_TESTS_MODELS_TOKENIZER_TOKENIZER_DATA_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "models/tokenizer/tokenizer.h"
#include "nlohmann/json_fwd.hpp"

namespace espalier {

// The folder of public tokenizer files; "" if it is not set.
std::string TokenizerData();

#define SKIP_WITHOUT_TOKENIZER_DATA() \
  if (TokenizerData().empty())        \
  GTEST_SKIP() << "set ESPALIER_DATA to the folder of public test data"

// The strings of NAME.inp with the ids of NAME.out.
std::vector<std::pair<std::string, std::vector<int32_t>>> TokenVectors(
    const std::string& name);

// Expects that `tokenizer` encodes and decodes the vectors `name` exactly.
void ExpectTokenVectors(const Tokenizer& tokenizer, const std::string& name);

enum class TextKind { kWords, kUnicode, kBytes };
std::string RandomText(RandomStream& rng, TextKind kind);

// Expects that 1000 random texts of each kind round-trip, whole and as
// continuations.
void ExpectRoundTrips(const Tokenizer& tokenizer,
                      const std::vector<TextKind>& kinds);

// A tokenizer.json with all bytes (id = byte) and the given merges, whose
// results get ids from 256 on.
nlohmann::json SmallTokenizerJson(
    const std::vector<std::pair<std::string, std::string>>& merges = {});

}  // namespace espalier

#endif  // ESPALIER_TESTS_MODELS_TOKENIZER_TOKENIZER_DATA_H_
