// Where the keys and values of a trunk's pages stand. The trunk alone knows
// their layout and reads and writes them; the pool knows which pages are used.
//
// A page holds, for every layer and KV head, the keys and values of positions
// 64*i .. 64*i+63 of some path.
//
// Externally synchronised, except that different pages may be written by
// different threads.
#ifndef ESPALIER_MODELS_PAGES_PAGE_MEMORY_H_
#define ESPALIER_MODELS_PAGES_PAGE_MEMORY_H_

#include <cstdint>

namespace espalier {

using PageId = int32_t;
// Slots a page. Also the block in which attention sums keys, so that the sum
// has one order however pages are shared.
inline constexpr int kPageSlots = 64;

class PageMemory {
 public:
  virtual ~PageMemory() = default;
  virtual int64_t page_bytes() const = 0;
  // Pages 0 .. pages-1 exist from now on; content of new ones is undefined.
  virtual void Grow(int pages) = 0;
  // Copies slots [0, filled) of all layers and heads from `from` to `to`.
  virtual void CopyPrefix(PageId from, PageId to, int filled) = 0;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_PAGES_PAGE_MEMORY_H_
