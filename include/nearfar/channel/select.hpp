/// \file
/// Waiting for the first of several channels that can send, or receive: one of them does, and no other.
///
///     nearfar::select(
///         nearfar::on_receive(numbers, [&](nearfar::received<int> number) { ... }),
///         nearfar::on_send(results, std::move(result), [&](nearfar::queue_status status) { ... }));
///
/// Source: the select statement of Go ("The Go Programming Language Specification"), after the guarded
/// commands of C. Hoare, "Communicating sequential processes", 1978; waiting is that of Go's runtime and of
/// crossbeam-channel (S. Glavina).
///
/// All cases are attempted, in a random order, so that of several that are ready each is as likely. If none
/// is, the waiter observes the events of the channels that have a buffer, attempts all again (1), and lists
/// itself at every rendezvous, with the locks of all of them held, in the order of their addresses (2): so of
/// two selections that could meet the second sees the first. There others may complete one of its cases for
/// it; of what happens elsewhere it is told, and begins anew.
///
/// Closed is ready: to receive from, when it is empty, and to send to. Progress: as its channels; a selection
/// among buffers may in theory find each message taken by another, for ever. Threads only: what observes has
/// an address in the process.
///
/// Cost: that of the attempts; who waits, a lock for each case, twice. Memory: none beyond the call.
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

/// What may happen in one channel, if it is the first.
template <typename Memory>
class basic_case {
 public:
  basic_case() = default;
  basic_case(const basic_case&) = delete;
  basic_case& operator=(const basic_case&) = delete;
  virtual ~basic_case() = default;

  /// Whether it cannot happen again, as what it was to send is sent.
  [[nodiscard]] virtual bool is_spent() const noexcept = 0;
  /// Whether it happened.
  [[nodiscard]] virtual bool attempt() = 0;
  /// Has the waiter told what happens here, if anything is to be told of; and ends that.
  virtual void watch(waiter<Memory>& whom, std::uint32_t number) = 0;
  virtual void unwatch() = 0;
  /// A rendezvous: where it is, and with its lock whether there is somebody, and the list of those that wait.
  [[nodiscard]] virtual const void* meeting_place() const noexcept = 0;
  virtual void acquire() = 0;
  virtual void release() = 0;
  [[nodiscard]] virtual bool is_ready() = 0;
  virtual void enlist() = 0;
  /// Another made it happen there.
  virtual void complete() = 0;
  /// Tells its user.
  virtual void report() = 0;
};

/// What cases see of a channel.
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

/// What a case has in its channel's list of those that wait.
template <typename Memory, typename Buffer>
struct case_entry {
  observer<Memory> entry{};
};
template <typename Memory, typename Buffer>
  requires requires { typename Buffer::offer; }
struct case_entry<Memory, Buffer> {
  typename Buffer::offer entry{};
};

/// To send or to receive, and whom to tell what came of it. The words by which it waits are its own, or in
/// near memory.
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

/// Several cases of which one is to happen.
template <typename Memory>
class selection {
 public:
  /// With the number that its user knows it by.
  struct numbered {
    basic_case<Memory>* of;
    std::uint32_t number;
  };
  using chosen = std::optional<std::uint32_t>;

  /// The cases are put in another order as it goes. Throws `misuse` for a null pointer and for one that is
  /// there twice.
  selection(waiter<Memory>& me, std::span<numbered> cases) : me_(&me), cases_(cases) {
    if (std::ranges::find(cases_, nullptr, &numbered::of) != cases_.end())
      throw misuse("a selection has a null pointer in place of a case");
    std::ranges::sort(cases_, std::less<>(), &numbered::of);
    if (std::ranges::adjacent_find(cases_, {}, &numbered::of) != cases_.end())
      throw misuse("a selection has a case twice: make one for each");
  }

  /// The first that happens at once.
  [[nodiscard]] chosen attempt() {
    for (const numbered& each : cases_)
      if (each.of->attempt()) return each.number;
    return std::nullopt;
  }
  /// The same in a random order. Throws `misuse` for one that has sent its message in an earlier selection.
  template <typename Random>
  [[nodiscard]] chosen attempt_by(Random& random) {
    if (std::ranges::any_of(cases_, [](const numbered& each) { return each.of->is_spent(); }))
      throw misuse("what a case was to send is sent: make a case for each message");
    std::shuffle(cases_.begin(), cases_.end(), random);
    return attempt();
  }
  /// The first that happens at once; or from now on the waiter is decided upon, until `conclude`.
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
  /// What another made happen, by the decision.
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
  /// Unless somebody is there: then what is to be done is done by an attempt.
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

/// Waits until one of the cases has happened, or nothing has until the deadline.
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

/// Of each thread, by how many have had one before: threads that select once favour no case together.
[[nodiscard]] inline std::minstd_rand& selection_order() {
  static std::atomic<std::uint32_t> threads = 0;
  thread_local std::minstd_rand random = [] {
    // Neighbours differ in few bits; the seed sequence spreads them.
    std::seed_seq seed{threads++};
    return std::minstd_rand(seed);
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

/// What `on_send` and `on_receive` make: one thing that may happen. Used by one selection at a time.
/// One that has sent its message is of no more use: a selection with it throws `misuse`.
using select_case = detail::basic_case<process_memory>;
template <typename T>
concept selectable = std::derived_from<std::remove_cvref_t<T>, select_case>;

/// Receives from the channel, and then calls `handler(received<T>)`: with a message, or `closed`.
template <typename Channel, std::invocable<received<typename Channel::value_type>> Handler>
  requires std::same_as<typename Channel::memory_type, process_memory>
[[nodiscard]] auto on_receive(Channel& from, Handler handler) {
  return detail::channel_case<Channel, false, Handler>(from, std::move(handler));
}
/// Sends to the channel, and then calls `handler(queue_status)`: with `success` or `closed`. What is given by
/// `std::move` stays where it is, and is moved from only if it is sent: the case must not outlive it.
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

/// Waits until one of the cases has happened, and says which, from 0. Handlers are called last, in the
/// caller's thread. What a message's move, or the handler, throws is thrown on.
template <selectable... Case>
  requires(sizeof...(Case) > 0)
std::size_t select(Case&&... cases) {
  auto all = detail::numbered_cases(cases...);
  return *detail::select_by(all, std::nullopt);
}
/// The same at once, or nothing.
template <selectable... Case>
std::optional<std::size_t> try_select(Case&&... cases) {
  auto all = detail::numbered_cases(cases...);
  return detail::select_by(all, std::chrono::nanoseconds::min());
}
/// The same until a time of the steady clock, or nothing.
template <selectable... Case>
std::optional<std::size_t> select_until(std::chrono::nanoseconds deadline, Case&&... cases) {
  auto all = detail::numbered_cases(cases...);
  return detail::select_by(all, deadline);
}
template <typename Rep, typename Period, selectable... Case>
std::optional<std::size_t> select_for(std::chrono::duration<Rep, Period> span, Case&&... cases) {
  return select_until(later(process_memory::now(), in_nanoseconds(span)), cases...);
}

/// The same of any number of cases, each once. Throws `misuse` for none at all, for which it would wait for
/// ever, and for a case that is there twice, a null pointer, or sent already. A case that is kept in a
/// variable must not outlive what it sends: of a temporary it knows only where that was.
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
