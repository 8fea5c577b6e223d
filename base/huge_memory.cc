#include "base/huge_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <new>

#include "base/mutex.h"

namespace espalier {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kMapping = size_t{64} << 20;  // or more, for a large piece
constexpr size_t kAlignment = 64;

size_t RoundUp(size_t n, size_t unit) { return (n + unit - 1) / unit * unit; }

}  // namespace

// An address range from which pieces are cut. Cut is called under a lock.
class HugeMemory::Mapping {
 public:
  explicit Mapping(size_t bytes) : bytes_(RoundUp(bytes, kHugePage)) {
    mapped_ = bytes_ + kHugePage;
    base_ = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base_ == MAP_FAILED) throw std::bad_alloc();
    const auto address = reinterpret_cast<uintptr_t>(base_);
    first_ = static_cast<std::byte*>(base_) +
             (RoundUp(address, kHugePage) - address);
    // Advice only: failure is harmless.
    madvise(first_, bytes_, MADV_HUGEPAGE);
  }
  ~Mapping() { munmap(base_, mapped_); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  bool Fits(size_t bytes) const { return bytes_ - used_ >= bytes; }
  std::byte* Cut(size_t bytes) {
    std::byte* const piece = first_ + used_;
    used_ += RoundUp(bytes, kAlignment);
    return piece;
  }

 private:
  void* base_;
  size_t mapped_;
  std::byte* first_;  // aligned to huge pages
  size_t bytes_;
  size_t used_ = 0;
};

HugeMemory::HugeMemory(size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  static Mutex mutex;
  // The mapping that pieces are currently cut from, while any of them lives.
  static std::weak_ptr<Mapping> current;
  const MutexLock lock(mutex);
  mapping_ = current.lock();
  const size_t rounded = RoundUp(bytes, kAlignment);
  if (mapping_ == nullptr || !mapping_->Fits(rounded)) {
    mapping_ = std::make_shared<Mapping>(std::max(rounded, kMapping));
    current = mapping_;
  }
  data_ = mapping_->Cut(rounded);
}

}  // namespace espalier
