#include "src/base/version.h"

namespace espalier {

const char* Version() { return ESPALIER_VERSION; }

std::string VersionText() {
  return std::string("espalier ") + Version() +
         " (" ESPALIER_BUILD_TYPE ", compiler " __VERSION__ ")";
}

}  // namespace espalier
