// A problem, which a search sees, and its reference, which it must not see.
//
// `Problem` holds what the model is asked. `Reference` holds what a grader
// needs afterwards. They are separate types so that a search, which gets only
// the former, cannot reach the gold answer at test time.
#ifndef ESPALIER_API_PROBLEM_H_
#define ESPALIER_API_PROBLEM_H_

#include <map>
#include <string>
#include <vector>

namespace espalier {

struct Problem {
  std::string id;        // unique in its set, e.g. "stories:hard/1007/12"
  std::string set;       // set name or file, e.g. "countdown:4"
  std::string question;  // UTF-8 text as a user would ask it
};

// The gold answer and steps. Read only by graders, label makers and `--oracle`
// rows.
struct Reference {
  std::string answer;              // canonical gold answer, "" if unknown
  std::vector<std::string> steps;  // expected lines, where the task has them
  // Further columns of a published record by name ("test", "entry_point",
  // "test_list", "level"): text unchanged, other values as JSON.
  std::map<std::string, std::string> fields;
};

struct GradedProblem {
  Problem problem;
  Reference reference;
};

}  // namespace espalier

#endif  // ESPALIER_API_PROBLEM_H_
