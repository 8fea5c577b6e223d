// Calcium's headers for C++. They are C: their inline functions assign the
// void* of flint's allocators to pointers of other types, which C++ forbids.
#ifndef ESPALIER_DATASETS_ANSWERS_VALUE_CALCIUM_H_
#define ESPALIER_DATASETS_ANSWERS_VALUE_CALCIUM_H_

#include <flint/flint.h>

namespace espalier {

// A pointer that converts to any other, as void* does in C.
struct PointerOfC {
  void* pointer;
  template <class T>
  operator T*() const {  // NOLINT: implicit as in C
    return static_cast<T*>(pointer);
  }
};

}  // namespace espalier

#define flint_malloc(bytes) \
  ::espalier::PointerOfC { flint_malloc(bytes) }
#define flint_realloc(pointer, bytes) \
  ::espalier::PointerOfC { flint_realloc(pointer, bytes) }

#include <calcium/ca.h>
#include <calcium/fmpz_mpoly_q.h>

#undef flint_malloc
#undef flint_realloc

#endif  // ESPALIER_DATASETS_ANSWERS_VALUE_CALCIUM_H_
