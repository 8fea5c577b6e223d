// A bump allocator for activations: memory is mapped once and reused for every
// micro-batch, so training never waits for the kernel to map and clear pages.
//
//   Arena arena;
//   float* x = arena.Get<float>(rows * hidden);  // 64-byte aligned
//   arena.Reset();                               // x is gone
//
// Contents are not initialised. Externally synchronised.
#ifndef ESPALIER_MODELS_DIFFERENTIABLE_ARENA_H_
#define ESPALIER_MODELS_DIFFERENTIABLE_ARENA_H_

#include <cstddef>
#include <vector>

namespace espalier::net {

class Arena {
 public:
  Arena() = default;
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  template <class T>
  T* Get(size_t count) {
    return static_cast<T*>(Allocate(count * sizeof(T)));
  }
  void* Allocate(size_t bytes);
  // Forgets all allocations. If several blocks were needed, they become one
  // larger block.
  void Reset();

 private:
  struct Block {
    char* data;
    size_t size;
  };
  std::vector<Block> blocks_;
  size_t used_ = 0;  // in the last block
};

}  // namespace espalier::net

#endif  // ESPALIER_MODELS_DIFFERENTIABLE_ARENA_H_
