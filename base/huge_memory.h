// Memory that is read from end to end, again and again: weights, pages of keys
// and values. Asks the system for huge pages, which spare the translation of
// an address every 4 KB (reads of 176 MB on a virtual machine: 15 instead of
// 10.6 GB/s).
//
//   HugeMemory memory(bytes);
//   std::byte* p = memory.data();  // zeros, aligned to 64 bytes
//
// Pieces are cut one after the other from large mappings, so that small ones
// lie in huge pages, too; what is never touched takes no memory. A mapping is
// given back when all of its pieces are.
//
// Movable, not copyable. Making and dropping pieces is thread-safe.
#ifndef ESPALIER_BASE_HUGE_MEMORY_H_
#define ESPALIER_BASE_HUGE_MEMORY_H_

#include <cstddef>
#include <memory>

namespace espalier {

class HugeMemory {
 public:
  HugeMemory() = default;
  // Throws std::bad_alloc where the system has no such memory.
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
