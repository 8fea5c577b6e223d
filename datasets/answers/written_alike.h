// Gold and an answer with what they say in other ways written alike: dates,
// names, formulas of chemistry, residue classes, numbers in words. Where the
// texts as they are do not agree, these are compared instead.
//
//   WrittenAlike("05/14/1987", "It was on 14 May 1987.")
//       // {{"May 14, 1987", "It was on May 14, 1987."}}
//
// Only what gold as a whole is is rewritten, so that all else that an answer
// says still counts. Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_WRITTEN_ALIKE_H_
#define ESPALIER_DATASETS_ANSWERS_WRITTEN_ALIKE_H_

#include <string>
#include <string_view>
#include <vector>

namespace espalier {

struct AlikePair {
  std::string gold, answer;
  bool open = false;  // read in one of several ways
};

// None if nothing is written in another way.
std::vector<AlikePair> WrittenAlike(std::string_view gold,
                                    std::string_view answer);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_WRITTEN_ALIKE_H_
