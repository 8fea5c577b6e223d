// The readings of one side of a comparison: the text that gives the answer,
// and what it says.
//
//   Reader(policy, comparer).Read("She has 12 apples.").answers   // ..., 12
//
// The first reading is what the text says as it stands; the ones behind it
// say the same in other words (a sentence and the number that it states).
// What a text only might mean stands apart in `doubtful`. Not thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_READINGS_H_
#define ESPALIER_DATASETS_ANSWERS_READINGS_H_

#include <string>
#include <string_view>
#include <vector>

#include "datasets/answers/answer.h"
#include "datasets/answers/compare_value.h"
#include "datasets/answers/lexer.h"
#include "datasets/answers/policy.h"

namespace espalier {

struct Readings {
  std::string text;   // what was read
  std::string error;  // why it is no mathematics; empty where it is
  char choice = 0;    // the letter of a multiple choice
  bool choice_only = false;
  bool words = false;  // no mathematics as it stands, but words around some
  // Ends in the middle of something: what it says is not known.
  bool cut_off = false;
  // One formula of several in a text that does not say which is the answer.
  bool picked = false;
  // The words around the answer leave open whether it is one.
  bool unsure = false;
  bool denied = false;  // no mathematics, but words that deny some
  // The number that a sentence states, as it is written.
  std::string number;
  std::vector<Answer> answers;
  std::vector<Answer> doubtful;
  // What it may be beside the like on the other side: the letters behind a
  // number as a unit ("4 m"), a place in a row ("3rd"). None, or one.
  std::vector<Answer> beside;
};

class Reader {
 public:
  Reader(const GradePolicy& policy, ValueComparer& comparer)
      : policy_(policy), comparer_(comparer) {}

  Readings Read(std::string_view raw);

 private:
  // With the signs that WithPlainSigns leaves.
  Readings ReadPlain(std::string_view raw);
  std::string FindText(std::string_view raw, Readings& out, bool& cut);
  bool ReadNames(Readings& out);
  void ReadLongWords(bool cut, Readings& out);
  void AddNumbers(Readings& out);
  bool AddWordsAlone(const std::string& folded, Readings& out);
  bool AddCountedList(Readings& out);
  void AddIdentity(Readings& out);
  void AddCalculation(std::string_view raw, bool cut, Readings& out);
  void AddSentence(const std::string& sentence, const std::string& folded,
                   bool cut, Readings& out);
  void AddWordsAround(Readings& out);
  bool AddSaid(std::string_view sentence, Readings& out);
  bool Parse(std::string_view text, const LexOptions& options,
             std::vector<Answer>& to, std::string* error = nullptr);

  const GradePolicy& policy_;
  ValueComparer& comparer_;
  // Of the text at hand, what stands around its last formula.
  std::string_view around_;
  // How many items its list has, as its words say.
  std::string count_;
};

// Words of the language among what was read.
bool HasWords(const Answer& answer);

// Without blanks, but for those that part two numbers: "1 2", "3, 500".
std::string Squeeze(std::string_view text);

// Without blanks, upright letters and needless braces: \text{Al}_{2} as Al_2.
std::string WithoutUpright(std::string_view text);

// Without \left, \right and thin spaces.
std::string WithoutSpacing(std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_READINGS_H_
