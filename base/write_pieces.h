// Writes a file too long to be kept in memory.
//
//   ESP_RETURN_IF_ERROR(WriteFileInPieces(
//       "results.json", [&](const PieceSink& put) -> absl::Status {
//         ESP_RETURN_IF_ERROR(put("[1"));
//         return put("]\n");
//       }));
//
// Stateless: thread-safe.
#ifndef ESPALIER_BASE_WRITE_PIECES_H_
#define ESPALIER_BASE_WRITE_PIECES_H_

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace espalier {

using PieceSink = std::function<absl::Status(std::string_view piece)>;
using WritePieces = std::function<absl::Status(const PieceSink& put)>;

// WriteFileAtomic (base/files.h) of the pieces that `write` puts. A regular
// file stays as it was if `write` fails.
absl::Status WriteFileInPieces(const std::string& path,
                               const WritePieces& write);

}  // namespace espalier

#endif  // ESPALIER_BASE_WRITE_PIECES_H_
