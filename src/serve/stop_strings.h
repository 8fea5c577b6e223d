// A request's stop strings in a response of several steps.
//
// The engine ends a step at a stop string. One that begins in a step and ends
// in a later one is found here, in the text of all steps.
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_SRC_SERVE_STOP_STRINGS_H_
#define ESPALIER_SRC_SERVE_STOP_STRINGS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

// `text` up to the stop string that ends first; all of it if there is none.
std::string_view BeforeStop(std::string_view text,
                            const std::vector<std::string>& stops);

// The bytes at the end of `text` that may turn out to belong to a stop string:
// the longest proper prefix of one that `text` ends with.
size_t MayBecomeStop(std::string_view text,
                     const std::vector<std::string>& stops);

}  // namespace espalier

#endif  // ESPALIER_SRC_SERVE_STOP_STRINGS_H_
