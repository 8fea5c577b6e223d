// Resident memory of this process, for tests that measure memory growth.
#ifndef ESPALIER_TESTS_BASE_RESIDENT_MEMORY_H_
#define ESPALIER_TESTS_BASE_RESIDENT_MEMORY_H_

#include <cstdint>
#include <fstream>

namespace espalier {

// Sanitizers distort the figure: they use memory themselves and keep freed
// blocks for a while.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kResidentMemoryTells = false;
#else
inline constexpr bool kResidentMemoryTells = true;
#endif

inline int64_t ResidentBytes() {
  int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> pages;
  return pages * 4096;
}

}  // namespace espalier

#endif  // ESPALIER_TESTS_BASE_RESIDENT_MEMORY_H_
