/// \file
/// A fence among near cells.
#pragma once

#include <atomic>

#include "nearfar/language.hpp"

// How GCC, and how Clang, reports ThreadSanitizer.
#if defined(__SANITIZE_THREAD__)
#define NEARFAR_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define NEARFAR_THREAD_SANITIZER 1
#endif
#endif

namespace nearfar {

/// `std::atomic_thread_fence`. On x86 it costs nothing, except a sequentially consistent fence, which waits
/// until the processor's stores are visible (20 to 40 ns).
///
/// ThreadSanitizer does not support fences. Under it this function is an atomic read-modify-write of one
/// word, which orders more than a fence does. So ThreadSanitizer may miss a race that a fence does not
/// prevent, but it reports no false ones.
inline void fence(std::memory_order order) noexcept {
#ifdef NEARFAR_THREAD_SANITIZER
  static std::atomic<unsigned> word{0};
  if (order != std::memory_order_relaxed) word.fetch_add(1, std::memory_order_seq_cst);
#else
  std::atomic_thread_fence(order);
#endif
}

}  // namespace nearfar

#undef NEARFAR_THREAD_SANITIZER
