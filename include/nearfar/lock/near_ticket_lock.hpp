/// \file
/// Ticket lock in near memory, for the ranks of one node, also with a waiting array (TWA): alone, or as the
/// local lock of a cohort.
///
/// Source: J. Mellor-Crummey, M. Scott, "Algorithms for scalable synchronization on shared-memory
/// multiprocessors", 1991, doi 10.1145/103727.103729; as a local lock D. Dice, V. Marathe, N. Shavit, "Lock
/// cohorting", PPoPP 2012, doi 10.1145/2145816.2145848. There, and in A. Uffmann's master thesis, LMU Munich,
/// 2022, section 5.4.1, what is handed over lies beside the ticket that is served; here both are one word.
/// With a waiting array D. Dice, A. Kogan, "TWA - ticket locks augmented with a waiting array", Euro-Par
/// 2019, doi 10.1007/978-3-030-29400-7_24: a rank that is not the next waits elsewhere until it is. There all
/// locks of a process share an array, in which a hash of the ticket selects a place. Here each lock has a
/// place for each of its ranks, and no two of them wait at the same place.
///
/// Fairness: first come, first served (bound 0). Progress: an acquiring rank waits for its predecessors only.
///
/// Cost: no far operations. Cache-line transfers: uncontended 2, the line of the next ticket and that of the
/// ticket served; contended the latter for each waiting rank, at each release. With a waiting array 1 more at
/// each release; contended only 2, one for the next rank and one for the place of the rank behind it. Memory:
/// 128 bytes of near memory for each rank, with a waiting array 192.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include "nearfar/core/layout.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/lock/near_lockable.hpp"

namespace nearfar {

/// Where ranks wait for their tickets.
enum class ticket_waiting : std::uint8_t {
  at_ticket,  ///< all at the ticket that is served
  in_array,   ///< the next rank at that ticket, each of the others at a place of its own (TWA)
};

/// Where a holder finds its ticket.
enum class ticket_memory : std::uint8_t {
  rank,    ///< in the object of the rank that acquired
  served,  ///< in the word that says which ticket is served, so that another rank may release
};

/// Exclusive lock for the ranks of one node. See the file's comment.
template <near_world W, ticket_waiting Where = ticket_waiting::at_ticket,
          ticket_memory Holder = ticket_memory::rank>
class near_ticket_lock : public near_lockable<near_ticket_lock<W, Where, Holder>, W> {
  using base = near_lockable<near_ticket_lock<W, Where, Holder>, W>;

 public:
  using status = typename base::status;
  using grant = typename base::grant;

  /// Collective. `home` keeps the words; with `near_scope::node` each node's leader does. Throws
  /// `topology_error` if the ranks of one lock are not on one node.
  explicit near_ticket_lock(W& w, int home = 0, near_scope scope = near_scope::world)
      : base(w, {{"home", home}, {"scope", static_cast<std::int64_t>(scope)}}),
        world_(&w),
        nodes_(w),
        lock_(&nodes_.at(detail::home_of_near(w, home, scope))),
        places_(w.locality().members(level::node, w.locality().group(level::node, w.rank()))) {}
  /// Collective. A lock between the elements of a level.
  near_ticket_lock(W& w, const near_seat& seat)
    requires(Where == ticket_waiting::at_ticket && Holder == ticket_memory::served)
      : base(w, {}), world_(&w), nodes_(w), lock_(&nodes_.at(seat.owner)) {}
  ~near_ticket_lock() noexcept(!checked_build) { this->expect_not_held(); }

  grant acquire_local() {
    ticket_ = lock_->next.fetch_add(1, std::memory_order_relaxed);
    const turn at_once = turn::of(lock_->serving.load(std::memory_order_acquire));  // (1) pairs with (2)
    if (at_once.ticket == ticket_) return {at_once.passes, false};
    if constexpr (Where == ticket_waiting::in_array)
      if (!is_next()) await_being_next();
    const std::uint64_t mine = world_->await(
        lock_->serving, [this](std::uint64_t now) { return turn::of(now).ticket == ticket_; });  // as (1)
    return {turn::of(mine).passes, true};
  }

  [[nodiscard]] bool try_acquire_local() {
    const std::uint64_t served = turn::of(lock_->serving.load(std::memory_order_acquire)).ticket;  // as (1)
    std::uint64_t expected = served;
    // No rank is served before it has taken a ticket, so if `next` has not changed, `served` has not either.
    if (!lock_->next.compare_exchange(expected, served + 1, std::memory_order_relaxed,
                                      std::memory_order_relaxed))
      return false;
    ticket_ = served;
    return true;
  }

  [[nodiscard]] bool alone() const { return lock_->next.load(std::memory_order_relaxed) == held() + 1; }

  void release_local(status passes) {
    const turn next{.ticket = held() + 1, .passes = passes};
    lock_->serving.store(next.word(), std::memory_order_release);  // (2)
    if constexpr (Where == ticket_waiting::in_array)
      place_of(next.ticket + 1).fetch_add(1, std::memory_order_release);  // (3)
  }

 private:
  /// The ticket that is served, and what was handed over to it.
  struct turn {
    std::uint64_t ticket = 0;
    status passes = base::from_above;

    [[nodiscard]] static constexpr turn of(std::uint64_t word) noexcept {
      return {.ticket = word >> status_bits, .passes = static_cast<status>(word)};
    }
    [[nodiscard]] constexpr std::uint64_t word() const noexcept { return ticket << status_bits | passes; }

    static constexpr unsigned status_bits = 8;
  };
  struct nothing {};
  struct alignas(cache_line) place {
    typename W::template near<std::uint64_t> calls{};
  };
  struct alignas(cache_line) words {
    typename W::template near<std::uint64_t> next{};
    alignas(cache_line) typename W::template near<std::uint64_t> serving{};
    [[no_unique_address]] std::conditional_t<Where == ticket_waiting::in_array, place, nothing> waiting{};
  };

  /// The holder's ticket.
  [[nodiscard]] std::uint64_t held() const {
    if constexpr (Holder == ticket_memory::rank)
      return ticket_;
    else
      return turn::of(lock_->serving.load(std::memory_order_relaxed)).ticket;
  }
  /// Unique for each waiting ticket: there are as many places as ranks, and never more waiting tickets.
  [[nodiscard]] auto& place_of(std::uint64_t ticket) {
    return nodes_.at(places_[ticket % places_.size()]).waiting.calls;
  }
  [[nodiscard]] bool is_next() const {
    return ticket_ - turn::of(lock_->serving.load(std::memory_order_relaxed)).ticket <= 1;
  }
  /// A rank is called only after its predecessor is being served. A waiting rank that has seen the call sees
  /// that, too; one that has not seen it yet will be called.
  void await_being_next() {
    auto& mine = place_of(ticket_);
    const std::uint64_t before = mine.load(std::memory_order_acquire);  // pairs with (3)
    if (!is_next()) world_->await(mine, [before](std::uint64_t calls) { return calls != before; });
  }

  W* world_;
  typename W::template near_segment<words> nodes_;
  words* lock_;
  std::span<const int> places_;
  std::uint64_t ticket_ = 0;
};

}  // namespace nearfar
