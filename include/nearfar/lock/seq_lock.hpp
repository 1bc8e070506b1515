/// \file
/// A sequence lock over far memory: a small value that readers get by one far operation, without locking.
///
/// Source: sequence locks as in H.-J. Boehm, "Can seqlocks get along with programming language memory
/// models?", MSPC 2012, doi 10.1145/2247684.2247688. A. Dragojevic, D. Narayanan, O. Hodson, M. Castro,
/// "FaRM: fast remote memory", NSDI 2014, let a reader over RMA check by versions inside what it got, without
/// reading them separately. Their versions stand once in each cache line, which relies on the order in which
/// a line is written. MPI promises no such order, so here each word has a version.
///
/// The value is cut into pieces of 32 bits. Each piece is in a far word with the number of the write that it
/// belongs to. A reader gets all words at once; if their numbers are equal, the words are one value. If not,
/// a write is under way, and the reader waits for the words that the write has not reached yet. So it repeats
/// once for each write that overlaps it. Writers exclude each other by a lock, and each flushes its words
/// before it releases the lock, so that every earlier write of a word is complete when a writer writes it.
/// Numbers have 32 bits: a reader would take words of two values for one only if 2^32 writes came during one
/// get.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <optional>
#include <span>

#include "nearfar/core/agreement.hpp"
#include "nearfar/core/layout.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/lock/cohort_lock.hpp"
#include "nearfar/memory/nearest_access.hpp"

namespace nearfar {

/// A value at one rank that all ranks read and write. Not *SharedLockable*: readers hold nothing.
///
/// Progress: a reader waits only for the writes that it overlaps, and each further write may make it wait
/// again; a writer waits as `Writers` says. A load on the home's node does not let other ranks' operations
/// progress: a caller that loads again and again until another rank has stored must call the world's `rest()`
/// in between. Cost in far operations, each completed by a flush: load 1 get, on the home's node none; for
/// each write that overlaps it polls of one word and 1 get more. Store that of `Writers`, 1 get and 1 put.
/// Memory: 8 bytes of far memory for each 4 bytes of the value on each rank, and that of `Writers`.
template <world W, far_object_value V, typename Writers = default_cohort_lock<W>>
class seq_lock {
 public:
  using world_type = W;
  using value_type = V;

  /// Collective. `home` keeps the value. Its initial value is rank `home`'s `initial`.
  explicit seq_lock(W& w, const V& initial = {}, int home = 0)
      : seq_lock(w, initial, home, compared(w, home)) {}
  seq_lock(const seq_lock&) = delete;
  seq_lock& operator=(const seq_lock&) = delete;

  /// Returns a value that was stored as a whole.
  [[nodiscard]] V load() {
    read_all();
    while (const std::optional<std::size_t> late = find_late()) {
      const auto has_come = [newest = number_of(*late)](std::uint64_t state) {
        return version(state) != newest;
      };
      at_home_.await(words_, {home_, *late}, &word::state, has_come);
      read_all();
    }
    return unpacked();
  }

  /// The same, but returns nothing if a write is under way.
  [[nodiscard]] std::optional<V> try_load() {
    read_all();
    if (find_late()) return std::nullopt;
    return unpacked();
  }

  void store(const V& value) {
    update([&](V& old) { old = value; });
  }

  /// Replaces the value by the result of `change(V&)`, without another write in between.
  template <typename Change>
  void update(Change change) {
    const std::lock_guard alone(writers_);
    read_all();
    V value = unpacked();
    change(value);
    const std::uint32_t next = version(states_[0]) + 1;
    for (std::size_t i = 0; i < pieces; ++i) states_[i] = packed(next, piece_of(value, i));
    words_.put_range(home_, &word::state, std::span<const std::uint64_t>(states_));
    words_.flush(home_);
  }

 private:
  struct alike {};
  /// Checks that all ranks make the same lock.
  [[nodiscard]] static alike compared(W& w, int home) {
    expect_alike<seq_lock>(w, {{"home", home}});
    return {};
  }
  seq_lock(W& w, const V& initial, int home, alike /*compared*/)
      : world_(&w), words_(w, pieces), writers_(w, home), home_(checked_rank(w, home)), at_home_(w, home_) {
    if (w.rank() == home)
      for (std::size_t i = 0; i < pieces; ++i)
        words_.write_direct({home, i}, &word::state, packed(0, piece_of(initial, i)));
    w.barrier();
  }
  struct word {
    far<std::uint64_t> state;
  };
  static constexpr std::size_t piece_bytes = sizeof(std::uint32_t);
  static constexpr std::size_t pieces = (sizeof(V) + piece_bytes - 1) / piece_bytes;
  static constexpr unsigned piece_bits = 8 * piece_bytes;

  [[nodiscard]] static constexpr std::uint64_t packed(std::uint32_t number, std::uint32_t piece) noexcept {
    return std::uint64_t{number} << piece_bits | piece;
  }
  [[nodiscard]] static constexpr std::uint32_t version(std::uint64_t state) noexcept {
    return static_cast<std::uint32_t>(state >> piece_bits);
  }
  [[nodiscard]] static std::size_t length_of(std::size_t piece) noexcept {
    return std::min(piece_bytes, sizeof(V) - piece * piece_bytes);
  }
  [[nodiscard]] static std::uint32_t piece_of(const V& value, std::size_t which) noexcept {
    std::uint32_t piece = 0;
    std::memcpy(&piece, reinterpret_cast<const std::byte*>(&value) + which * piece_bytes, length_of(which));
    return piece;
  }
  [[nodiscard]] V unpacked() const noexcept {
    V value{};
    for (std::size_t i = 0; i < pieces; ++i) {
      const auto piece = static_cast<std::uint32_t>(states_[i]);
      std::memcpy(reinterpret_cast<std::byte*>(&value) + i * piece_bytes, &piece, length_of(i));
    }
    return value;
  }

  void read_all() {
    at_home_.start_read_range(words_, home_, &word::state, std::span<std::uint64_t>(states_));
    at_home_.flush(words_);
  }

  /// A word that the write shown by another word has not reached.
  [[nodiscard]] std::optional<std::size_t> find_late() const noexcept {
    // Numbers differ by little: of two, the later one is ahead by less than half of all numbers.
    const auto is_earlier = [](std::uint64_t a, std::uint64_t b) {
      return static_cast<std::int32_t>(version(a) - version(b)) < 0;
    };
    const auto [first, last] = std::minmax_element(states_.begin(), states_.end(), is_earlier);
    if (!is_earlier(*first, *last)) return std::nullopt;
    return static_cast<std::size_t>(first - states_.begin());
  }
  [[nodiscard]] std::uint32_t number_of(std::size_t which) const noexcept { return version(states_[which]); }

  W* world_;
  typename W::template far_array<word> words_;
  Writers writers_;
  int home_;
  nearest_access<W, far_read::get> at_home_;
  std::array<std::uint64_t, pieces> states_{};
};

}  // namespace nearfar
