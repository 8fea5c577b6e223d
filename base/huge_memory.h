// Memory that is read end to end repeatedly: weights, KV cache pages. Requests
// huge pages from the system, which save an address translation per 4 KB (reads
// of 176 MB on a virtual machine: 15 instead of 10.6 GB/s).
//
//   HugeMemory memory(bytes);
//   std::byte* p = memory.data();  // zeros, aligned to 64 bytes
//
// Pieces are cut sequentially from large mappings, so that small ones lie in
// huge pages, too; untouched memory is not allocated. A mapping is unmapped
// when its last piece is destroyed.
//
// Movable, not copyable. Creating and destroying pieces is thread-safe.
#ifndef ESPALIER_BASE_HUGE_MEMORY_H_
#define ESPALIER_BASE_HUGE_MEMORY_H_

#include <cstddef>
#include <memory>

namespace espalier {

class HugeMemory {
 public:
  HugeMemory() = default;
  // Throws std::bad_alloc if the mapping fails.
  explicit HugeMemory(size_t bytes);
  HugeMemory(HugeMemory&&) = default;
  HugeMemory& operator=(HugeMemory&&) = default;

  std::byte* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  class Mapping;
  std::shared_ptr<Mapping> mapping_;
  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace espalier

#endif  // ESPALIER_BASE_HUGE_MEMORY_H_
