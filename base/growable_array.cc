#include "base/growable_array.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <utility>

#include "base/mutex.h"

namespace espalier::growable_internal {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kSmall = 1 << 16;  // below: from the heap
constexpr size_t kHuge = size_t{1} << 21;

// Freed maps, kept for the next array, so that the next search finds its pages
// already mapped. Bounded to what two or three searches of some ten thousand
// nodes need.
class SpareMaps {
 public:
  // The smallest map of at least *bytes, or null; sets *bytes to its size. Only
  // maps that held elements of the same size: they best predict the size that
  // the array will need.
  void* Take(size_t element, size_t* bytes) {
    MutexLock lock(mutex_);
    const auto found = maps_.lower_bound({element, *bytes});
    if (found == maps_.end() || found->first.first != element) return nullptr;
    void* map = found->second;
    *bytes = found->first.second;
    held_ -= *bytes;
    maps_.erase(found);
    return map;
  }
  // False if there is no room: the caller unmaps it.
  bool Keep(void* map, size_t element, size_t bytes) {
    MutexLock lock(mutex_);
    if (held_ + bytes > kMost) return false;
    held_ += bytes;
    maps_.emplace(std::pair(element, bytes), map);
    return true;
  }

 private:
  static constexpr size_t kMost = size_t{64} << 20;
  Mutex mutex_;
  std::multimap<std::pair<size_t, size_t>, void*> maps_ ABSL_GUARDED_BY(mutex_);
  size_t held_ ABSL_GUARDED_BY(mutex_) = 0;
};

SpareMaps& Spare() {
  static auto* spare = new SpareMaps();
  return *spare;
}

// New memory. If at least kHuge it is aligned to kHuge, so that huge pages stay
// whole when the kernel moves it.
void* Map(size_t bytes) {
  const size_t more = bytes >= kHuge ? kHuge : 0;
  void* made = mmap(nullptr, bytes + more, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) throw std::bad_alloc();
  if (more == 0) return made;
  char* const begin = static_cast<char*>(made);
  const size_t off = reinterpret_cast<uintptr_t>(begin) % kHuge;
  const size_t before = off == 0 ? 0 : kHuge - off;
  if (before > 0) munmap(begin, before);
  if (more > before) munmap(begin + before + bytes, more - before);
  return begin + before;
}

// Moves pages, not bytes.
void* Remap(void* old, size_t old_bytes, size_t bytes) {
  if (bytes < kHuge) {
    void* made = mremap(old, old_bytes, bytes, MREMAP_MAYMOVE);
    if (made == MAP_FAILED) throw std::bad_alloc();
    return made;
  }
  void* const place = Map(bytes);
  void* made =
      mremap(old, old_bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, place);
  if (made == MAP_FAILED) {
    munmap(place, bytes);
    throw std::bad_alloc();
  }
  return made;
}

// Advice for a map whose first `given` bytes are populated; harmless if not
// granted. Populating a page now costs a fraction of a page fault later. The
// whole map gets the same advice, or the kernel would split it into two
// mappings, neither of which it could move.
void Populate(void* map, size_t given, size_t bytes) {
  if (bytes >= kHuge) madvise(map, bytes, MADV_HUGEPAGE);
  madvise(static_cast<char*>(map) + given, bytes - given, MADV_POPULATE_WRITE);
}

}  // namespace

void* Grow(void* old, size_t old_bytes, size_t used, size_t element,
           size_t* bytes) {
  *bytes = (std::max<size_t>(*bytes, 1024) + 63) / 64 * 64;
  if (*bytes < kSmall) {
    void* made = std::aligned_alloc(64, *bytes);
    if (made == nullptr) throw std::bad_alloc();
    if (used > 0) std::memcpy(made, old, used);
    if (old != nullptr) Free(old, element, old_bytes);
    return made;
  }
  const size_t page = *bytes >= kHuge ? kHuge : kPage;
  *bytes = (*bytes + page - 1) / page * page;
  if (old_bytes >= kSmall) {
    void* made = Remap(old, old_bytes, *bytes);
    Populate(made, old_bytes, *bytes);
    return made;
  }
  void* made = Spare().Take(element, bytes);
  if (made == nullptr) {
    made = Map(*bytes);
    Populate(made, 0, *bytes);
  }
  if (used > 0) std::memcpy(made, old, used);
  if (old != nullptr) Free(old, element, old_bytes);
  return made;
}

void Free(void* memory, size_t element, size_t bytes) {
  if (bytes < kSmall) {
    std::free(memory);
  } else if (!Spare().Keep(memory, element, bytes)) {
    munmap(memory, bytes);
  }
}

}  // namespace espalier::growable_internal
