// A gold answer in the first line and an answer in the rest.
#include "absl/strings/ascii.h"
#include "base/check.h"
#include "datasets/answers/grade.h"
#include "datasets/answers/grade_answer.h"
#include "datasets/answers/notation/parser.h"
#include "tests/fuzz/fuzz_target.h"

namespace espalier {
namespace {

bool Blank(std::string_view text) {
  for (const char c : text) {
    if (!absl::ascii_isspace(static_cast<unsigned char>(c))) return false;
  }
  return true;
}

}  // namespace

ESPALIER_FUZZ(answers) {
  const auto [gold, answer] = CutAt(bytes, '\n');
  ParseMath(gold).status().IgnoreError();
  const GradeVerdict forth = GradeAnswer(gold, answer);
  const GradeVerdict back = GradeAnswer(answer, gold);
  ESP_CHECK(!(forth.equal && forth.undecided));
  ESP_CHECK(!forth.equal || back.equal || back.undecided);
  ESP_CHECK(!back.equal || forth.equal || forth.undecided);
  if (!Blank(gold)) ESP_CHECK(GradeAnswer(gold, gold).equal);
  SameAnswerText(gold, answer);
}

}  // namespace espalier
