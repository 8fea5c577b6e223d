// The readings of one side of a comparison: the text that gives the answer, and
// its meaning.
//
//   Reader(policy, comparer).Read("She has 12 apples.").answers   // ..., 12
//
// The first reading is the text as written; the later ones say the same in
// other words (a sentence and the number that it states). Uncertain readings
// are kept separately in `doubtful`. Not thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_FIND_READINGS_H_
#define ESPALIER_DATASETS_ANSWERS_FIND_READINGS_H_

#include <string>
#include <string_view>
#include <vector>

#include "datasets/answers/notation/lexer.h"
#include "datasets/answers/value/answer.h"
#include "datasets/answers/value/compare_value.h"
#include "datasets/answers/value/policy.h"

namespace espalier {

struct Readings {
  std::string text;   // what was read
  std::string error;  // why it is not mathematics; empty if it is
  char choice = 0;    // the letter of a multiple choice
  bool choice_only = false;
  bool words = false;  // no mathematics as written, but words around some
  // The text is cut off: its meaning is unknown.
  bool cut_off = false;
  // One formula of several in a text that does not say which is the answer.
  bool picked = false;
  // The words around the answer leave it uncertain.
  bool unsure = false;
  bool denied = false;  // no mathematics, but words that deny some
  // The word that leaves the answer unclaimed (outright.h); empty if claimed.
  std::string doubt;
  // The number that a sentence states, as written.
  std::string number;
  std::vector<Answer> answers;
  std::vector<Answer> doubtful;
  // Alternative reading if the other side has the same form: the letters behind
  // a number as a unit ("4 m"), an ordinal ("3rd"). None, or one.
  std::vector<Answer> beside;
};

class Reader {
 public:
  Reader(const GradePolicy& policy, ValueComparer& comparer)
      : policy_(policy), comparer_(comparer) {}

  Readings Read(std::string_view raw);

 private:
  // With signs normalized by WithPlainSigns.
  Readings ReadBest(const std::string& plain);
  Readings ReadPlain(std::string_view raw);
  Readings ReadWhole(std::string_view raw);
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
  // In the current text, what surrounds its last formula, and the part that
  // states its answer.
  std::string_view around_, place_;
  // What its last sentence says in words; one reading each.
  std::vector<std::string> said_;
  // The number of items in its list, as its words state it.
  std::string count_;
};

// Whether natural-language words are part of the answer.
bool HasWords(const Answer& answer);

// Without blanks, except those that separate two numbers: "1 2", "3, 500".
std::string Squeeze(std::string_view text);

// Without blanks, upright fonts and needless braces: \text{Al}_{2} as Al_2.
std::string WithoutUpright(std::string_view text);

// Without \left, \right and thin spaces.
std::string WithoutSpacing(std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_FIND_READINGS_H_
