// Checks of invariants. A failed check is a bug in this program: it prints
// file, line and condition and aborts. Bad input gets an absl::Status instead.
//
// Names have a prefix because LibTorch's headers leak glog's CHECK.
#ifndef ESPALIER_BASE_CHECK_H_
#define ESPALIER_BASE_CHECK_H_

#include <string_view>

namespace espalier {

[[noreturn]] void CheckFailed(const char* file, int line, const char* what,
                              std::string_view detail = {});

}  // namespace espalier

#define ESP_CHECK(cond)       \
  (static_cast<bool>(cond)    \
       ? static_cast<void>(0) \
       : ::espalier::CheckFailed(__FILE__, __LINE__, #cond))

// `status` is an absl::Status expression.
#define ESP_CHECK_OK(status)                                \
  do {                                                      \
    const auto esp_check_status = (status);                 \
    if (!esp_check_status.ok()) {                           \
      ::espalier::CheckFailed(__FILE__, __LINE__, #status,  \
                              esp_check_status.ToString()); \
    }                                                       \
  } while (false)

#ifdef NDEBUG
#define ESP_DCHECK(cond) static_cast<void>(sizeof(!(cond)))
#else
#define ESP_DCHECK(cond) ESP_CHECK(cond)
#endif

#endif  // ESPALIER_BASE_CHECK_H_
