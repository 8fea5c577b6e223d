// The contents of phrases.txt.
#ifndef ESPALIER_DATASETS_ANSWERS_WORDS_PHRASES_SOURCE_H_
#define ESPALIER_DATASETS_ANSWERS_WORDS_PHRASES_SOURCE_H_

#include <string_view>

namespace espalier {

std::string_view PhrasesSource();

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_WORDS_PHRASES_SOURCE_H_
