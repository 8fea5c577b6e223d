// What fuzz targets do with a checkpoint or a tokenizer that was accepted.
#ifndef ESPALIER_TESTS_FUZZ_CHECKPOINT_USE_H_
#define ESPALIER_TESTS_FUZZ_CHECKPOINT_USE_H_

#include <string>
#include <string_view>

#include "models/tokenizer/tokenizer.h"

namespace espalier {

// Opens the checkpoint at `path` and, if it is one, reads rows of every part.
void UseCheckpoint(const std::string& path);

// Encodes texts, among them `more`, and decodes what it got. Checks that each
// id is in the vocabulary.
void UseTokenizer(const Tokenizer& tokenizer, std::string_view more = {});

}  // namespace espalier

#endif  // ESPALIER_TESTS_FUZZ_CHECKPOINT_USE_H_
