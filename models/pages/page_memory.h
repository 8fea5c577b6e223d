// Storage of a trunk's keys and values. Only the trunk knows the layout of a
// page and reads and writes it; the pool tracks which pages are in use.
//
// A page holds, for every layer and KV head, the keys and values of positions
// 64*i .. 64*i+63 of some path.
//
// Externally synchronised, except that different threads may write different
// pages.
#ifndef ESPALIER_MODELS_PAGES_PAGE_MEMORY_H_
#define ESPALIER_MODELS_PAGES_PAGE_MEMORY_H_

#include <cstdint>

namespace espalier {

using PageId = int32_t;
// Slots per page. Also the block size in which attention sums keys, so that the
// order of the sum does not depend on how pages are shared.
inline constexpr int kPageSlots = 64;

class PageMemory {
 public:
  virtual ~PageMemory() = default;
  virtual int64_t page_bytes() const = 0;
  // Makes pages 0 .. pages-1 exist; new ones have undefined content.
  virtual void Grow(int pages) = 0;
  // Copies slots [0, filled) of all layers and heads from `from` to `to`.
  virtual void CopyPrefix(PageId from, PageId to, int filled) = 0;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_PAGES_PAGE_MEMORY_H_
