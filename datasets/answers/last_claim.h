// The parts of a last statement that say its result: behind a label or a verb,
// as the last side of an equation, as a line, a list or a matrix of their own.
//
//   LastClaims("... so x lies in [-2, 8].")                  // "[-2, 8]"
//   LastClaims("Height 5:\nh = 5/\\sqrt{3} = 5\\sqrt{3}/3")  // the last side
//   LastClaims("Sorted:\n1st: Mel\n2nd: Eve")                // "Mel, Eve"
//
// Nothing if the statement asks, supposes, checks, denies or attributes
// something, or if the response calls another part its answer.
//
// Stateless; looks at a bounded part of the text: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_LAST_CLAIM_H_
#define ESPALIER_DATASETS_ANSWERS_LAST_CLAIM_H_

#include <string>
#include <string_view>
#include <vector>

namespace espalier {

std::vector<std::string> LastClaims(std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_LAST_CLAIM_H_
