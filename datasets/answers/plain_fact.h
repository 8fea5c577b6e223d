// Whether one plain sentence states a short fact: as its complement, as its
// subject, as the one by whom something was done, or as what "it was ... that"
// singles out. A name in any other place of it is only mentioned.
//
//   StatesFact("helium", "The second lightest gas is helium, after hydrogen.")
//       // true; false for "hydrogen"
//   StatesFact("Nitrogen", "Nitrogen is the most abundant gas in the air.")
//       // true
//
// Stateless; looks at short texts only: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_PLAIN_FACT_H_
#define ESPALIER_DATASETS_ANSWERS_PLAIN_FACT_H_

#include <string_view>

namespace espalier {

// `gold` is a name, a few words or a date.
bool StatesFact(std::string_view gold, std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_PLAIN_FACT_H_
