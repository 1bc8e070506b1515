/// \file
/// Channels for coroutines: `co_await async_receive(channel)` occupies no thread while it waits.
///
///     nearfar::task doubles(nearfar::channel<int>& from, nearfar::channel<int>& to) {
///       while (const auto number = co_await nearfar::async_receive(from))
///         co_await nearfar::async_send(to, 2 * *number);
///       to.close();
///     }
///     nearfar::executor all(2);
///     all.spawn(doubles(numbers, results));
///     all.wait();
///
/// Source: the waiting is that of select.hpp. That a coroutine is woken by a job in a queue, and not by the
/// thread that sends the message, is what P2300, "std::execution", calls a scheduler (there `run_loop`).
///
/// A waiting coroutine observes its channels, or is listed at them, and then marks itself as suspended (1). A
/// thread that decides on it after that posts it to its executor, where it concludes, or tries and waits
/// again. A thread that decides before does nothing: the coroutine sees the decision and does not suspend.
/// Coroutines, and threads that wait for the same channels, are told alike.
///
/// Cost: no memory beyond the coroutine's; one acquisition of the executor's lock each time a coroutine
/// resumes.
#pragma once

// clang-format off: it precedes <coroutine>, which would only say that it cannot be included
#include "nearfar/language.hpp"
// clang-format on

#include <array>
#include <atomic>
#include <condition_variable>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "nearfar/channel/channel_memory.hpp"
#include "nearfar/channel/received.hpp"
#include "nearfar/channel/select.hpp"
#include "nearfar/channel/waiting_list.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/core/layout.hpp"

namespace nearfar {

class executor;

/// Return type of a coroutine that runs on an executor. `executor::spawn` starts it; a task that is never
/// spawned never runs. It has no value.
class [[nodiscard]] task {
 public:
  class promise_type;

  task(task&&) noexcept = default;
  task& operator=(task&&) noexcept = default;

 private:
  friend class executor;
  struct destroy {
    void operator()(promise_type* of) const noexcept;
  };
  explicit task(promise_type& of) noexcept : promise_(&of) {}

  std::unique_ptr<promise_type, destroy> promise_;
};

/// Threads that run coroutines, each until it has to wait. Any thread may call any member.
class executor {
 public:
  /// Work that one of the threads runs once. Its owner keeps it alive until then.
  class job {
   public:
    job() = default;
    job(const job&) = delete;
    job& operator=(const job&) = delete;
    virtual ~job() = default;

    virtual void run() noexcept = 0;

   private:
    friend class executor;
    job* next_ = nullptr;
  };

  /// Throws `misuse` for 0 threads.
  explicit executor(std::size_t threads = 1) {
    if (threads == 0) throw misuse("an executor needs at least 1 thread");
    threads_.reserve(threads);
    try {
      for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
    } catch (...) {
      stop();
      throw;
    }
  }
  executor(const executor&) = delete;
  executor& operator=(const executor&) = delete;
  /// Waits as `wait` does. Exceptions of the coroutines are lost.
  ~executor() {
    std::unique_lock lock(mutex_);
    all_ended_.wait(lock, [&] { return running_ == 0; });
    lock.unlock();
    stop();
  }

  /// Starts the task on one of the threads.
  inline void spawn(task what);
  /// Waits until all spawned tasks have ended, and throws the first exception that one of them ended with. A
  /// task that waits for a channel does not end: close the channel. Must not be called from a coroutine of
  /// this executor.
  void wait() {
    std::unique_lock lock(mutex_);
    all_ended_.wait(lock, [&] { return running_ == 0; });
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }
  void post(job& what) noexcept {
    const std::scoped_lock lock(mutex_);
    what.next_ = nullptr;
    (last_ == nullptr ? first_ : last_->next_) = &what;
    last_ = &what;
    changed_.notify_one();  // inside the lock: once the job has run, the executor may be destroyed
  }

 private:
  friend class task::promise_type;

  void stop() noexcept {
    {
      const std::scoped_lock lock(mutex_);
      is_over_ = true;
    }
    changed_.notify_all();
  }
  void run() {
    for (std::unique_lock lock(mutex_);;) {
      changed_.wait(lock, [&] { return first_ != nullptr || is_over_; });
      if (first_ == nullptr) return;
      job& next = *first_;
      first_ = next.next_;
      if (first_ == nullptr) last_ = nullptr;
      lock.unlock();
      next.run();
      lock.lock();
    }
  }
  void ended() noexcept {
    const std::scoped_lock lock(mutex_);
    if (--running_ == 0) all_ended_.notify_all();
  }
  void failed(std::exception_ptr by) noexcept {
    const std::scoped_lock lock(mutex_);
    if (!failure_) failure_ = std::move(by);
  }

  std::mutex mutex_;
  std::condition_variable changed_;  ///< there is a job, or there will be no more
  std::condition_variable all_ended_;
  job* first_ = nullptr;
  job* last_ = nullptr;
  std::size_t running_ = 0;
  bool is_over_ = false;
  std::exception_ptr failure_;
  std::vector<std::jthread> threads_;
};

class task::promise_type final : public executor::job {
 public:
  [[nodiscard]] task get_return_object() noexcept { return task(*this); }
  // Compilers call these through an object, so they are not static.
  // NOLINTBEGIN(readability-convert-member-functions-to-static)
  [[nodiscard]] std::suspend_always initial_suspend() noexcept { return {}; }
  [[nodiscard]] auto final_suspend() noexcept {
    struct at_the_end {
      [[nodiscard]] bool await_ready() noexcept { return false; }
      void await_suspend(std::coroutine_handle<promise_type> self) noexcept {
        executor* on = self.promise().on_;
        self.destroy();
        on->ended();
      }
      void await_resume() noexcept {}
    };
    return at_the_end();
  }
  void return_void() noexcept {}
  // NOLINTEND(readability-convert-member-functions-to-static)
  void unhandled_exception() noexcept { on_->failed(std::current_exception()); }

  /// The executor on which it runs.
  [[nodiscard]] executor& runs_on() const noexcept { return *on_; }

  /// Alignment of a coroutine's frame, and so the largest of what it may hold. Compilers do not request more
  /// than the default alignment themselves.
  static constexpr std::align_val_t frame_alignment{cache_line};
  static void* operator new(std::size_t bytes) { return ::operator new(bytes, frame_alignment); }
  static void operator delete(void* at) noexcept { ::operator delete(at, frame_alignment); }
  void run() noexcept override { std::coroutine_handle<promise_type>::from_promise(*this).resume(); }

 private:
  friend class executor;
  executor* on_ = nullptr;
};

inline void task::destroy::operator()(promise_type* of) const noexcept {
  std::coroutine_handle<promise_type>::from_promise(*of).destroy();
}

inline void executor::spawn(task what) {
  if (!what.promise_) throw misuse("a task is spawned once");
  {
    const std::scoped_lock lock(mutex_);
    ++running_;
  }
  task::promise_type& promise = *what.promise_.release();
  promise.on_ = this;
  post(promise);
}

namespace detail {

/// Awaits the first of several cases.
class awaited_cases : private executor::job {
 public:
  using numbered = selection<process_memory>::numbered;

  awaited_cases(const awaited_cases&) = delete;
  awaited_cases& operator=(const awaited_cases&) = delete;
  ~awaited_cases() override = default;

  [[nodiscard]] bool await_ready() {
    chosen_ = cases_.attempt_by(selection_order());
    return chosen_.has_value();
  }
  [[nodiscard]] bool await_suspend(std::coroutine_handle<task::promise_type> self) {
    self_ = self;
    me_.resume = [](waiter<process_memory>& whom) {
      auto& of = static_cast<known_waiter&>(whom);
      of.owner->self_.promise().runs_on().post(*of.owner);
    };
    return !goes_on();
  }

 protected:
  explicit awaited_cases(std::span<numbered> cases) : cases_(me_, cases) { me_.owner = this; }
  std::size_t finish() {
    if (failure_) std::rethrow_exception(failure_);
    cases_.report(*chosen_);
    return *chosen_;
  }

 private:
  struct known_waiter : waiter<process_memory> {
    awaited_cases* owner = nullptr;
  };

  /// Returns true if a case has happened. If false, the coroutine is suspended, and may already have been
  /// resumed and destroyed.
  [[nodiscard]] bool goes_on() {
    for (;;) {
      chosen_ = cases_.arrange();
      if (chosen_) return true;
      std::uint32_t state = decision::none;
      if (me_.state.value.compare_exchange(state, decision::suspended, std::memory_order_release,
                                           std::memory_order_acquire))
        return false;  // (1)
      process_memory memory;
      chosen_ = cases_.conclude(await_decision(memory, me_, std::nullopt));
      if (chosen_) return true;
    }
  }
  /// Called on the executor after a decision on the suspended coroutine.
  void run() noexcept override {
    try {
      process_memory memory;
      chosen_ = cases_.conclude(await_decision(memory, me_, std::nullopt));
      if (!chosen_ && !goes_on()) return;
    } catch (...) {
      failure_ = std::current_exception();
    }
    self_.resume();
  }

  known_waiter me_;
  selection<process_memory> cases_;
  selection<process_memory>::chosen chosen_;
  std::exception_ptr failure_;
  std::coroutine_handle<task::promise_type> self_;
};

template <std::size_t count>
class awaited_selection : private std::array<awaited_cases::numbered, count>, public awaited_cases {
  using all = std::array<numbered, count>;

 public:
  explicit awaited_selection(const all& cases) : all(cases), awaited_cases(static_cast<all&>(*this)) {}
  std::size_t await_resume() { return finish(); }
};

/// Awaits one case and returns its result.
template <typename Result, typename MakeCase>
class awaited_one {
  static_assert(alignof(Result) <= static_cast<std::size_t>(task::promise_type::frame_alignment),
                "a coroutine's frame has no place for a message of that alignment: send it by a pointer");

  struct keep {
    std::optional<Result>* where;
    void operator()(Result&& result) const { where->emplace(std::move(result)); }
  };
  using case_type = std::invoke_result_t<const MakeCase&, keep>;

 public:
  explicit awaited_one(const MakeCase& make)
      : case_(make(keep{&result_})), waiting_({awaited_cases::numbered{&case_, 0}}) {}

  [[nodiscard]] bool await_ready() { return waiting_.await_ready(); }
  [[nodiscard]] bool await_suspend(std::coroutine_handle<task::promise_type> self) {
    return waiting_.await_suspend(self);
  }
  Result await_resume() {
    waiting_.await_resume();
    return *std::move(result_);
  }

 private:
  std::optional<Result> result_;
  case_type case_;
  awaited_selection<1> waiting_;
};

/// Must be awaited in the expression that creates it, since the objects that it refers to may end there.
/// Awaiting it from a variable does not compile.
template <typename Make>
class awaitable {
 public:
  explicit awaitable(const Make& make) : make_(make) {}
  [[nodiscard]] auto operator co_await() && { return make_(); }

 private:
  Make make_;
};

template <typename Result, typename MakeCase>
[[nodiscard]] auto await_one(const MakeCase& make) {
  return awaitable([make] { return awaited_one<Result, MakeCase>(make); });
}

}  // namespace detail

/// As `receive`, for a `task` to await in the expression that calls it.
template <typename Channel>
[[nodiscard]] auto async_receive(Channel& from) {
  return detail::await_one<received<typename Channel::value_type>>(
      [&from](auto keep) { return on_receive(from, keep); });
}
/// As `send`, for a `task` to await in the expression that calls it. The message is moved from only if it is
/// sent.
template <typename Channel>
[[nodiscard]] auto async_send(Channel& to, typename Channel::value_type&& value) {
  return detail::await_one<queue_status>(
      [&to, &value](auto keep) { return on_send(to, std::move(value), keep); });
}
template <typename Channel>
[[nodiscard]] auto async_send(Channel& to, const typename Channel::value_type& value) {
  return detail::await_one<queue_status>([&to, &value](auto keep) { return on_send(to, value, keep); });
}
/// As `select`, for a `task` to await in the expression that calls it.
template <selectable... Case>
  requires(sizeof...(Case) > 0)
[[nodiscard]] auto async_select(Case&&... cases) {
  return detail::awaitable(
      [all = detail::numbered_cases(cases...)] { return detail::awaited_selection<sizeof...(Case)>(all); });
}

}  // namespace nearfar
