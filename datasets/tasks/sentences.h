// Splits a question into sentences and names them by letters.
//
// Tasks whose response lines refer to a sentence show the question as one
// tagged sentence per line. The split is a plain rule, not a parser: a sentence
// ends with . ! or ? (and closing quotes or brackets) before white space or the
// end, or with an ideographic full stop; "Mr. Hill", "J. Hill" and "3.5" are
// not split.
//
//   SplitSentences("Ann has 2 hats. She buys\n3. How many?")
//     -> {"Ann has 2 hats.", "She buys 3.", "How many?"}
#ifndef ESPALIER_DATASETS_TASKS_SENTENCES_H_
#define ESPALIER_DATASETS_TASKS_SENTENCES_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

// The sentences of `text`, with white space (including newlines) collapsed to
// one space. Empty if and only if `text` is only white space.
std::vector<std::string> SplitSentences(std::string_view text);

// 0 -> "a", 25 -> "z", 26 -> "aa", 27 -> "ab", ...
std::string SentenceTag(size_t index);

// The index that `tag` names; nothing if it is not one to four letters a-z.
std::optional<size_t> SentenceIndex(std::string_view tag);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_TASKS_SENTENCES_H_
