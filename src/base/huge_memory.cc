#include "src/base/huge_memory.h"

#include <sys/mman.h>

#include <new>

namespace espalier {

HugeMemory::HugeMemory(size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  // A wish: where it is not granted all is as it would be without.
  madvise(memory, bytes, MADV_HUGEPAGE);
  data_ = static_cast<std::byte*>(memory);
}

HugeMemory::~HugeMemory() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

}  // namespace espalier
