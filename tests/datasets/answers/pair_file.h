// Files of {gold, answer, equal} lines for tests of graders.
#ifndef ESPALIER_TESTS_DATASETS_ANSWERS_PAIR_FILE_H_
#define ESPALIER_TESTS_DATASETS_ANSWERS_PAIR_FILE_H_

#include <string>
#include <vector>

#include "datasets/answers/value/policy.h"

namespace espalier {

struct Pair {
  int line = 0;
  std::string gold, answer;
  bool equal = false;
  bool disputed = false;
  GradePolicy policy;  // what the source of the pair requires
};

// Fails the test if the file cannot be read.
std::vector<Pair> ReadPairs(const std::string& path);
// The hand-judged pairs of this repository.
std::vector<Pair> OwnPairs();
// Seed texts for fuzzing.
std::vector<std::string> Corpus();

}  // namespace espalier

#endif  // ESPALIER_TESTS_DATASETS_ANSWERS_PAIR_FILE_H_
