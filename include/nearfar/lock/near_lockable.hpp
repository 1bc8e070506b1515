/// \file
/// The common part of the locks in near memory: the ranks that share a lock, and the value that a holder
/// hands over to its successor, so that the lock can be the local lock of a cohort.
///
/// Source: cohort detection is from D. Dice, V. Marathe, N. Shavit, "Lock cohorting", PPoPP 2012, doi
/// 10.1145/2145816.2145848. The pass count inside the value that is handed over is from M. Chabbi, M. Fagan,
/// J. Mellor-Crummey, "High performance locks for multi-level NUMA systems", PPoPP 2015, doi
/// 10.1145/2688500.2688503. It is also in A. Uffmann's master thesis, LMU Munich, 2022, section 5.4.1,
/// optimisation 3.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "nearfar/core/agreement.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/lock/lockable.hpp"

namespace nearfar {

/// The ranks that share a near lock.
enum class near_scope : std::uint8_t {
  world,  ///< one lock for all ranks, which must be on one node
  node,   ///< a lock for each node
};

/// The place of a rank in a near lock that the elements of a level take instead of ranks. The ranks of an
/// element take it in the element's name, one at a time, which another lock ensures. The rank that releases
/// may differ from the one that acquired. So a lock with a constructor for seats keeps all that it knows of
/// an acquisition in near memory.
struct near_seat {
  int owner = 0;        ///< the rank that has the words of this rank's lock in its memory
  int participant = 0;  ///< the rank in whose name this rank acquires; itself, where ranks take the lock
};

namespace detail {

/// Throws `topology_error` unless all ranks are on one node.
void require_one_node(const locality& ranks);

/// The rank that has the words of this rank's lock in its memory: `home`, or the node's leader.
template <near_world W>
[[nodiscard]] int home_of_near(const W& w, int home, near_scope scope) {
  if (scope == near_scope::node) return w.locality().leader(level::node, w.rank());
  require_one_node(w.locality());
  return checked_rank(w, home);
}

}  // namespace detail

/// The public interface of a near lock, built on
///  - `Derived::acquire_local() -> grant`, which returns what the last holder has handed over;
///  - `Derived::release_local(status)`, which hands `status` over to the next holder;
///  - `Derived::alone() -> bool`, called by the holder: false only if another rank waits for this lock, or is
///    about to, and will take it;
///  - `Derived::try_acquire_local() -> bool`, if it exists: succeeds only after a holder that handed
///    `from_above` over.
template <typename Derived, near_world W>
class near_lockable : public lockable<Derived, W> {
 public:
  using world_type = W;
  /// The value that a holder hands over: `from_above` if the next holder has to acquire the lock above,
  /// otherwise how often in a row the lock was passed on, up to `most_local_passes`.
  using status = std::uint8_t;
  static constexpr status from_above = 0;

  /// The result of a local acquisition.
  struct grant {
    status passes = from_above;
    bool waited = false;
  };

  // The algorithm without the checks, for locks that are built on this one.

  handover acquire() { return this->self().acquire_local().waited ? handover::local : handover::uncontended; }
  [[nodiscard]] bool try_acquire()
    requires requires(Derived& derived) { derived.try_acquire_local(); }
  {
    return this->self().try_acquire_local();
  }
  void release() { this->self().release_local(from_above); }

 protected:
  near_lockable(W& w, std::initializer_list<named_value> arguments) : near_lockable::lockable(w, arguments) {}
  ~near_lockable() = default;

  /// Says that the lock is held; never handed over.
  static constexpr status held = 255;

  /// A rank, encoded as in `rank_word`, in half the space.
  using rank_cell = std::uint32_t;
  static constexpr rank_cell no_rank = nobody;
  [[nodiscard]] static rank_cell to_cell(int rank) noexcept { return static_cast<rank_cell>(to_word(rank)); }
};

}  // namespace nearfar
