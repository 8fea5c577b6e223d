// Lists of records in a JSON file that is one object. A file with one is read
// as that list; with several, such as {"train": [{...}], "test": [{...}]},
// nothing says which is the set.
//
//   ESP_RETURN_IF_ERROR(CheckOneList(path));   // before its records are read
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_DATASETS_SETS_JSON_LISTS_H_
#define ESPALIER_DATASETS_SETS_JSON_LISTS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace espalier {

// Reads the regular file at `path` up to the end of its first object; the error
// if this holds several lists of objects and is not a line of JSON lines. OK
// also for files that are not JSON or damaged, and for pipes.
absl::Status CheckOneList(const std::string& path);

// The error for an object with these lists of objects; OK for at most one.
absl::Status OneListOf(const std::string& place,
                       const std::vector<std::string>& names);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_SETS_JSON_LISTS_H_
