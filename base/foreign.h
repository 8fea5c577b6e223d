// Recognises files of a kind other than expected, and says what to do: notes to
// append to an error message.
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

// For the first bytes of a Git LFS pointer, a Parquet file or, where data is
// wanted, a packed file or an Arrow file: what it is and what to do. "" for any
// other file.
std::string ForeignBytes(std::string_view head, Wanted wanted);

// For a `name` that does not exist here but is a URL or may be a Hugging Face
// repository: how to get the files, beginning with "; ". "" for any other name.
std::string ForeignName(std::string_view name, Wanted wanted);

}  // namespace espalier

#endif  // ESPALIER_BASE_FOREIGN_H_
