/// \file
/// Cohort lock: a local lock for each node and a global lock for the nodes. The holder passes the lock on
/// within its node until a limit is reached.
///
/// Source: D. Dice, V. Marathe, N. Shavit, "Lock cohorting: a general technique for designing NUMA locks",
/// PPoPP 2012, doi 10.1145/2145816.2145848; over RMA with the four optimisations of A. Uffmann's master
/// thesis, LMU Munich, 2022, section 5.4.1.
///
/// Fairness: while a rank of another node is registered as waiting, at most `max_local_passes` (default 254)
/// ranks of the holder's node overtake it; within a node the local lock's order. With `turn_limit::time` the
/// ranks that come within `max_turn` since the node got the lock overtake it, and 16 more. Progress: an
/// acquiring rank waits for its predecessors only, if both locks have that property.
///
/// Cost in far operations with the defaults (`biased_queue` above, `mcs_lock` below):
///  - uncontended: those of the global lock, none by the node that had it last;
///  - passed on within a node: none; 3 cache-line transfers of the local lock, and 1 for the global queue
///    node when the pass count has reached its limit;
///  - passed on to another node: 1 swap at home, 1 put and 1 get of two words at the predecessor node, and 1
///    zero-byte message.
/// Memory: that of both locks; a pass count outside the local lock takes 64 bytes more for each rank.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "nearfar/core/world.hpp"
#include "nearfar/lock/biased_queue.hpp"
#include "nearfar/lock/level_waits.hpp"
#include "nearfar/lock/local_passes.hpp"
#include "nearfar/lock/lock_tree.hpp"
#include "nearfar/lock/lockable.hpp"
#include "nearfar/lock/mcs_lock.hpp"

namespace nearfar {

/// A lock that one rank of a node may acquire and another rank of the same node may release.
template <typename G>
concept cohort_global = requires(G& global) {
  typename G::world_type;
  requires G::queued == participant::node;
  { global.acquire() } -> std::same_as<handover>;
  global.release();
};

/// A near lock that can tell whether another rank waits for it, and that hands a count over.
template <typename L>
concept cohort_local = requires(L& local, typename L::status passes) {
  { local.acquire_local() } -> std::same_as<typename L::grant>;
  { local.alone() } -> std::same_as<bool>;
  local.release_local(passes);
};

/// Where the number of local passes is counted: the baseline of the thesis and its optimisations 1 to 3.
enum class pass_counter : std::uint8_t {
  global,   ///< in the far memory of the home rank, by one atomic a pass
  local,    ///< in the far memory of the node's leader, by one atomic a pass
  direct,   ///< in the near memory of the node's leader
  inlined,  ///< in the status that the local lock hands over
};

/// When the holder gives up the global lock although a rank of its node waits.
enum class pass_limit : std::uint8_t {
  strict,       ///< after `max_local_passes`, as published
  when_wanted,  ///< after `max_local_passes` and once another node has registered as waiting. Giving the lock
                ///< up earlier helps no other node: one that has not registered could not be told yet.
};

/// The measure that limits a node's turn with the lock while others wait.
enum class turn_limit : std::uint8_t {
  passes,  ///< the number of passes, however long the critical sections are
  time,    ///< the time since the node got the lock; read at every 16th pass
};

/// The parameters of a `cohort_lock`, besides its two locks.
struct cohort_policy {
  pass_counter counts = pass_counter::inlined;
  pass_limit limit = pass_limit::when_wanted;
  turn_limit turn = turn_limit::passes;
};

namespace detail {

/// The pass count of the variants that keep it outside the local lock. Guarded by the cohort lock itself.
template <world W, pass_counter Place>
class outer_pass_counter {
 public:
  outer_pass_counter(W& w, int home, int leader)
      : words_(w), at_(Place == pass_counter::global ? home : leader) {}
  /// Counts one pass more, and returns the passes before it.
  [[nodiscard]] std::uint64_t count() {
    std::uint64_t before = 0;
    words_.fetch_add(at_, &word::count, one_pass, before);
    words_.flush(at_);
    return before;
  }
  void reset() {
    words_.accumulate(at_, &word::count, no_passes, far_op::replace);
    words_.flush(at_);  // before the next turn counts
  }

 private:
  static constexpr std::uint64_t one_pass = 1;
  static constexpr std::uint64_t no_passes = 0;
  struct alignas(slot_bytes) word {
    far<std::uint64_t> count;
  };
  typename W::template far_segment<word> words_;
  int at_;
};

template <world W>
class outer_pass_counter<W, pass_counter::direct> {
 public:
  outer_pass_counter(W& w, int /*home*/, int leader) : cells_(w), count_(&cells_.at(leader).count) {}
  // Relaxed and in two steps, because the local lock's hand-over orders all accesses.
  [[nodiscard]] std::uint64_t count() {
    const std::uint64_t before = count_->load(std::memory_order_relaxed);
    count_->store(before + 1, std::memory_order_relaxed);
    return before;
  }
  void reset() { count_->store(0, std::memory_order_relaxed); }

 private:
  struct alignas(cache_line) cell {
    typename W::template near<std::uint64_t> count{};
  };
  typename W::template near_segment<cell> cells_;
  typename W::template near<std::uint64_t>* count_;
};

template <world W>
class outer_pass_counter<W, pass_counter::inlined> {
 public:
  outer_pass_counter(W& /*w*/, int /*home*/, int /*leader*/) {}
};

/// The time at which the node got the lock. The local lock's hand-over makes it visible to all ranks of the
/// node.
template <world W, turn_limit By>
class turn_clock {
 public:
  static_assert(By == turn_limit::passes);
  turn_clock(W& /*w*/, int /*leader*/, std::chrono::nanoseconds /*longest*/) {}
  void begin() noexcept {}
  [[nodiscard]] static constexpr bool is_over() noexcept { return true; }
};

template <world W>
class turn_clock<W, turn_limit::time> {
 public:
  turn_clock(W& w, int leader, std::chrono::nanoseconds longest)
      : world_(&w), cells_(w), begun_(&cells_.at(leader).begun), longest_(longest) {}
  // Relaxed, because the local lock's hand-over orders all accesses.
  void begin() {
    begun_->store(static_cast<std::uint64_t>(world_->now().count()), std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_over() const {
    const auto begun = static_cast<std::int64_t>(begun_->load(std::memory_order_relaxed));
    return world_->now() - std::chrono::nanoseconds(begun) >= longest_;
  }

 private:
  struct alignas(cache_line) cell {
    typename W::template near<std::uint64_t> begun{};
  };
  W* world_;
  typename W::template near_segment<cell> cells_;
  typename W::template near<std::uint64_t>* begun_;
  std::chrono::nanoseconds longest_;
};

}  // namespace detail

/// Exclusive lock for all ranks of a world. See the file's comment.
template <cohort_global Global, cohort_local Local, cohort_policy Policy = cohort_policy{}>
class cohort_lock : public lockable<cohort_lock<Global, Local, Policy>, typename Global::world_type> {
 public:
  using world_type = typename Global::world_type;
  using status = typename Local::status;

  /// Collective. `home` is the global lock's; `of_local` are further constructor arguments of the local lock.
  /// Throws `misuse` unless `max_local_passes` is 1 to 254.
  template <typename... OfLocal>
  explicit cohort_lock(world_type& w, int home = 0, int max_local_passes = default_max_local_passes,
                       const OfLocal&... of_local)
    requires(Policy.turn == turn_limit::passes)
      : cohort_lock(
            w, home, {"max_local_passes", max_local_passes}, max_local_passes, {},
            [&] { return Global(w, home); }, of_local...) {}
  /// The same with a global lock that has queues on the level `outside` nodes, too.
  template <typename... OfLocal>
  explicit cohort_lock(world_type& w, int home, int max_local_passes, const tree_level& outside,
                       const OfLocal&... of_local)
    requires(Policy.turn == turn_limit::passes &&
             std::is_constructible_v<Global, world_type&, int, const tree_level&>)
      : cohort_lock(
            w, home, {"max_local_passes", max_local_passes}, max_local_passes, {},
            [&] { return Global(w, home, outside); }, of_local...) {}
  /// The same for turns limited by time. Throws `misuse` if `max_turn` is negative.
  template <typename... OfLocal>
  explicit cohort_lock(world_type& w, int home = 0, std::chrono::nanoseconds max_turn = default_max_turn,
                       const OfLocal&... of_local)
    requires(Policy.turn == turn_limit::time)
      : cohort_lock(
            w, home, {"max_turn_ns", max_turn.count()}, passes_between_looks, max_turn,
            [&] { return Global(w, home); }, of_local...) {}
  ~cohort_lock() noexcept(!checked_build) { this->expect_not_held(); }

  // The algorithm without the checks.

  handover acquire() {
    const typename Local::grant grant = local_.acquire_local();
    passes_ = grant.passes;
    waits_ = {.waited_within = grant.waited};
    if (passes_ != Local::from_above) return handover::local;
    const handover above = global_.acquire();
    waits_.asked_above = true;
    waits_.waited_above = above != handover::uncontended;
    clock_.begin();
    return above == handover::uncontended && grant.waited ? handover::waited : above;
  }

  /// Available if both locks have an attempt.
  [[nodiscard]] bool try_acquire()
    requires requires(Global& global, Local& local) {
      { global.try_acquire() } -> std::same_as<bool>;
      { local.try_acquire_local() } -> std::same_as<bool>;
    }
  {
    if (!local_.try_acquire_local()) return false;
    passes_ = Local::from_above;
    if (global_.try_acquire()) {
      clock_.begin();
      return true;
    }
    // A rank of this node may have queued up meanwhile; it has to acquire the global lock itself.
    local_.release_local(Local::from_above);
    return false;
  }

  void release() {
    if (!local_.alone() && pass_on()) return;
    if constexpr (Policy.counts != pass_counter::inlined) counter_.reset();
    // The node's queue node in the global lock must be free before another rank of the node can use it.
    global_.release();
    local_.release_local(Local::from_above);
  }

  /// The waits of this rank's last `acquire`.
  [[nodiscard]] level_waits last_waits() const noexcept { return waits_; }

  /// For locks that contain this one and whose other ranks acquire the global lock directly.
  [[nodiscard]] Global& above() noexcept { return global_; }

 private:
  template <std::invocable MakeGlobal, typename... OfLocal>
  cohort_lock(world_type& w, int home, const named_value& limit, int max_local_passes,
              std::chrono::nanoseconds max_turn, MakeGlobal make_global, const OfLocal&... of_local)
      : cohort_lock::lockable(w, {{"home", home}, limit}),
        max_passes_(static_cast<status>(checked_local_passes(max_local_passes))),
        global_(make_global()),
        local_(w, home, near_scope::node, of_local...),
        counter_(w, home, w.locality().leader(level::node, w.rank())),
        clock_(w, w.locality().leader(level::node, w.rank()), checked_turn(max_turn)) {}

  static constexpr int passes_between_looks = 16;
  static constexpr status one_pass = 1;

  /// The count that the successor gets: one pass more, up to the limit, but never `Local::from_above`.
  [[nodiscard]] status after(status passes) const noexcept {
    if (passes < max_passes_) return static_cast<status>(passes + 1);
    return Policy.turn == turn_limit::time ? one_pass : max_passes_;
  }

  /// Hands over to a waiting rank of this node unless the limit says that another node's turn has come.
  [[nodiscard]] bool pass_on() {
    if constexpr (Policy.counts == pass_counter::inlined) {
      if (passes_ >= max_passes_ && clock_.is_over() && must_give_up()) return false;
      local_.release_local(after(passes_));
    } else {
      if (counter_.count() >= max_passes_ && clock_.is_over() && must_give_up()) return false;
      local_.release_local(one_pass);
    }
    return true;
  }

  [[nodiscard]] bool must_give_up() {
    if constexpr (Policy.limit == pass_limit::when_wanted && requires { global_.is_wanted(); })
      return global_.is_wanted();
    else
      return true;
  }

  status max_passes_;
  status passes_ = Local::from_above;
  level_waits waits_{};
  Global global_;
  Local local_;
  [[no_unique_address]] detail::outer_pass_counter<world_type, Policy.counts> counter_;
  [[no_unique_address]] detail::turn_clock<world_type, Policy.turn> clock_;
};

/// The recommended setting: above, a queue of nodes whose last keeps the lock until another asks for it;
/// below, MCS in shared memory. A node that held the lock last acquires it again without a far operation,
/// wherever the home is; biased_queue.hpp says what other nodes pay.
template <world W>
using default_cohort_lock = cohort_lock<biased_queue<W>, mcs_lock<W>>;

}  // namespace nearfar
