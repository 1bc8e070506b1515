/// \file
/// The strategy of a channel without a buffer: a message goes directly from a sender to a receiver, and each
/// waits until the other is there.
///
/// Source: the rendezvous of C. Hoare, "Communicating sequential processes", CACM 21, 1978, doi
/// 10.1145/359576.359585. The lists of waiting threads are those of W. Scherer, D. Lea, M. Scott, "Scalable
/// synchronous queues", PPoPP 2006, doi 10.1145/1122971.1122994. Here they are under a lock, as in
/// crossbeam-channel's channels of capacity 0.
///
/// Senders wait in one list and receivers in another, first come, first served. Selections aside, at most one
/// of the lists has entries. An arriving thread takes the first entry off the other side's list, claims it,
/// and moves the message to it or from it after releasing the lock.
///
/// Linearization point, one for sending and receiving together: the claim. Progress: as the lock; a claimed
/// thread waits for the move of a message. Attempts meet waiting threads, too: a `put` succeeds if a receiver
/// waits.
///
/// Cost: two acquisitions of the lock and a compare-and-swap for both sides together; transfers of 4 lines,
/// and of those of the message; a system call if the other side sleeps. Memory: 3 lines, and one or more for
/// each waiting thread, or for each rank.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "nearfar/channel/buffer.hpp"
#include "nearfar/channel/channel_memory.hpp"
#include "nearfar/channel/event_count.hpp"
#include "nearfar/channel/locks.hpp"
#include "nearfar/channel/received.hpp"
#include "nearfar/channel/waiting_list.hpp"
#include "nearfar/core/layout.hpp"

namespace nearfar {

/// Strategy for messages of type `T` in `Memory`. See the file's comment.
template <typename Memory, typename T>
class rendezvous {
 public:
  static constexpr bool takes_capacity = false;
  static constexpr bool has_one_sender = false;
  static constexpr bool has_one_receiver = false;
  static constexpr auto put_order = detail::told_after::itself;
  static constexpr auto take_order = detail::told_after::itself;

  /// Collective for the memory of ranks.
  explicit rendezvous(Memory& memory) : memory_(&memory), lock_(memory), places_(memory) {}
  rendezvous(const rendezvous&) = delete;
  rendezvous& operator=(const rendezvous&) = delete;
  /// No thread may be waiting.
  ~rendezvous() = default;

  /// It never holds a message.
  [[nodiscard]] static constexpr std::size_t capacity() noexcept { return 0; }
  [[nodiscard]] static constexpr std::size_t count() noexcept { return 0; }

  /// Hands the message to a waiting receiver: `success`, `full` if none waits, or `closed`. The message is
  /// moved from only if it is sent.
  [[nodiscard]] queue_status put(T& value) { return send(value, nullptr, std::nullopt); }
  /// Takes the message of a waiting sender; `empty` if none waits, or `closed`.
  [[nodiscard]] received<T> take() { return receive(nullptr, std::nullopt); }

  /// Waits for a receiver: `success`, `closed`, or `full` once the deadline has passed.
  [[nodiscard]] queue_status put_until(T& value, const channel_deadline& deadline) {
    if (is_over(deadline)) return put(value);
    auto&& mine = places_.mine();
    return send(value, &mine, deadline);
  }
  /// Waits for a sender: a message, `closed`, or `empty` once the deadline has passed.
  [[nodiscard]] received<T> take_until(const channel_deadline& deadline) {
    if (is_over(deadline)) return take();
    auto&& mine = places_.mine();
    return receive(&mine, deadline);
  }

  /// Returns whether this call closed it. Nobody waits in a closed channel.
  bool close() { return set_closed(true); }
  /// Returns whether this call opened it again.
  bool reopen() { return set_closed(false); }
  [[nodiscard]] bool is_closed() const { return ends().is_closed.load(std::memory_order_relaxed) != 0; }

  // For selections, which wait in several channels at once (select.hpp).

  /// Entry of a waiting sender or receiver: the message that it lends, or a place for one.
  struct offer {
    alignas(cache_line) detail::list_link<Memory> link{};
    detail::waiter<Memory> own{};
    typename Memory::template loan<T> lent{};
    typename Memory::template slot<T> given{};
  };
  void acquire() { lock_.acquire(); }
  void release() { lock_.release(); }
  /// Called under the lock. Whether an attempt to send, or to receive, would succeed or find the channel
  /// closed.
  [[nodiscard]] bool is_ready(bool sends) {
    return ends().is_closed.load(std::memory_order_relaxed) != 0 ||
           (sends ? ends().receivers : ends().senders).template has_undecided<offer>();
  }
  /// Called under the lock.
  void enlist(offer& mine, bool sends) { (sends ? ends().senders : ends().receivers).append(mine); }
  /// Takes the entry off its list if it is still there.
  void withdraw(offer& mine, bool sends) {
    acquire();
    (sends ? ends().senders : ends().receivers).remove(mine);
    release();
  }

 private:
  struct both_ends {
    alignas(cache_line) detail::waiting_list<Memory> senders{};
    detail::waiting_list<Memory> receivers{};
    typename Memory::template near<std::uint32_t> is_closed{};
  };

 private:
  using list = detail::waiting_list<Memory>;
  using claimed = typename list::template claimed<offer>;

  [[nodiscard]] both_ends& ends() const { return places_.common(); }
  [[nodiscard]] bool is_over(const channel_deadline& deadline) const {
    return deadline && memory_->now() >= *deadline;
  }

  /// Returns true if the channel is closed. Otherwise claims the first entry of `there`; if there is none,
  /// appends `mine`, unless null, to `here`.
  [[nodiscard]] std::pair<bool, std::optional<claimed>> meet(list& there, list& here, offer* mine) {
    return channel_lock::with(lock_, [&]() -> std::pair<bool, std::optional<claimed>> {
      if (ends().is_closed.load(std::memory_order_relaxed) != 0) return {true, std::nullopt};
      auto other = there.template claim_first<offer>();
      if (!other && mine != nullptr) here.append(*mine);
      return {false, other};
    });
  }
  /// Returns the decision on the offer, which is then no longer listed.
  [[nodiscard]] std::uint32_t wait(offer& mine, bool sends, const channel_deadline& deadline) {
    const std::uint32_t state = detail::await_decision(*memory_, mine.own, deadline);
    if (!detail::decision::entry_of(state)) withdraw(mine, sends);
    return state;
  }
  static void make_ready(offer& mine) {
    mine.own.state.value.store(detail::decision::none, std::memory_order_relaxed);
    list::aim(mine, mine.own, 0);
  }

  [[nodiscard]] queue_status send(T& value, offer* mine, const channel_deadline& deadline) {
    for (;;) {
      if (mine != nullptr) {
        make_ready(*mine);
        mine->lent.lend(value);
      }
      const auto [closed, other] = meet(ends().receivers, ends().senders, mine);
      if (closed) return queue_status::closed;
      if (other) {
        detail::put_or(other->entry->given, value,
                       [&] { other->whom.settle(*memory_, detail::decision::again); });
        other->whom.settle(*memory_, detail::decision::done(other->number));
        return queue_status::success;
      }
      if (mine == nullptr) return queue_status::full;
      const std::uint32_t state = wait(*mine, true, deadline);
      if (detail::decision::entry_of(state)) return queue_status::success;
      if (state == detail::decision::none) return queue_status::full;
    }
  }
  [[nodiscard]] received<T> receive(offer* mine, const channel_deadline& deadline) {
    for (;;) {
      if (mine != nullptr) make_ready(*mine);
      const auto [closed, other] = meet(ends().senders, ends().receivers, mine);
      if (closed) return queue_status::closed;
      if (other)
        return detail::take_and<T>(
            other->entry->lent, [&] { other->whom.settle(*memory_, detail::decision::done(other->number)); });
      if (mine == nullptr) return queue_status::empty;
      const std::uint32_t state = wait(*mine, false, deadline);
      if (detail::decision::entry_of(state)) return mine->given.take();
      if (state == detail::decision::none) return queue_status::empty;
    }
  }

  bool set_closed(bool closes) {
    return channel_lock::with(lock_, [&] {
      both_ends& of = ends();
      if ((of.is_closed.load(std::memory_order_relaxed) != 0) == closes) return false;
      of.is_closed.store(closes ? 1 : 0, std::memory_order_relaxed);
      for (list* each : {&of.senders, &of.receivers}) each->template tell_all<offer>(*memory_);
      return true;
    });
  }

  Memory* memory_;
  channel_lock::parking<Memory> lock_;
  typename Memory::template with_waiters<both_ends, offer> places_;
};

}  // namespace nearfar
