// Parts of a short response that say all of its answer: what the rest adds is
// a clause about a name, a question, a remark about the other choices, or the
// same value in other words.
//
//   WithoutClause("It was Ann Lee, who died in 1784.")   // "It was Ann Lee"
//   BehindQuestion("What is the answer? C.")             // "C."
//   SaidTwice("a half (50%)")                            // "a half", "50%"
//
// A part is a view into the text; empty if there is none. Stateless:
// thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_FIND_RESTATED_H_
#define ESPALIER_DATASETS_ANSWERS_FIND_RESTATED_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace espalier {

// Without a clause at the end that only says more of the name in front of it.
std::string_view WithoutClause(std::string_view text);

// The name of "her older brother Tom".
std::string_view WithoutRole(std::string_view text);

// What follows a question that asks for the answer.
std::string_view BehindQuestion(std::string_view text);

// Without a last sentence that only rules out the others: "The answer is B. |
// All other options are wrong."
std::string_view WithoutOthers(std::string_view text);

// The verdict of "Actually yes."
std::string_view BehindCorrection(std::string_view text);

// "B" of "All options except B are wrong."
std::string_view LeftOver(std::string_view gold, std::string_view text);

// Without what it is told from: "The answer is E | , not D.", "45 | , and not
// 40".
std::string_view WithoutContrasted(std::string_view text);

// Parts at the end of a longer text that give its result: what follows "=" at
// the begin of the last line, a last sentence that concludes, its words in bold
// type, code or a label in front of a formula.
std::vector<std::string> ResultParts(std::string_view text);

// Names in another spelling: "William Shakespeare" for "Shakespeare, William",
// "Mount Everest" for "Mt. Everest", "Isaac Newton" for "Sir Isaac Newton. He
// lived ...", "Canberra" for "Canberra, Australia".
std::vector<std::string> NameParts(std::string_view text);

// "x = 2, y = 3" of lines that are nothing but the values of several letters,
// and words that announce them; empty if the text is anything else.
std::string LinesAsList(std::string_view text);

// Whether all lines of a text answer a part of a question: "(a) 5\n(b) 7".
bool AnswersParts(std::string_view text);

// Two parts that both give an answer, which is the text's if they agree.
std::pair<std::string_view, std::string_view> SaidTwice(std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_FIND_RESTATED_H_
