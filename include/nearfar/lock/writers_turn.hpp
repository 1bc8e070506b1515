/// \file
/// The messages between the writers' lock of a reader-writer lock and the rest of that lock.
#pragma once

#include <concepts>
#include <cstdint>

#include "nearfar/language.hpp"

namespace nearfar {

/// How a writer got the writers' lock.
enum class writers_turn : std::uint8_t {
  goes_on,    ///< from another writer, with the gate still shut
  is_handed,  ///< from another writer, which has opened the gate
  is_free,    ///< from no rank: the lock was free
};

/// The writers' lock asks this object when it is about to leave an outermost element, for example a node.
template <typename R>
concept tree_root = requires(R& root, std::uint64_t passes, bool is_wanted) {
  /// Whether the lock may go to the next outermost element after `passes` such hand-overs in a row.
  { root.may_pass_on(passes) } -> std::same_as<bool>;
  /// Whether the lock may stay inside an element beyond its limit, as long as no rank outside waits.
  { root.may_stay() } -> std::same_as<bool>;
  /// Called when the lock becomes free, or begins a new turn elsewhere. `is_wanted`: a rank is known to wait.
  root.turn_ends(is_wanted);
  /// Called after the queue of outermost elements has been left empty.
  root.has_left();
};

}  // namespace nearfar
