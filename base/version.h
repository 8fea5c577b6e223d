// The program's version.
#ifndef ESPALIER_BASE_VERSION_H_
#define ESPALIER_BASE_VERSION_H_

#include <string>

namespace espalier {

// "0.1.0", set by CMake.
const char* Version();
// Version, build type and compiler in one line.
std::string VersionText();

}  // namespace espalier

#endif  // ESPALIER_BASE_VERSION_H_
