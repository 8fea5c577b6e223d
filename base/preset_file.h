// A text file of the source tree that is compiled into the program
// (espalier_presets in cmake/EspalierBuild.cmake).
#ifndef ESPALIER_BASE_PRESET_FILE_H_
#define ESPALIER_BASE_PRESET_FILE_H_

#include <string_view>

namespace espalier {

struct PresetFile {
  std::string_view name;  // without folder and ending
  std::string_view text;
};

}  // namespace espalier

#endif  // ESPALIER_BASE_PRESET_FILE_H_
