// What a gold answer and a response count, where it is not the same: "12
// apples" and "There are 12 oranges."
//
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_FIND_COUNTED_NOUN_H_
#define ESPALIER_DATASETS_ANSWERS_FIND_COUNTED_NOUN_H_

#include <string>
#include <string_view>

namespace espalier {

// The noun that stands behind `number` in the answer, if gold is this number of
// something else that the answer does not mention; empty otherwise. A noun is
// known by its plural; units are compared elsewhere.
std::string OtherNoun(std::string_view gold, std::string_view answer,
                      std::string_view number);

// "| apples are left", "| red balls in total": whether the words behind a
// number are one or two nouns, and that they are what remains.
bool OnlyLeft(std::string_view behind);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_FIND_COUNTED_NOUN_H_
