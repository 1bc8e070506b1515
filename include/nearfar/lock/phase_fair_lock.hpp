/// \file
/// A reader-writer lock made of two parts: a writers' lock, which hands over in turns, and a readers' gate,
/// which the writers shut for a turn.
///
/// Source: the modular design of P. Schmid, M. Besta, T. Hoefler, "High-Performance Distributed RMA Locks",
/// HPDC 2016, doi 10.1145/2907294.2907323; turns that admit all waiting ranks from B. Brandenburg, J.
/// Anderson, "Spin-based reader-writer synchronization for multiprocessor real-time systems", 2010, doi
/// 10.1007/s11241-010-9097-2.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>

#include "nearfar/core/agreement.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/lock/lockable.hpp"
#include "nearfar/lock/shared_lockable.hpp"
#include "nearfar/lock/writers_turn.hpp"

namespace nearfar {

/// The turn that a writer grants the readers before it shuts the gate.
enum class readers_turn : std::uint8_t {
  none,        ///< nothing; readers that wait when it is shut get in the next time
  limited,     ///< as many as may come in a phase that began while writers waited, as long as they come
  until_idle,  ///< until no reader is in
};

/// Which side is preferred when readers and writers want the lock.
enum class rw_preference : std::uint8_t {
  fair,     ///< turns, as the thresholds say
  writers,  ///< no reader while a writer waits; readers may starve
  readers,  ///< no writer while a reader is in; writers may starve
};

/// The lock that writers queue in: exclusive, and told where a turn may end (`tree_root`).
template <typename T>
concept writers_of_rw_lock = requires(T& writers) {
  typename T::world_type;
  { writers.acquire() } -> std::same_as<handover>;
  { writers.try_acquire() } -> std::same_as<bool>;
  { writers.turn() } -> std::same_as<writers_turn>;
};

/// Where readers enter and leave. Only the holder of the writers' lock calls the functions from `shut` on.
template <typename T>
concept gate_of_rw_lock =
    requires(T& gate, std::chrono::nanoseconds deadline, bool flag, readers_turn before) {
      { gate.enter() } -> std::same_as<handover>;
      { gate.try_enter() } -> std::same_as<bool>;
      { gate.try_enter_until(deadline) } -> std::same_as<std::optional<handover>>;
      gate.leave();
      gate.shut(before);
      { gate.try_shut(flag) } -> std::same_as<bool>;
      gate.take_over();
      gate.open(flag);
      gate.enter_next_phase();
    };

/// The thresholds of turns, for any such lock.
struct rw_thresholds {
  /// Hand-overs in a row between outermost elements of the writers' lock before readers get a turn: T_L,1.
  /// Measured (docs/readers-writers.md): below the number of nodes writers lose much, above it they gain
  /// little.
  int max_writer_passes = each_node_once;
  /// As many as there are nodes.
  static constexpr int each_node_once = -1;
  /// Readers that one counter admits in a turn that begins while writers wait: T_R. Never less than the ranks
  /// that share a counter, since all waiting readers get in: `max_readers()` of the lock has the limit in
  /// effect.
  int max_readers = 1000;
};

namespace detail {

/// Returns `of` with the defaults resolved for the nodes of `where`. Throws `misuse` if its numbers are out
/// of range.
[[nodiscard]] rw_thresholds checked(const rw_thresholds& of, const locality& where);

}  // namespace detail

/// The algorithm of such a lock, without its construction. See the file's comment.
///
/// Exclusion: a writer is in only when the gate is shut and all readers that were let in have left. A writer
/// that gets the writers' lock from it with the gate shut need not shut the gate again. Fairness: a waiting
/// reader gets in at the latest when the writers' turn ends; a waiting writer after `max_readers` of each
/// counter.
template <typename Derived, writers_of_rw_lock Writers, gate_of_rw_lock Gate>
class phase_fair_lock : public shared_lockable<Derived, typename Writers::world_type> {
 public:
  using world_type = typename Writers::world_type;

  // The algorithm without the checks.

  handover acquire() {
    const handover how = writers_.acquire();
    if (writers_.turn() == writers_turn::goes_on)
      gate_.take_over();
    else
      gate_.shut(turn_before(writers_.turn()));
    return how;
  }
  [[nodiscard]] bool try_acquire() { return try_shut(false); }
  void release() { leave({.of = this, .is_shut = true, .ends_here = false}); }

  handover acquire_shared() {
    return at_gate([this](auto... asks) { return gate_.enter(asks...); });
  }
  [[nodiscard]] bool try_acquire_shared() {
    return at_gate([this](auto... asks) { return gate_.try_enter(asks...); });
  }
  [[nodiscard]] std::optional<handover> try_acquire_shared_until(std::chrono::nanoseconds deadline) {
    return at_gate([this, deadline](auto... asks) { return gate_.try_enter_until(deadline, asks...); });
  }
  void release_shared() {
    gate_.leave();
    if constexpr (requires { gate_.is_high(); })
      if (gate_.is_high()) lower();
  }

  /// Ends the writers' turn, since this rank must be in as a reader at once.
  void downgrade() {
    gate_.enter_next_phase();
    leave({.of = this, .is_shut = true, .ends_here = true});
  }
  [[nodiscard]] bool try_upgrade() {
    if (!try_shut(true)) return false;
    gate_.leave();
    return true;
  }

  /// The limit T_R in effect, which may be more than was asked for.
  [[nodiscard]] std::uint64_t max_readers() const noexcept
    requires requires(const Gate& gate) { gate.max_readers(); }
  {
    return gate_.max_readers();
  }

 protected:
  template <typename MakeWriters, typename MakeGate>
  phase_fair_lock(world_type& w, std::initializer_list<named_value> arguments,
                  const rw_thresholds& thresholds, rw_preference prefers, MakeWriters make_writers,
                  MakeGate make_gate)
      : shared_lockable<Derived, world_type>(w, arguments),
        prefers_(prefers),
        max_writer_passes_(
            static_cast<std::uint64_t>(detail::checked(thresholds, w.locality()).max_writer_passes)),
        writers_(make_writers()),
        gate_(make_gate()) {}
  ~phase_fair_lock() = default;

 private:
  /// The answers to the writers' lock when it leaves an outermost element.
  struct root {
    phase_fair_lock* of;
    bool is_shut;
    bool ends_here;

    [[nodiscard]] bool may_pass_on(std::uint64_t passes) const noexcept {
      if (ends_here || of->prefers_ == rw_preference::readers) return false;
      return of->prefers_ == rw_preference::writers || passes < of->max_writer_passes_;
    }
    [[nodiscard]] bool may_stay() const noexcept {
      return !ends_here && of->prefers_ == rw_preference::writers;
    }
    void turn_ends(bool is_wanted) {
      if (is_shut) of->gate_.open(is_wanted && of->prefers_ != rw_preference::readers);
    }
    void has_left() {
      if constexpr (gate_asks) of->gate_.writers_left();
    }
  };

  /// A gate whose readers look at the queue of writers.
  static constexpr bool gate_asks = requires(Gate& gate) { gate.writers_left(); };
  /// Calls `enter`, for such a gate with a function that looks.
  template <typename Enter>
  [[nodiscard]] auto at_gate(Enter enter) {
    if constexpr (gate_asks)
      return enter([this] { return writers_.is_wanted(); });
    else
      return enter();
  }

  [[nodiscard]] readers_turn turn_before(writers_turn how) const noexcept {
    if (prefers_ == rw_preference::readers) return readers_turn::until_idle;
    return how == writers_turn::is_handed && prefers_ == rw_preference::fair ? readers_turn::limited
                                                                             : readers_turn::none;
  }

  void leave(root at) { writers_.release(at, at.ends_here); }

  [[nodiscard]] bool try_shut(bool is_in) {
    if (!writers_.try_acquire()) return false;
    if (gate_.try_shut(is_in)) return true;
    leave({.of = this, .is_shut = false, .ends_here = true});
    return false;
  }

  /// Keeps the numbers of the gate within bounds where no writer does. If a writer holds the lock, it does so
  /// anyway.
  void lower() {
    if (!writers_.try_acquire()) return;
    gate_.lower();
    leave({.of = this, .is_shut = false, .ends_here = true});
  }

  rw_preference prefers_;
  std::uint64_t max_writer_passes_;
  Writers writers_;
  Gate gate_;
};

}  // namespace nearfar
