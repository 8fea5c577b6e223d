// What stands where a file or a folder of another kind was expected, and what
// to do: notes that end an error message.
//
//   if (const std::string note = ForeignBytes(head, Wanted::kModel);
//       !note.empty()) return InvalidArgument(path + ": " + note);
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_BASE_FOREIGN_H_
#define ESPALIER_BASE_FOREIGN_H_

#include <string>
#include <string_view>

namespace espalier {

enum class Wanted { kData, kModel };

// By a file's first bytes: the pointer that Git LFS leaves in place of a file,
// a Parquet file. "" for any other.
std::string ForeignBytes(std::string_view head, Wanted wanted);

// Where `name`, of nothing that is here, is an address or may be a repository
// of a hub: how to get the files. "" for any other, else it begins with "; ".
std::string ForeignName(std::string_view name, Wanted wanted);

}  // namespace espalier

#endif  // ESPALIER_BASE_FOREIGN_H_
