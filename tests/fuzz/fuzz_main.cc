// espalier_fuzz: libFuzzer on the target that ESPALIER_FUZZ_TARGET names.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/fuzz_target.h"

namespace espalier {
namespace {

FuzzTarget ChosenTarget() {
  const char* name = std::getenv("ESPALIER_FUZZ_TARGET");
  const auto& targets = FuzzTargets();
  const auto found = targets.find(name == nullptr ? "" : name);
  if (found != targets.end()) return found->second;
  std::fprintf(stderr,
               "ESPALIER_FUZZ_TARGET=%s: expected the name of a target, one "
               "of:\n",
               name == nullptr ? "" : name);
  for (const auto& [known, unused] : targets) {
    std::fprintf(stderr, "  %s\n", known.c_str());
  }
  std::exit(2);
}

}  // namespace
}  // namespace espalier

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const espalier::FuzzTarget target = espalier::ChosenTarget();
  target({reinterpret_cast<const char*>(data), size});
  return 0;
}
