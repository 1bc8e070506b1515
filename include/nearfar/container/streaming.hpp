/// \file
/// Stores that bypass the caches: a vector that is written once and does not fit into the caches need not be
/// read into them first. This saves the read for ownership, a third of the memory traffic of a copy, and a
/// fifth of the triad's.
///
/// Source: H. Stengel, diploma thesis, Georg-Simon-Ohm-Fachhochschule Nürnberg, 2007, section 1.6.1.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>

#include "nearfar/topology/hardware.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace nearfar {

/// How an algorithm writes its results.
enum class store_kind {
  regular,    ///< through the caches
  streaming,  ///< bypassing them
  automatic,  ///< bypassing them if the algorithm touches more than a threshold
};

/// A kind of stores, and the threshold of `automatic`. Wherever an algorithm takes one, the kind alone will
/// do.
struct store_choice {
  store_kind kind = store_kind::regular;
  /// Bytes that an algorithm reads and writes in all, on all threads. 0: the size of one last-level cache of
  /// this machine, or no streaming if that is unknown.
  std::size_t threshold = 0;

  constexpr store_choice(store_kind what = store_kind::regular, std::size_t above = 0) noexcept
      : kind(what), threshold(above) {}

  /// Whether an algorithm that touches `bytes` bytes streams. With `automatic` and no threshold, the first
  /// call discovers the machine, which takes milliseconds and may throw `topology_error`.
  [[nodiscard]] bool streams(std::size_t bytes) const {
    if (kind != store_kind::automatic) return kind == store_kind::streaming;
    const std::size_t above = threshold != 0 ? threshold : this_machine().last_level_cache_bytes();
    return above != 0 && bytes > above;
  }
};

/// Streaming stores by instructions that every x86-64 processor has.
struct sse2_stores {
#if defined(__SSE2__)
  static constexpr bool available = true;
  /// Writes 16 bytes to an address that is a multiple of 16.
  static void store16(std::byte* to, const std::byte* from) noexcept {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to), _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }
  /// Other threads see all stores before this one ahead of all stores after it.
  static void fence() noexcept { _mm_sfence(); }
#else
  static constexpr bool available = false;
#endif
};

/// The substitute on other processors: regular stores.
struct plain_stores {
  static constexpr bool available = true;
  static void store16(std::byte* to, const std::byte* from) noexcept { std::memcpy(to, from, 16); }
  static void fence() noexcept {}
};

/// The best stores for the processor this is compiled for.
using native_stores = std::conditional_t<sse2_stores::available, sse2_stores, plain_stores>;

/// Copies bytes by streaming stores, as far as their addresses allow. The ranges must not overlap. The caller
/// must call `Stores::fence()` before it tells another thread.
template <typename Stores = native_stores>
void stream_bytes(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  constexpr std::size_t word = 16;
  constexpr std::size_t line = 64;
  const std::size_t head = std::min((word - reinterpret_cast<std::uintptr_t>(to) % word) % word, bytes);
  if (head != 0) std::memcpy(to, from, head);
  std::size_t done = head;
  for (; done + line <= bytes; done += line)
    for (std::size_t i = 0; i < line; i += word) Stores::store16(to + done + i, from + done + i);
  for (; done + word <= bytes; done += word) Stores::store16(to + done, from + done);
  if (done != bytes) std::memcpy(to + done, from + done, bytes - done);
}

/// Writes `size` elements by streaming stores, a block at a time: `fill(T* block, first, count)` constructs
/// elements `first` to `first + count` - 1 in a block of uninitialised memory, which is in the L1 cache and
/// overlaps nothing. Its loop is therefore a plain one, which compilers vectorise. If `fill` throws, the
/// blocks before are written. Even then the caller must call `Stores::fence()` before it tells another
/// thread.
template <typename Stores = native_stores, typename T, typename Fill>
void stream_blocks(T* to, std::size_t size, Fill&& fill) {
  static_assert(std::is_trivially_copyable_v<T>, "elements are copied as bytes");
  constexpr std::size_t line = 64;
  constexpr std::size_t block = std::max<std::size_t>(2048 / sizeof(T), 1);
  alignas(std::max(alignof(T), line)) std::array<std::byte, block * sizeof(T)>
      memory;  // NOLINT(*-init-variables)
  T* const elements = reinterpret_cast<T*>(memory.data());
  // Blocks end with cache lines if elements do: writing a line in two parts is slow.
  const std::size_t into_line = reinterpret_cast<std::uintptr_t>(to) % line / sizeof(T);
  std::size_t count = std::min(size, block > into_line ? block - into_line : block);
  for (std::size_t first = 0; first < size; first += count, count = std::min(size - first, block)) {
    fill(elements, first, count);
    stream_bytes<Stores>(reinterpret_cast<std::byte*>(to + first), memory.data(), count * sizeof(T));
  }
}

}  // namespace nearfar
