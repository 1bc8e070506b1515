/// \file
/// Ticket lock over RMA.
///
/// Source: J. Mellor-Crummey, M. Scott, "Algorithms for scalable synchronization on shared-memory
/// multiprocessors", 1991, doi 10.1145/103727.103729. The form over RMA is that of A. Uffmann's master
/// thesis, LMU Munich, 2022, section 5.4.1. There the next ticket and the ticket that is served are two
/// words. Here one word has the next ticket, and the number of tickets that are taken and not yet given back.
/// So a rank that takes a ticket learns at once whose turn it is. The ticket begins again after 2^40, and the
/// count never exceeds the number of ranks.
///
/// A write that has been seen need not be complete: the words are written by sums only, which exclude each
/// other, and are never reset.
///
/// Fairness: first come, first served (bound 0). Progress: an acquiring rank waits for its predecessors only,
/// by far operations at the home rank, each of which waits until the home enters MPI where the transport has
/// no hardware support. There is no `try_acquire`: MPI promises no atomicity between sums and a
/// compare-and-swap.
///
/// Cost in far operations, each completed by a flush: lock 1 atomic at home, with `ticket_place::apart` 2,
/// and while it waits 1 for each poll, on the home's node none; unlock 1 atomic at home. Memory: 64 bytes of
/// far memory for each rank.
#pragma once

#include <cstdint>

#include "nearfar/core/layout.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/lock/lockable.hpp"
#include "nearfar/lock/participant.hpp"
#include "nearfar/memory/nearest_access.hpp"

namespace nearfar {

/// The word that has a ticket lock's next ticket.
enum class ticket_place : std::uint8_t {
  together,  ///< the word that says which ticket is served
  apart,     ///< a word of its own, as published
};

/// Exclusive lock for all ranks of a world. See the file's comment.
template <world W, ticket_place Place = ticket_place::together>
class ticket_lock : public lockable<ticket_lock<W, Place>, W> {
 public:
  using world_type = W;
  /// The ranks of a node share a ticket if another lock admits one at a time: any of them may release.
  static constexpr participant queued = participant::node;

  /// Collective. `home` keeps the words.
  explicit ticket_lock(W& w, int home = 0)
      : ticket_lock::lockable(w, {{"home", home}}), world_(&w), words_(w), home_(checked_rank(w, home)) {}
  ~ticket_lock() noexcept(!checked_build) { this->expect_not_held(); }

  // The algorithm without the checks, for locks that are built on this one.

  handover acquire() {
    if constexpr (Place == ticket_place::together) {
      const tickets before{add(&words::state, tickets::take)};
      if (before.taken() == 0) return handover::uncontended;
      return await_turn([mine = before.next()](std::uint64_t now) { return tickets{now}.served() == mine; });
    } else {
      return await_turn([mine = add(&words::next, one)](std::uint64_t now) { return now == mine; });
    }
  }

  void release() {
    words_.accumulate(home_, &words::state, Place == ticket_place::together ? tickets::give_back : one,
                      far_op::sum);
    words_.flush(home_);
  }

 private:
  /// The word that has both numbers.
  struct tickets {
    static constexpr unsigned count_bits = 24;
    // Origins of far operations, so they must be objects.
    static constexpr std::uint64_t take = (std::uint64_t{1} << count_bits) + 1;
    static constexpr std::uint64_t give_back = ~std::uint64_t{0};  ///< subtracts 1

    std::uint64_t bits;

    [[nodiscard]] constexpr std::uint64_t next() const noexcept { return bits >> count_bits; }
    [[nodiscard]] constexpr std::uint64_t taken() const noexcept {
      return bits & ((std::uint64_t{1} << count_bits) - 1);
    }
    [[nodiscard]] constexpr std::uint64_t served() const noexcept {
      return (next() - taken()) & (~std::uint64_t{0} >> count_bits);
    }
  };
  static constexpr std::uint64_t one = 1;

  struct alignas(slot_bytes) words {
    far<std::uint64_t> state;  ///< the tickets, or with `apart` the one that is served
    far<std::uint64_t> next;   ///< with `apart`: the next ticket
  };
  using word = far<std::uint64_t> words::*;

  [[nodiscard]] std::uint64_t add(word to, const std::uint64_t& what) {
    words_.fetch_add(home_, to, what, before_);
    words_.flush(home_);
    return before_;
  }
  template <typename Predicate>
  [[nodiscard]] handover await_turn(Predicate predicate) {
    const nearest_access<W, far_read::fetch> at_home(*world_, home_);
    const bool has_waited = at_home.look_and_await(words_, home_, &words::state, before_, predicate);
    return has_waited ? handover::waited : handover::uncontended;
  }

  W* world_;
  typename W::template far_segment<words> words_;
  int home_;
  std::uint64_t before_ = 0;
};

}  // namespace nearfar
