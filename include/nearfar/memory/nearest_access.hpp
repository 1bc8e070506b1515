/// \file
/// Access to far memory by the nearest way: in place where the owner is on this rank's node, elsewhere by
/// RMA.
///
/// **Seen is not complete.** A one-sided write that its target has read may be written again until the flush
/// of its origin returns: a library may copy the bytes of a word in several steps, and each step writes it.
///  - A rank of the owner's node may read a far word in place at any time.
///  - A rank may write a far word, in place or by put, only when every earlier far write to it is complete
///    *and* the rank knows that by happens-before. This order leads from the return of the flush, through
///    hand-overs, messages or atomics, to the write. The value of the word itself orders nothing.
///  - A rank without that knowledge writes by accumulates, which exclude each other. Accumulates are RMA
///    everywhere, on the owner's node too, so they have no nearest way and are not here.
/// core/world.hpp has all rules of far memory.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <source_location>
#include <span>

#include "nearfar/core/layout.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/memory/atomic_cell.hpp"

namespace nearfar {

/// The far operation that reads a word on another node.
enum class far_read : std::uint8_t {
  get,    ///< a plain read
  fetch,  ///< an atomic one, for words that atomics write
};

/// This rank's access to the far memory of `owner`. An object decides once whether it works in place, which
/// takes some nanoseconds: a rank that always goes to the same owner keeps one.
///
/// `where` is always an element of the owner. An operation whose name begins with `start` is complete at once
/// in place, and elsewhere when `flush` has returned; its result or origin must live until then.
template <world W, far_read By>
class nearest_access {
 public:
  nearest_access(W& w, int owner)
      : world_(&w), owner_(owner), is_in_place_(w.locality().same(level::node, w.rank(), owner)) {}

  /// Whether the owner is on this rank's node, so that no function here starts a far operation.
  [[nodiscard]] bool is_in_place() const noexcept { return is_in_place_; }

  // Reads.

  template <typename Array, typename T, typename V>
  void start_read(Array& from, element where, far<V> T::*field, V& result,
                  std::source_location site = std::source_location::current()) const {
    asked_at(site, [&](auto... of) {
      if (is_in_place_)
        result = from.read_direct(where, field, of...);
      else if constexpr (By == far_read::get)
        from.get(where, field, result, of...);
      else
        from.fetch(where, field, result, of...);
    });
  }
  /// Reads an object that other ranks may write meanwhile.
  template <typename Array, typename T, typename V>
    requires(By == far_read::get)
  void start_read(Array& from, element where, far_object<V> T::*field,
                  typename W::template maybe_torn<V>& result,
                  std::source_location site = std::source_location::current()) const {
    asked_at(site, [&](auto... of) {
      if (is_in_place_)
        from.read_direct(where, field, result, of...);
      else
        from.get(where, field, result, of...);
    });
  }
  /// Reads the words of as many elements as there are results, each of one word.
  template <typename Array, typename T, typename V>
    requires(By == far_read::get)
  void start_read_range(Array& from, element first, far<V> T::*field, std::span<V> results,
                        std::source_location site = std::source_location::current()) const {
    asked_at(site, [&](auto... of) {
      if (is_in_place_) {
        for (std::size_t i = 0; i < results.size(); ++i)
          results[i] = from.read_direct(element{first.rank, first.index + i}, field, of...);
      } else {
        from.get_range(first, field, results, of...);
      }
    });
  }

  /// Returns the word.
  template <typename Array, typename T, typename V>
  [[nodiscard]] V read(Array& from, element where, far<V> T::*field,
                       std::source_location site = std::source_location::current()) const {
    V result{};
    start_read(from, where, field, result, site);
    flush(from, site);
    return result;
  }

  // Writes, which "seen is not complete" restricts (see the file's comment).

  template <typename Array, typename T, typename V>
  void start_write(Array& to, element where, far_object<V> T::*field, const V& origin,
                   std::source_location site = std::source_location::current()) const {
    asked_at(site, [&](auto... of) {
      if (is_in_place_)
        to.write_direct(where, field, origin, of...);
      else
        to.put(where, field, origin, of...);
    });
  }
  template <typename Array, typename T, typename V>
  void start_write(Array& to, element where, far_object<V> T::*field, V&& origin) const = delete;
  /// Writes the words of as many elements as there are origins, each of one word.
  template <typename Array, typename T, typename V>
  void start_write_range(Array& to, element first, far<V> T::*field, std::span<const V> origins,
                         std::source_location site = std::source_location::current()) const {
    asked_at(site, [&](auto... of) {
      if (is_in_place_) {
        for (std::size_t i = 0; i < origins.size(); ++i)
          to.write_direct(element{first.rank, first.index + i}, field, origins[i], of...);
      } else {
        to.put_range(first, field, origins, of...);
      }
    });
  }

  /// Writes the word, and returns when the write is complete.
  template <typename Array, typename T, typename V>
  void write(Array& to, element where, far<V> T::*field, const V& value,
             std::source_location site = std::source_location::current()) const {
    asked_at(site, [&](auto... of) {
      if (is_in_place_)
        to.write_direct(where, field, value, of...);
      else
        to.put(where, field, value, of...);
    });
    flush(to, site);
  }

  /// Completes what was started here. Does nothing in place, even if other far operations are under way.
  template <typename Array>
  void flush(Array& array, std::source_location site = std::source_location::current()) const {
    if (!is_in_place_) asked_at(site, [&](auto... of) { array.flush(owner_, of...); });
  }

  // Waits. Elsewhere each poll is a far operation.

  /// Waits until the predicate holds for the word, and returns the word.
  template <typename Array, typename T, typename V, std::predicate<V> Predicate>
  V await(Array& in, element where, far<V> T::*field, Predicate predicate,
          std::source_location site = std::source_location::current()) const {
    return asked_at(site, [&](auto... of) {
      if (is_in_place_) return world_->await_direct(in, where, field, predicate, of...);
      if constexpr (By == far_read::get)
        return world_->await_get(in, where, field, predicate, of...);
      else
        return world_->await_fetch(in, where, field, predicate, of...);
    });
  }
  /// The same until a deadline by the world's clock, if there is one. Returns nothing if it has passed.
  template <typename Array, typename T, typename V, std::predicate<V> Predicate>
  [[nodiscard]] std::optional<V> await_until(
      const std::optional<std::chrono::nanoseconds>& deadline, Array& in, element where, far<V> T::*field,
      Predicate predicate, std::source_location site = std::source_location::current()) const {
    if (!deadline) return await(in, where, field, predicate, site);
    return asked_at(site, [&](auto... of) {
      if (is_in_place_) return world_->await_direct_until(*deadline, in, where, field, predicate, of...);
      if constexpr (By == far_read::get)
        return world_->await_get_until(*deadline, in, where, field, predicate, of...);
      else
        return world_->await_fetch_until(*deadline, in, where, field, predicate, of...);
    });
  }
  /// Looks at the word and, if the predicate does not hold, waits until it does. Returns whether this rank
  /// had to wait. `seen` takes the result of the look; the caller must keep it alive as long as its other
  /// buffers.
  template <typename Array, typename T, typename V, std::predicate<V> Predicate>
  [[nodiscard]] bool look_and_await(Array& in, element where, far<V> T::*field, V& seen, Predicate predicate,
                                    std::source_location site = std::source_location::current()) const {
    start_read(in, where, field, seen, site);
    flush(in, site);
    if (predicate(seen)) return false;
    await(in, where, field, predicate, site);
    return true;
  }

 private:
  /// Asks for an operation. In the engine's worlds operations are of the line that asks for them.
  template <typename Operation>
  static decltype(auto) asked_at([[maybe_unused]] const std::source_location& site,
                                 const Operation& operation) {
    if constexpr (detail::is_hardware<W>)
      return operation();
    else
      return operation(site);
  }

  W* world_;
  int owner_;
  bool is_in_place_;
};

}  // namespace nearfar
