#include "nearfar/engine/fibre.hpp"

#include <cxxabi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <utility>
#include <vector>

// GCC announces AddressSanitizer by a macro, Clang by a feature.
#if defined(__SANITIZE_ADDRESS__)
#define NEARFAR_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define NEARFAR_ADDRESS_SANITIZER 1
#endif
#endif
#ifdef NEARFAR_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>
#endif

namespace nearfar::engine {

namespace {

/// Hands a fibre the stack that the pool took for it, and returns the stack to the pool when the fibre is
/// gone.
class pooled_stack {
 public:
  explicit pooled_stack(stack_pool& from) : pool_(&from) {}
  boost::context::stack_context allocate() { return pool_->take(); }
  void deallocate(boost::context::stack_context& stack) noexcept { pool_->give_back(stack); }

 private:
  stack_pool* pool_;
};

}  // namespace

stack_pool::stack_pool(std::size_t bytes) : bytes_(bytes) {}

stack_pool::~stack_pool() {
  const auto guard = static_cast<std::size_t>(getpagesize());
  for (void* memory : mapped_) munmap(memory, bytes_ + guard);
}

boost::context::stack_context stack_pool::take() {
  if (!free_.empty()) {
    const boost::context::stack_context stack = free_.back();
    free_.pop_back();
    return stack;
  }
  const auto guard = static_cast<std::size_t>(getpagesize());
  mapped_.reserve(mapped_.size() + 1);
  void* memory = mmap(nullptr, bytes_ + guard, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  mapped_.push_back(memory);
  if (mapped_.size() <= most_guarded)
    mprotect(memory, guard, PROT_NONE);
  else  // else neighbouring stacks, each of which is used a little, would become one page of 2 MiB
    madvise(memory, bytes_ + guard, MADV_NOHUGEPAGE);
  free_.reserve(mapped_.size());
  boost::context::stack_context stack;
  stack.size = bytes_;
  stack.sp = static_cast<std::byte*>(memory) + guard + bytes_;
  return stack;
}

void stack_pool::give_back(boost::context::stack_context stack) {
#ifdef NEARFAR_ADDRESS_SANITIZER
  __asan_unpoison_memory_region(static_cast<std::byte*>(stack.sp) - stack.size, stack.size);
#endif
  free_.push_back(stack);
}

void stack_pool::give_back_dropped(boost::context::stack_context stack) {
#ifdef NEARFAR_ADDRESS_SANITIZER
  std::byte* const low = static_cast<std::byte*>(stack.sp) - stack.size;
  __lsan_register_root_region(low, stack.size);
  std::erase(mapped_, low - getpagesize());
#else
  give_back(stack);
#endif
}

fibre::fibre(stack_pool& stacks, std::function<void()> body) : body_(std::move(body)), stacks_(&stacks) {
  pooled_stack allocator(stacks);
  const boost::context::stack_context stack = allocator.allocate();
  stack_ = stack;
  stack_high_ = static_cast<const std::byte*>(stack.sp);
  stack_low_ = stack_high_ - stack.size;
  const boost::context::preallocated whole(stack.sp, stack.size, stack);
  inside_ = boost::context::fiber(std::allocator_arg, whole, allocator, [this](boost::context::fiber&& from) {
    outside_ = std::move(from);
#ifdef NEARFAR_ADDRESS_SANITIZER
    __sanitizer_finish_switch_fiber(nullptr, &outside_stack_, &outside_stack_bytes_);
#endif
    try {
      if (!cancelled_) body_();
    } catch (const cancelled&) {
    } catch (...) {
      thrown_ = std::current_exception();
    }
    ended_ = true;
#ifdef NEARFAR_ADDRESS_SANITIZER
    __sanitizer_start_switch_fiber(nullptr, outside_stack_, outside_stack_bytes_);
#endif
    return std::move(outside_);
  });
}

void fibre::swap_exception_state() noexcept {
  exception_state current;
  void* globals = abi::__cxa_get_globals();
  std::memcpy(&current, globals, sizeof current);
  std::memcpy(globals, &exceptions_, sizeof exceptions_);
  exceptions_ = current;
}

void fibre::resume() {
  swap_exception_state();
#ifdef NEARFAR_ADDRESS_SANITIZER
  void* own_fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&own_fake_stack, stack_low_,
                                 static_cast<std::size_t>(stack_high_ - stack_low_));
#endif
  inside_ = std::move(inside_).resume();
#ifdef NEARFAR_ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(own_fake_stack, nullptr, nullptr);
#endif
  swap_exception_state();
}

void fibre::suspend() {
#ifdef NEARFAR_ADDRESS_SANITIZER
  __sanitizer_start_switch_fiber(&fake_stack_, outside_stack_, outside_stack_bytes_);
#endif
  outside_ = std::move(outside_).resume();
#ifdef NEARFAR_ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(fake_stack_, &outside_stack_, &outside_stack_bytes_);
#endif
  if (cancelled_) throw cancelled();
}

namespace {

thread_local fibre* to_be_unwound = nullptr;

/// An exception cannot leave a guard that waits in its destructor. A fibre that ends there is dropped without
/// unwinding.
void install_terminate_handler() {
  static const std::terminate_handler before = std::get_terminate();
  static const bool is_installed = [] {
    std::set_terminate([] {
      if (to_be_unwound != nullptr) to_be_unwound->drop();
      if (before != nullptr) before();
      std::abort();
    });
    return true;
  }();
  static_cast<void>(is_installed);
}

}  // namespace

void fibre::cancel() noexcept {
  if (ended_) return;
  install_terminate_handler();
  cancelled_ = true;
  to_be_unwound = this;
  // A fibre that was never resumed sees at its beginning that it is to end.
  while (!ended_) resume();
  to_be_unwound = nullptr;
  if (!is_dropped_) return;
  // Leaks the context deliberately: its destructor would unwind. Nothing runs on the stack any more.
  [[maybe_unused]] void* const context = new (std::nothrow) boost::context::fiber(std::move(inside_));
#ifdef NEARFAR_ADDRESS_SANITIZER
  __lsan_ignore_object(context);
#endif
  stacks_->give_back_dropped(stack_);
}

void fibre::drop() noexcept {
  ended_ = is_dropped_ = true;
#ifdef NEARFAR_ADDRESS_SANITIZER
  __sanitizer_start_switch_fiber(nullptr, outside_stack_, outside_stack_bytes_);
#endif
  outside_ = std::move(outside_).resume();
  std::abort();  // nobody resumes a fibre that has ended
}

bool fibre::is_dangling(const void* object, const void* frame) const noexcept {
#ifdef NEARFAR_ADDRESS_SANITIZER
  if (__asan_address_is_poisoned(object) != 0) return true;
#endif
  const auto* at = static_cast<const std::byte*>(object);
  return at >= stack_low_ && at < stack_high_ && at < static_cast<const std::byte*>(frame);
}

}  // namespace nearfar::engine
