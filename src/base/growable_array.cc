#include "src/base/growable_array.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <utility>

#include "src/base/mutex.h"

namespace espalier::growable_internal {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kSmall = 1 << 16;  // below: from the heap
constexpr size_t kHuge = size_t{1} << 21;
constexpr size_t kManyPages = 4 * kHuge;  // above: in huge pages

// Maps that were given back and wait for the next array: a search that
// follows another finds its pages already there. Only as much as two or three
// searches of some ten thousand nodes need.
class SpareMaps {
 public:
  // The smallest of at least *bytes, whose size *bytes becomes, or null. Of
  // those that held elements of the same size: what an array needs is best
  // foretold by the last of its kind.
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
  // False: no room, the caller unmaps it.
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

void* Map(size_t element, size_t* bytes) {
  if (void* spare = Spare().Take(element, bytes)) return spare;
  void* made = mmap(nullptr, *bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) throw std::bad_alloc();
  return made;
}

}  // namespace

void* Grow(void* old, size_t old_bytes, size_t used, size_t element,
           size_t* bytes) {
  *bytes = (std::max<size_t>(*bytes, 1024) + 63) / 64 * 64;
  void* made = nullptr;
  if (*bytes < kSmall) {
    made = std::aligned_alloc(64, *bytes);
    if (made == nullptr) throw std::bad_alloc();
  } else {
    *bytes = (*bytes + kPage - 1) / kPage * kPage;
    if (old_bytes >= kSmall) {
      made = mremap(old, old_bytes, *bytes, MREMAP_MAYMOVE);
      if (made == MAP_FAILED) throw std::bad_alloc();
    } else {
      made = Map(element, bytes);
    }
    // Wishes: nothing is lost where they are not granted. A page that is given
    // now costs a fraction of one that is missed later.
    if (*bytes >= kManyPages) madvise(made, *bytes, MADV_HUGEPAGE);
    const size_t given = old_bytes >= kSmall ? old_bytes : 0;
    madvise(static_cast<char*>(made) + given, *bytes - given,
            MADV_POPULATE_WRITE);
    if (old_bytes >= kSmall) return made;
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
