// Whether the words around an answer claim it outright.
//
//   DoubtAbout("Tom said: the answer is 24.", "24")   // "said"
//   DoubtAbout("24 if n is even", "24")               // "if"
//   DoubtAbout("So the answer is 24.", "24")          // "": claimed
//
// A claim has a plain grammar: "the answer", with words that do not tell it
// from another one, a verb that equates, the value, and a tail that changes
// nothing. Words that attribute the value to somebody, call it a mistake, an
// estimate or an earlier attempt, put it under a condition, count something
// else with it or take it back leave it unclaimed. The words are rows of
// phrases.txt.
//
// Stateless; looks at a bounded part of the text: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_FIND_OUTRIGHT_H_
#define ESPALIER_DATASETS_ANSWERS_FIND_OUTRIGHT_H_

#include <string>
#include <string_view>

namespace espalier {

// The word that leaves an answer unclaimed; empty if it is claimed. The answer
// is at `place`, a part of `text`; if that is empty, where `text` last says the
// number, or the answer.
std::string DoubtAbout(std::string_view text, std::string_view place,
                       std::string_view answer = {},
                       std::string_view number = {});

// Whether it is a short answer that asks: "C?", "\\text{(C)?}".
bool Asks(std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_FIND_OUTRIGHT_H_
