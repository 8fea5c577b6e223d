// A model's response: its answer, its program.
#include "base/check.h"
#include "datasets/answers/find/extract_answer.h"
#include "datasets/answers/grade.h"
#include "datasets/answers/grade_answer.h"
#include "datasets/programs/find_code.h"
#include "datasets/programs/public_tests.h"
#include "tests/fuzz/fuzz_target.h"

namespace espalier {

ESPALIER_FUZZ(response) {
  const Extracted extracted = ExtractAnswer(bytes);
  Touch(extracted.text);
  Touch(extracted.around);
  if (const auto found = FindFinalAnswer(bytes)) Touch(*found);
  if (const auto marked = MarkedAnswer(bytes)) Touch(*marked);
  GradeAnswer("\\frac{3}{4}", bytes);
  const std::string canonical = CanonicalAnswer(bytes);
  ESP_CHECK(CanonicalAnswer(canonical) == canonical);
  ParseNumber(bytes);
  if (const auto code = FindCode(bytes, "f")) Touch(*code);
  Touch(CutContinuation(bytes));
  Touch(ProgramOf(PublicTests(bytes), bytes));
}

}  // namespace espalier
