// An array of plain values that grows without being copied.
//
//   GrowableArray<Node> nodes;
//   Node& n = nodes.Add();
//
// std::vector copies everything each time it grows, and so touches every page
// of memory about three times. Here large arrays are memory maps that the
// kernel moves by their page tables, in huge pages if available. The first
// element is aligned to 64 bytes. References are valid until the next Add.
//
// Thread-compatible.
#ifndef ESPALIER_BASE_GROWABLE_ARRAY_H_
#define ESPALIER_BASE_GROWABLE_ARRAY_H_

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

namespace espalier {

namespace growable_internal {
// Returns memory of at least *bytes that begins with the first `used` bytes of
// `old`, which was `old_bytes` long (0: none) and is freed; sets *bytes to the
// actual size. `element`: size of one element. Throws std::bad_alloc.
void* Grow(void* old, size_t old_bytes, size_t used, size_t element,
           size_t* bytes);
void Free(void* memory, size_t element, size_t bytes);
}  // namespace growable_internal

template <class T>
class GrowableArray {
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 64);

 public:
  GrowableArray() = default;
  GrowableArray(const GrowableArray&) = delete;
  GrowableArray& operator=(const GrowableArray&) = delete;
  GrowableArray(GrowableArray&& other) noexcept { *this = std::move(other); }
  GrowableArray& operator=(GrowableArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(bytes_, other.bytes_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  ~GrowableArray() {
    if (data_ != nullptr) growable_internal::Free(data_, sizeof(T), bytes_);
  }

  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  const T* data() const { return data_; }
  size_t size() const { return size_; }
  int64_t bytes() const { return static_cast<int64_t>(bytes_); }

  T& Add() { return *new (Extend(1)) T(); }
  // Adds `n` uninitialised elements and returns the first.
  T* Extend(size_t n) {
    if (n > capacity_ - size_) [[unlikely]]
      Grow(n);
    T* const begin = data_ + size_;
    size_ += n;
    return begin;
  }

 private:
  // By half: at millions of elements unused capacity matters.
  void Grow(size_t n) {
    size_t bytes = (size_ + n + size_ / 2) * sizeof(T);
    data_ = static_cast<T*>(growable_internal::Grow(
        data_, bytes_, size_ * sizeof(T), sizeof(T), &bytes));
    bytes_ = bytes;
    capacity_ = bytes / sizeof(T);
  }

  T* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;  // elements
  size_t bytes_ = 0;     // of the memory
};

}  // namespace espalier

#endif  // ESPALIER_BASE_GROWABLE_ARRAY_H_
