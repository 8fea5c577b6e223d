#include "espalier/coroutine.h"

#include <exception>
#include <new>

#include "absl/strings/str_cat.h"
#include "search/search_context.h"

namespace espalier {

void* FrameArena::Allocate(size_t size) {
  const size_t size_class = (size + sizeof(Header) + kAlign - 1) / kAlign;
  std::byte* block = nullptr;
  FrameArena* owner = this;
  if (size_class > kClasses) {
    block = static_cast<std::byte*>(::operator new(size_class* kAlign));
    owner = nullptr;
  } else if (free_[size_class] != nullptr) {
    block = reinterpret_cast<std::byte*>(free_[size_class]);
    free_[size_class] = free_[size_class]->next;
  } else {
    if (used_ + size_class * kAlign > kChunk) {
      chunks_.push_back(std::make_unique<std::byte[]>(kChunk));
      used_ = 0;
    }
    block = chunks_.back().get() + used_;
    used_ += size_class * kAlign;
  }
  auto* header = new (block) Header{owner, size_class};
  return header + 1;
}

void FrameArena::Free(void* frame) {
  Header* header = static_cast<Header*>(frame) - 1;
  const Header copy = *header;
  if (copy.arena == nullptr) {
    ::operator delete(header);
    return;
  }
  copy.arena->free_[copy.size_class] =
      new (header) FreeFrame{copy.arena->free_[copy.size_class]};
}

namespace co_internal {

void* PromiseBase::Allocate(size_t size, SearchContext& ctx) {
  return ctx.frames().Allocate(size);
}

void PromiseBase::unhandled_exception() noexcept {
  failed = true;
  std::string what = "unknown exception";
  try {
    throw;
  } catch (const std::exception& e) {
    what = e.what();
  } catch (...) {
    // Keeps the default text: the exception carries no message.
  }
  context->Fail(
      absl::InternalError(absl::StrCat("the search algorithm threw: ", what)));
}

}  // namespace co_internal
}  // namespace espalier
