// What ThreadSanitizer is told of a kernel's memory: the kernels below are not
// instrumented, because a check of every load is 15 times the work of the
// product itself; their callers name the ranges that are read and written
// instead, once a call. In any other build these do nothing.
#ifndef ESPALIER_MODELS_KERNELS_THREAD_CHECKS_H_
#define ESPALIER_MODELS_KERNELS_THREAD_CHECKS_H_

#include <cstddef>

#if defined(__SANITIZE_THREAD__)
#define ESP_RANGES_TOLD __attribute__((no_sanitize_thread))
extern "C" void __tsan_read_range(void* from, size_t bytes);
extern "C" void __tsan_write_range(void* from, size_t bytes);
#else
#define ESP_RANGES_TOLD
#endif

namespace espalier {

inline void TellReads([[maybe_unused]] const float* from,
                      [[maybe_unused]] size_t count) {
#if defined(__SANITIZE_THREAD__)
  __tsan_read_range(const_cast<float*>(from), count * sizeof(float));
#endif
}

inline void TellWrites([[maybe_unused]] float* to,
                       [[maybe_unused]] size_t count) {
#if defined(__SANITIZE_THREAD__)
  __tsan_write_range(to, count * sizeof(float));
#endif
}

inline void TellBytesRead([[maybe_unused]] const std::byte* from,
                          [[maybe_unused]] const std::byte* to) {
#if defined(__SANITIZE_THREAD__)
  __tsan_read_range(const_cast<std::byte*>(from),
                    static_cast<size_t>(to - from));
#endif
}

}  // namespace espalier

#endif  // ESPALIER_MODELS_KERNELS_THREAD_CHECKS_H_
