// Presets: published systems as settings of a method.
//
//   search/presets/rest_mcts_star.textproto     a ConfigFile (config.proto)
//     # What the system is, its paper, what differs from it here.
//     name: "mcts_star"
//     option { key: "c" value: "0.4" }
//     summary: "..."   source: "..."
//
// The files are compiled into the program, so that it needs none of them. A
// preset is written "preset=NAME" wherever a method is named, and means the
// method with those options and no more: the rest of a system, its models and
// its budget, is the caller's.
//
// Constant after the first call; thread-safe.
#ifndef ESPALIER_SEARCH_PRESETS_H_
#define ESPALIER_SEARCH_PRESETS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "espalier/method_options.h"

namespace espalier {

struct Preset {
  std::string name;  // of its file
  std::string method;
  OptionMap options;  // those that the file sets
  std::string summary;
  std::string source;
  std::string text;  // the whole file

  // "mcts_star:branch=3:c=0.4"
  std::string Spec() const;
};

// In alphabetical order.
const std::vector<Preset>& ListPresets();

// NotFound names the nearest.
absl::StatusOr<const Preset*> FindPreset(std::string_view name);

// A method as MakeAlgorithm reads it, where `spec` may name a file of the same
// form: "my_search.textproto:c=0.5" is the file's method with its options, and
// those behind the file's name in place of its own. The file's name: may be
// "preset=NAME". What names no file comes back as it is.
absl::StatusOr<std::string> ReadMethodFile(const std::string& spec);

// What the build writes from the files of search/presets/.
struct PresetFile {
  std::string_view name;
  std::string_view text;
};
absl::Span<const PresetFile> PresetFiles();

}  // namespace espalier

#endif  // ESPALIER_SEARCH_PRESETS_H_
