// Answers that name the gold answer only to say something else.
//
//   OnlyRelated("Monday", "the day after Monday")            // "after"
//   OnlyRelated("B", "Every option but B is correct.")       // "but"
//   OnlyRelated("B", "All but B are wrong, so it is B.")     // ""
//   OnlyRelated("Monday", "Monday, the day after Sunday")    // ""
//
// Words in front of a name may make another one of it: a relative of it, what
// comes before or behind it, its opposite, or all the others.
//
// Stateless; looks at a bounded part of the text: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_FIND_RELATED_H_
#define ESPALIER_DATASETS_ANSWERS_FIND_RELATED_H_

#include <string>
#include <string_view>

namespace espalier {

// The words that relate the last mention of gold in an answer to something
// else; empty if it is mentioned on its own in the same sentence, or not at
// all.
std::string OnlyRelated(std::string_view gold, std::string_view answer);

// What a sentence concludes behind a clause that relates gold to others: "so B"
// of "All but B are wrong, so B"; empty if it is not such a sentence.
std::string_view ConclusionAbout(std::string_view gold,
                                 std::string_view answer);

// The text in front of words that only say more of the name at its end: "The
// answer is Monday" of "The answer is Monday, the day after Sunday."; empty if
// it does not end so.
std::string_view WithoutApposition(std::string_view answer);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_FIND_RELATED_H_
