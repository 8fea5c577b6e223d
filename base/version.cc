#include "base/version.h"

#include "absl/strings/str_cat.h"

namespace espalier {

const char* Version() { return ESPALIER_VERSION; }

std::string VersionText() {
  return absl::StrCat("espalier ", Version(),
                      " (" ESPALIER_BUILD_TYPE ", compiler " __VERSION__ ")");
}

}  // namespace espalier
