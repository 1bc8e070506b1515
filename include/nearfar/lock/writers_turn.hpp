/// \file
/// What the lock of the writers of a reader-writer lock and the rest of it tell each other.
#pragma once

#include <concepts>
#include <cstdint>

#include "nearfar/core/language.hpp"

namespace nearfar {

/// How a writer got the writers' lock.
enum class writers_turn : std::uint8_t {
  goes_on,    ///< from another writer, with the gate shut
  is_handed,  ///< from another writer, who has opened the gate
  is_free,    ///< from nobody
};

/// What the writers' lock asks when it is about to leave an outermost element: a node, say.
template <typename R>
concept tree_root = requires(R& root, std::uint64_t passes, bool is_wanted) {
  /// Whether the lock may go to the next outermost element after that many such hand-overs in a row.
  { root.may_pass_on(passes) } -> std::same_as<bool>;
  /// Whether it may stay inside an element beyond the limit of that, as long as nobody outside waits.
  { root.may_stay() } -> std::same_as<bool>;
  /// The lock is to be free, or to begin anew elsewhere. `is_wanted`: somebody is known to wait for it.
  root.turn_ends(is_wanted);
};

}  // namespace nearfar
