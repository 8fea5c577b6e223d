// A response without its model's thoughts.
//
//   WithoutThoughts("<think>4?</think> It is 5.")   // " It is 5."
//   WithoutThoughts("Well. <think>4? No")            // "Well. "
//
// Returns the text behind the last closing tag, up to an opening tag that is
// never closed. Stateless, linear in the text.
#ifndef ESPALIER_DATASETS_ANSWERS_WORDS_THOUGHTS_H_
#define ESPALIER_DATASETS_ANSWERS_WORDS_THOUGHTS_H_

#include <string_view>

namespace espalier {

std::string_view WithoutThoughts(std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_WORDS_THOUGHTS_H_
