// The problems of a set that a verifier cannot judge because their records give
// no gold answer, counted for a note to the user.
//
//   Unjudged unjudged;
//   for (...) if (!verifier.CanCheck(graded.reference)) unjudged.Add(graded);
//   ESP_ASSIGN_OR_RETURN(note, unjudged.Note(set.name, set.gold, all));
//
// Thread-compatible.
#ifndef ESPALIER_DATASETS_SETS_UNJUDGED_H_
#define ESPALIER_DATASETS_SETS_UNJUDGED_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "espalier/problem.h"

namespace espalier {

class Unjudged {
 public:
  void Add(const GradedProblem& graded);

  // What is left out of the `all` problems of `set`, "" if nothing is. `gold`
  // is where golds were looked for. InvalidArgument if nothing is left.
  //
  //   s.jsonl: 3 of 5 records have no gold answer under "answer" ("N/A" in 2,
  //   nothing in 1) and are left out; the first is s.jsonl:2
  absl::StatusOr<std::string> Note(const std::string& set,
                                   const std::string& gold, int64_t all) const;

 private:
  // "", or the texts that stand for no gold, most frequent first.
  std::string Found() const;

  int64_t count_ = 0;
  std::string first_;                     // id
  std::map<std::string, int64_t> texts_;  // what the records say; "" for none
};

}  // namespace espalier

#endif  // ESPALIER_DATASETS_SETS_UNJUDGED_H_
