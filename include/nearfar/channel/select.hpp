/// \file
/// Waits for the first of several channels that can send or receive, and performs that operation and no
/// other.
///
///     nearfar::select(
///         nearfar::on_receive(numbers, [&](nearfar::received<int> number) { ... }),
///         nearfar::on_send(results, std::move(result), [&](nearfar::queue_status status) { ... }));
///
/// Source: the select statement of Go ("The Go Programming Language Specification"), after the guarded
/// commands of C. Hoare, "Communicating sequential processes", 1978. Waiting is that of Go's runtime and of
/// crossbeam-channel (S. Glavina).
///
/// All cases are attempted in a random order, so that each of several ready cases is equally likely. If none
/// is ready, the waiter observes the events of the channels that have a buffer and attempts all cases again
/// (1). Then it lists itself at every rendezvous, holding the locks of all of them, which it acquires in the
/// order of their addresses (2): of two selections that could meet, the second therefore sees the first. At a
/// rendezvous, other threads may complete one of its cases for it. Of events at the other channels it is
/// told, and then begins anew.
///
/// A closed channel is ready: to send to, and, once it is empty, to receive from. Progress: as the channels;
/// a selection among buffers may in theory find each message taken by another thread, without end. For
/// threads only: an observer is known by its address in the process.
///
/// Cost: that of the attempts; a waiting thread also takes a lock for each case, twice. Memory: none beyond
/// the call.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "nearfar/channel/buffer.hpp"
#include "nearfar/channel/channel.hpp"
#include "nearfar/channel/channel_memory.hpp"
#include "nearfar/channel/event_count.hpp"
#include "nearfar/channel/received.hpp"
#include "nearfar/channel/waiting_list.hpp"
#include "nearfar/core/backoff.hpp"
#include "nearfar/core/error.hpp"

namespace nearfar {

namespace detail {

/// An operation on one channel that a selection may perform.
template <typename Memory>
class basic_case {
 public:
  basic_case() = default;
  basic_case(const basic_case&) = delete;
  basic_case& operator=(const basic_case&) = delete;
  virtual ~basic_case() = default;

  /// Whether it cannot happen again, because its message was sent.
  [[nodiscard]] virtual bool is_spent() const noexcept = 0;
  /// Returns whether it happened.
  [[nodiscard]] virtual bool attempt() = 0;
  /// From now on the waiter is told of events here, if the channel has any; `unwatch` ends that.
  virtual void watch(waiter<Memory>& whom, std::uint32_t number) = 0;
  virtual void unwatch() = 0;
  /// For a rendezvous: its identity; and, under its lock, whether a partner waits, and the list of waiting
  /// threads.
  [[nodiscard]] virtual const void* meeting_place() const noexcept = 0;
  virtual void acquire() = 0;
  virtual void release() = 0;
  [[nodiscard]] virtual bool is_ready() = 0;
  virtual void enlist() = 0;
  /// Another thread has made it happen at the rendezvous.
  virtual void complete() = 0;
  /// Calls the user's handler.
  virtual void report() = 0;
};

/// The parts of a channel that cases access.
struct case_access {
  template <typename Channel>
  static auto& memory(Channel& of) {
    return of.memory_;
  }
  template <typename Channel>
  static auto& buffer(Channel& of) {
    return of.buffer_;
  }
  template <typename Channel>
  static auto& event(Channel& of, bool sends) {
    return of.event(sends ? Channel::room : Channel::message);
  }
};

/// The entry of a case in its channel's list of waiting threads.
template <typename Memory, typename Buffer>
struct case_entry {
  observer<Memory> entry{};
};
template <typename Memory, typename Buffer>
  requires requires { typename Buffer::offer; }
struct case_entry<Memory, Buffer> {
  typename Buffer::offer entry{};
};

/// Sending or receiving, and the handler for the result. The words by which it waits are its own, or in near
/// memory.
template <typename Channel, bool sends, typename Handler>
class channel_case final : public basic_case<typename Channel::memory_type> {
  using memory_type = typename Channel::memory_type;
  using buffer = typename Channel::buffer_type;
  static constexpr bool meets = waiting_buffer<buffer, typename Channel::value_type>;

 public:
  using message = typename Channel::value_type;
  using words = case_entry<memory_type, buffer>;

  channel_case(Channel& channel, Handler handler, words* elsewhere = nullptr)
    requires(!sends)
      : channel_(&channel), handler_(std::move(handler)), words_(elsewhere) {}
  channel_case(Channel& channel, message&& value, Handler handler, words* elsewhere = nullptr)
    requires sends
      : channel_(&channel),
        handler_(std::move(handler)),
        words_(elsewhere),
        message_(std::addressof(value)) {}
  channel_case(Channel& channel, const message& value, Handler handler, words* elsewhere = nullptr)
    requires sends
      : channel_(&channel),
        handler_(std::move(handler)),
        words_(elsewhere),
        copy_(value),
        message_(std::addressof(*copy_)) {}

  [[nodiscard]] bool is_spent() const noexcept override {
    if constexpr (sends) return result_ == queue_status::success;
    return false;
  }
  [[nodiscard]] bool attempt() override {
    if constexpr (sends) {
      result_ = channel_->try_send(std::move(*message_));
      return *result_ != queue_status::full;
    } else {
      result_.emplace(channel_->try_receive());
      return result_->status() != queue_status::empty;
    }
  }
  void watch(waiter<memory_type>& whom, std::uint32_t number) override {
    if (words_ == nullptr) words_ = &own_.emplace();
    waiting_list<memory_type>::aim(words_->entry, whom, number);
    if constexpr (!meets)
      observe<order>(case_access::memory(*channel_), case_access::event(*channel_, sends), words_->entry);
    else if constexpr (sends)
      words_->entry.lent.lend(*message_);
  }
  void unwatch() override {
    if constexpr (meets)
      case_access::buffer(*channel_).withdraw(words_->entry, sends);
    else
      unobserve(case_access::memory(*channel_), case_access::event(*channel_, sends), words_->entry);
  }

  [[nodiscard]] const void* meeting_place() const noexcept override { return meets ? channel_ : nullptr; }
  void acquire() override {
    if constexpr (meets) case_access::buffer(*channel_).acquire();
  }
  void release() override {
    if constexpr (meets) case_access::buffer(*channel_).release();
  }
  [[nodiscard]] bool is_ready() override {
    if constexpr (meets) return case_access::buffer(*channel_).is_ready(sends);
    return false;
  }
  void enlist() override {
    if constexpr (meets) case_access::buffer(*channel_).enlist(words_->entry, sends);
  }
  void complete() override {
    if constexpr (meets && sends) result_ = queue_status::success;
    if constexpr (meets && !sends) result_.emplace(words_->entry.given.take());
  }
  void report() override { std::invoke(handler_, *std::move(result_)); }

 private:
  static constexpr told_after order = sends ? buffer::take_order : buffer::put_order;

  Channel* channel_;
  Handler handler_;
  words* words_;
  std::optional<words> own_;
  std::optional<std::conditional_t<sends, message, std::monostate>> copy_;
  message* message_ = nullptr;
  std::optional<std::conditional_t<sends, queue_status, received<message>>> result_;
};

/// Several cases, of which one is to happen.
template <typename Memory>
class selection {
 public:
  /// A case with the number by which its user knows it.
  struct numbered {
    basic_case<Memory>* of;
    std::uint32_t number;
  };
  using chosen = std::optional<std::uint32_t>;

  /// Reorders the cases. Throws `misuse` for a null pointer and for a case that is there twice.
  selection(waiter<Memory>& me, std::span<numbered> cases) : me_(&me), cases_(cases) {
    if (std::ranges::find(cases_, nullptr, &numbered::of) != cases_.end())
      throw misuse("a selection has a null pointer in place of a case");
    std::ranges::sort(cases_, std::less<>(), &numbered::of);
    if (std::ranges::adjacent_find(cases_, {}, &numbered::of) != cases_.end())
      throw misuse("a selection has a case twice: make one for each");
  }

  /// Returns the first case that happens at once.
  [[nodiscard]] chosen attempt() {
    for (const numbered& each : cases_)
      if (each.of->attempt()) return each.number;
    return std::nullopt;
  }
  /// The same in a random order. Throws `misuse` for a case that has sent its message in an earlier
  /// selection.
  template <typename Random>
  [[nodiscard]] chosen attempt_by(Random& random) {
    if (std::ranges::any_of(cases_, [](const numbered& each) { return each.of->is_spent(); }))
      throw misuse("a case has sent its message already: make a case for each message");
    std::shuffle(cases_.begin(), cases_.end(), random);
    return attempt();
  }
  /// Returns the first case that happens at once. If there is none, others may decide on the waiter from now
  /// on, until `conclude`.
  [[nodiscard]] chosen arrange() {
    me_->state.value.store(decision::none, std::memory_order_relaxed);
    for (const numbered& each : cases_) each.of->watch(*me_, each.number);
    try {
      if (const chosen result = attempt()) {  // (1)
        unwatch();
        return result;
      }
    } catch (...) {
      unwatch();
      throw;
    }
    enlist();
    return std::nullopt;
  }
  /// Returns the case that another thread made happen, according to the decision.
  [[nodiscard]] chosen conclude(std::uint32_t state) {
    unwatch();
    const chosen result = decision::entry_of(state);
    if (result) find(*result).complete();
    return result;
  }
  void report(std::uint32_t number) { find(number).report(); }

 private:
  void unwatch() {
    for (const numbered& each : cases_) each.of->unwatch();
  }
  [[nodiscard]] basic_case<Memory>& find(std::uint32_t number) const {
    return *std::find_if(cases_.begin(), cases_.end(), [=](const numbered& each) {
              return each.number == number;
            })->of;
  }
  /// Lists the cases, unless a partner waits: then an attempt does what is to be done.
  void enlist() {
    const auto place_of = [](const numbered& of) { return of.of->meeting_place(); };
    std::sort(cases_.begin(), cases_.end(), [&](const numbered& one, const numbered& other) {
      return std::less<>()(place_of(one), place_of(other));
    });
    const auto first = std::find_if(cases_.begin(), cases_.end(),
                                    [&](const numbered& of) { return place_of(of) != nullptr; });
    const auto for_each_place = [&](auto does) {
      for (auto each = first; each != cases_.end(); ++each)
        if (each == first || place_of(*each) != place_of(*std::prev(each))) does(*each->of);
    };
    for_each_place([](basic_case<Memory>& each) { each.acquire(); });  // (2)
    const bool is_ready =
        std::any_of(first, cases_.end(), [](const numbered& each) { return each.of->is_ready(); });
    if (!is_ready) std::for_each(first, cases_.end(), [](const numbered& each) { each.of->enlist(); });
    for_each_place([](basic_case<Memory>& each) { each.release(); });
    if (is_ready) static_cast<void>(decided<Memory>::on(*me_, decision::again));
  }

  waiter<Memory>* me_;
  std::span<numbered> cases_;
};

/// Waits until one of the cases has happened, or until the deadline.
template <typename Memory, typename Random>
[[nodiscard]] std::optional<std::uint32_t> select_among(Memory& memory, waiter<Memory>& me,
                                                        std::span<typename selection<Memory>::numbered> cases,
                                                        const channel_deadline& deadline, Random& random) {
  selection<Memory> all(me, cases);
  auto chosen = all.attempt_by(random);
  while (!chosen) {
    if (deadline && memory.now() >= *deadline) return std::nullopt;
    chosen = all.arrange();
    if (!chosen) chosen = all.conclude(await_decision(memory, me, deadline));
    if (!chosen) chosen = all.attempt_by(random);
  }
  all.report(*chosen);
  return chosen;
}

/// Random order of each thread, seeded by how many threads had one before, so that threads that select only
/// once do not all favour the same case.
[[nodiscard]] inline std::minstd_rand& selection_order() {
  static std::atomic<std::uint32_t> threads = 0;
  thread_local std::minstd_rand random = [] {
    // Neighbouring seeds differ in few bits, and the first numbers of the generator would, too.
    std::minstd_rand own(threads++ + 1);  // 0 would be the same as 1
    constexpr unsigned until_bits_are_spread = 8;
    own.discard(until_bits_are_spread);
    return own;
  }();
  return random;
}

[[nodiscard]] inline std::optional<std::size_t> select_by(
    std::span<typename selection<process_memory>::numbered> cases, const channel_deadline& deadline) {
  process_memory memory;
  waiter<process_memory> me;
  const auto chosen = select_among(memory, me, cases, deadline, selection_order());
  return chosen ? std::optional<std::size_t>(*chosen) : std::nullopt;
}
template <typename... Case>
[[nodiscard]] std::array<typename selection<process_memory>::numbered, sizeof...(Case)> numbered_cases(
    Case&... cases) {
  std::uint32_t number = 0;
  return {typename selection<process_memory>::numbered{&cases, number++}...};
}
[[nodiscard]] inline std::vector<typename selection<process_memory>::numbered> numbered_cases(
    std::span<basic_case<process_memory>* const> cases) {
  std::vector<typename selection<process_memory>::numbered> result;
  result.reserve(cases.size());
  for (basic_case<process_memory>* each : cases)
    result.push_back({each, static_cast<std::uint32_t>(result.size())});
  return result;
}

}  // namespace detail

/// Result of `on_send` and `on_receive`: one operation that may happen. Used by one selection at a time.
/// After it has sent its message it cannot be used again: a selection with it throws `misuse`.
using select_case = detail::basic_case<process_memory>;
template <typename T>
concept selectable = std::derived_from<std::remove_cvref_t<T>, select_case>;

/// Receives from the channel, and then calls `handler(received<T>)` with a message or `closed`.
template <typename Channel, std::invocable<received<typename Channel::value_type>> Handler>
  requires std::same_as<typename Channel::memory_type, process_memory>
[[nodiscard]] auto on_receive(Channel& from, Handler handler) {
  return detail::channel_case<Channel, false, Handler>(from, std::move(handler));
}
/// Sends to the channel, and then calls `handler(queue_status)` with `success` or `closed`. A message given
/// by `std::move` stays where it is, and is moved from only if it is sent. The case must not outlive
/// the message. If a move throws, so does the selection; the message may then be lost, so make a new case.
template <typename Channel, std::invocable<queue_status> Handler>
  requires std::same_as<typename Channel::memory_type, process_memory>
[[nodiscard]] auto on_send(Channel& to, typename Channel::value_type&& value, Handler handler) {
  return detail::channel_case<Channel, true, Handler>(to, std::move(value), std::move(handler));
}
template <typename Channel, std::invocable<queue_status> Handler>
  requires std::same_as<typename Channel::memory_type, process_memory>
[[nodiscard]] auto on_send(Channel& to, const typename Channel::value_type& value, Handler handler) {
  return detail::channel_case<Channel, true, Handler>(to, value, std::move(handler));
}

/// Waits until one of the cases has happened, and returns its index, from 0. The handler is called last, in
/// the caller's thread. Exceptions of a message's move, or of the handler, propagate.
template <selectable... Case>
  requires(sizeof...(Case) > 0)
std::size_t select(Case&&... cases) {
  auto all = detail::numbered_cases(cases...);
  return *detail::select_by(all, std::nullopt);
}
/// The same without waiting; returns nothing if no case is ready.
template <selectable... Case>
std::optional<std::size_t> try_select(Case&&... cases) {
  auto all = detail::numbered_cases(cases...);
  return detail::select_by(all, std::chrono::nanoseconds::min());
}
/// The same with a deadline, a time of the steady clock; returns nothing once it has passed.
template <selectable... Case>
std::optional<std::size_t> select_until(std::chrono::nanoseconds deadline, Case&&... cases) {
  auto all = detail::numbered_cases(cases...);
  return detail::select_by(all, deadline);
}
template <typename Rep, typename Period, selectable... Case>
std::optional<std::size_t> select_for(std::chrono::duration<Rep, Period> span, Case&&... cases) {
  return select_until(later(process_memory::now(), in_nanoseconds(span)), cases...);
}

/// The same for any number of cases, each once. Throws `misuse` if there is none, since it would wait without
/// end, and for a case that is there twice, is null, or has sent its message. A case kept in a variable must
/// not outlive the message that it sends, which it knows only by address.
inline std::size_t select(std::span<select_case* const> cases) {
  if (cases.empty()) throw misuse("a selection without cases never ends: give it one, or a deadline");
  auto all = detail::numbered_cases(cases);
  return *detail::select_by(all, std::nullopt);
}
inline std::optional<std::size_t> try_select(std::span<select_case* const> cases) {
  auto all = detail::numbered_cases(cases);
  return detail::select_by(all, std::chrono::nanoseconds::min());
}
inline std::optional<std::size_t> select_until(std::chrono::nanoseconds deadline,
                                               std::span<select_case* const> cases) {
  auto all = detail::numbered_cases(cases);
  return detail::select_by(all, deadline);
}
template <typename Rep, typename Period>
std::optional<std::size_t> select_for(std::chrono::duration<Rep, Period> span,
                                      std::span<select_case* const> cases) {
  return select_until(later(process_memory::now(), in_nanoseconds(span)), cases);
}

}  // namespace nearfar
