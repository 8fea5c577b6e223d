// Leaves lists out of JSON text before it is parsed: of a reply with log-probs
// most bytes are lists that a request has no use for, and parsing them takes
// most of the time.
//
//   WithoutLists(R"({"a": [1, {"b": 2}], "c": [3]})", {"a"});
//   // {"a": [], "c": [3]}
//
// Stateless: thread-safe.
#ifndef ESPALIER_MODELS_REMOTE_WITHOUT_LISTS_H_
#define ESPALIER_MODELS_REMOTE_WITHOUT_LISTS_H_

#include <string>
#include <string_view>
#include <vector>

namespace espalier {

// `json` with an empty list as the value of each key of these names that has a
// list, in any object. What is not JSON is not JSON afterwards either, unless
// the fault is within such a list, which ends where its brackets do.
std::string WithoutLists(std::string_view json,
                         const std::vector<std::string_view>& names);

}  // namespace espalier

#endif  // ESPALIER_MODELS_REMOTE_WITHOUT_LISTS_H_
