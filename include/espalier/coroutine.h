// Searches as coroutines: Co<T>, the type of a search and of its parts.
//
//   Co<float> Rollout(MethodContext& search, uint32_t node);
//   Co<> Search(MethodContext& context) {
//     float v = co_await Rollout(context, kRoot); }
//
// A Co starts when it is awaited (or by Start) and runs on the thread that
// resumes the search; its result goes to the coroutine that awaits it.
// Coroutines are free functions. Their first parameter is the MethodContext
// (method.h), inside the project the SearchContext, because its search owns the
// memory of their frames. An exception that leaves a coroutine fails the search
// with a Status, and no coroutine above it is resumed.
#ifndef ESPALIER_API_COROUTINE_H_
#define ESPALIER_API_COROUTINE_H_

#include <array>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace espalier {

class MethodContext;
class SearchContext;

// Memory of coroutine frames: bump allocation with a free list per size class,
// so that a search that awaits the same coroutine a million times reuses one
// frame. Externally synchronised.
class FrameArena {
 public:
  void* Allocate(size_t size);
  static void Free(void* frame);
  int64_t bytes() const {
    return static_cast<int64_t>(chunks_.size()) * kChunk;
  }

 private:
  static constexpr size_t kChunk = 16384;
  static constexpr size_t kAlign = 64;    // size classes are multiples of it
  static constexpr size_t kClasses = 64;  // frames up to 4 KiB; larger: heap
  struct Header {
    FrameArena* arena;  // null: from the heap
    size_t size_class;
  };
  struct FreeFrame {
    FreeFrame* next;
  };
  std::vector<std::unique_ptr<std::byte[]>> chunks_;
  size_t used_ = kChunk;  // bytes used of the last chunk
  std::array<FreeFrame*, kClasses + 1> free_{};
};

namespace co_internal {

inline SearchContext& ContextOf(SearchContext& ctx) { return ctx; }
SearchContext& ContextOf(MethodContext& ctx);

// What all promises share. Its functions are defined in the library: the
// context is incomplete here.
struct PromiseBase {
  explicit PromiseBase(SearchContext& ctx) : context(&ctx) {}

  static void* Allocate(size_t size, SearchContext& ctx);

  std::suspend_always initial_suspend() noexcept { return {}; }
  struct FinalAwaiter {
    bool await_ready() noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(
        std::coroutine_handle<Promise> self) noexcept {
      PromiseBase& promise = self.promise();
      if (promise.failed || promise.starting ||
          promise.continuation == nullptr) {
        return std::noop_coroutine();
      }
      // One of several awaited together: the last one resumes the caller.
      if (promise.others != nullptr && --*promise.others > 0) {
        return std::noop_coroutine();
      }
      return promise.continuation;
    }
    void await_resume() noexcept {}
  };
  FinalAwaiter final_suspend() noexcept { return {}; }
  void unhandled_exception() noexcept;

  SearchContext* context;
  std::coroutine_handle<> continuation = nullptr;
  size_t* others = nullptr;  // WhenAll: coroutines still running
  bool failed = false;       // ended by an exception
  bool starting = false;     // not suspended yet since it was awaited
};

template <class T>
struct Promise;

}  // namespace co_internal

template <class T = void>
class [[nodiscard]] Co {
 public:
  using promise_type = co_internal::Promise<T>;
  using Handle = std::coroutine_handle<promise_type>;

  Co() = default;
  explicit Co(Handle handle) : handle_(handle) {}
  Co(Co&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Co& operator=(Co&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Co() {
    if (handle_) handle_.destroy();
  }

  // Runs until the first suspension. For the outermost coroutine of a search.
  void Start() { handle_.resume(); }
  bool done() const { return handle_ && handle_.done(); }

  // Awaiting starts the coroutine and yields its result. If it ends without
  // suspending, the caller continues here: a loop over such coroutines must not
  // grow the stack where the compiler makes no tail calls (sanitizers, -O0).
  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> caller) {
    auto& promise = handle_.promise();
    promise.continuation = caller;
    promise.starting = true;
    handle_.resume();
    promise.starting = false;
    return promise.failed || !handle_.done();
  }
  T await_resume() { return handle_.promise().Result(); }

 private:
  friend class WhenAll;
  Handle handle_ = nullptr;
};

namespace co_internal {

template <class T>
struct Promise : PromiseBase {
  template <class Context, class... Args>
  explicit Promise(Context& ctx, Args&&...) : PromiseBase(ContextOf(ctx)) {}
  template <class Context, class... Args>
  [[gnu::always_inline]] static void* operator new(size_t size, Context& ctx,
                                                   Args&&...) {
    return Allocate(size, ContextOf(ctx));
  }
  [[gnu::always_inline]] static void operator delete(void* frame) {
    FrameArena::Free(frame);
  }

  Co<T> get_return_object() {
    return Co<T>(Co<T>::Handle::from_promise(*this));
  }
  void return_value(T v) { value = std::move(v); }
  T Result() { return std::move(*value); }
  std::optional<T> value;
};

template <>
struct Promise<void> : PromiseBase {
  template <class Context, class... Args>
  explicit Promise(Context& ctx, Args&&...) : PromiseBase(ContextOf(ctx)) {}
  template <class Context, class... Args>
  [[gnu::always_inline]] static void* operator new(size_t size, Context& ctx,
                                                   Args&&...) {
    return Allocate(size, ContextOf(ctx));
  }
  [[gnu::always_inline]] static void operator delete(void* frame) {
    FrameArena::Free(frame);
  }

  Co<void> get_return_object() {
    return Co<void>(Co<void>::Handle::from_promise(*this));
  }
  void return_void() {}
  void Result() {}
};

}  // namespace co_internal

// Awaits coroutines that run interleaved: each resumes when its request
// completes, in the order of the requests.
//
//   std::vector<Co<>> workers;
//   for (int i = 0; i < n; ++i) workers.push_back(Worker(ctx, state));
//   WhenAll all(workers);
//   co_await all;
//
// `tasks` outlives the WhenAll. It is not empty, and none of its coroutines has
// been started.
class WhenAll {
 public:
  explicit WhenAll(std::vector<Co<>>& tasks) : tasks_(tasks) {}

  bool await_ready() const { return false; }
  bool await_suspend(std::coroutine_handle<> caller) {
    left_ = tasks_.size() + 1;  // +1 so that it is not 0 before this loop ends
    for (Co<>& task : tasks_) {
      task.handle_.promise().continuation = caller;
      task.handle_.promise().others = &left_;
      task.handle_.resume();
    }
    return --left_ > 0;
  }
  void await_resume() const {}

 private:
  std::vector<Co<>>& tasks_;
  size_t left_ = 0;
};

}  // namespace espalier

#endif  // ESPALIER_API_COROUTINE_H_
