/// \file
/// How threads wait in a line for condition variables. `System` is any class with the members of
/// `c_library_line`, so the model checker runs the same code (tests/dropin/checked_dropin_test.cpp).
#pragma once

#include <atomic>

namespace nearfar::preload {

/// One thread that waits for a condition variable. The variable's address tells the thread from others in the
/// same line.
template <typename System>
struct waiter {
  typename System::template plain<const void*> condition{};
  typename System::template plain<waiter*> next{};
  typename System::template plain<bool> told{};
  typename System::condition own{};
};

/// The threads that wait for any of several condition variables, in the order of arrival. A mutex of the
/// system protects the line.
template <typename System>
class waiting_line {
  using waiter = preload::waiter<System>;
  using link = typename System::template plain<waiter*>;

 public:
  void lock() { System::lock(mutex_); }
  void unlock() { System::unlock(mutex_); }
  [[nodiscard]] typename System::mutex& mutex() { return mutex_; }

  /// Returns false if a thread may wait. A thread that signals while it holds the mutex of a waiting thread,
  /// or after that, gets false.
  [[nodiscard]] bool is_empty() const { return length_.load(std::memory_order_relaxed) == 0; }
  /// Empties the line in the child of a fork, where no thread waits.
  void forget_all() {
    System::make(mutex_);
    first_.store(nullptr);
    length_.store(0, std::memory_order_relaxed);
  }

  // The caller of these functions holds the line's mutex.

  void append(waiter& one) {
    link* at = &first_;
    while (at->load() != nullptr) at = &at->load()->next;
    one.next.store(nullptr);
    at->store(&one);
    length_.store(length_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  void remove(const waiter& one) {
    link* at = &first_;
    while (at->load() != &one) at = &at->load()->next;
    remove_at(*at);
  }
  /// Removes and wakes the threads that wait for one condition variable, at most `most` of them. Returns
  /// their number.
  unsigned tell(const void* condition, unsigned most) {
    unsigned count = 0;
    for (link* at = &first_; at->load() != nullptr && count < most;) {
      waiter& one = *at->load();
      if (one.condition.load() != condition) {
        at = &one.next;
        continue;
      }
      remove_at(*at);
      one.told.store(true);
      System::signal(one.own);
      ++count;
    }
    return count;
  }

 private:
  void remove_at(link& at) {
    at.store(at.load()->next.load());
    length_.store(length_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  }

  typename System::mutex mutex_ = System::unlocked();
  link first_{};
  typename System::template cell<unsigned> length_{};
};

/// One wait, from its start to its end, however it ends. The line's mutex is held throughout, except while
/// the thread sleeps. `User` locks and unlocks the program's mutex.
template <typename System, typename User>
class waiting_in_line {
  using waiter = preload::waiter<System>;
  using line = waiting_line<System>;

 public:
  waiting_in_line(line& at, waiter& one, const void* condition, User& user)
      : at_(&at), one_(&one), user_(&user) {
    one.condition.store(condition);
    one.told.store(false);
    at.lock();
    at.append(one);
    // Only after this unlock can another thread hold the mutex and signal, so no signal precedes the append.
    status_ = user.unlock();  // NOLINT(cppcoreguidelines-prefer-member-initializer)
  }
  waiting_in_line(const waiting_in_line&) = delete;
  waiting_in_line& operator=(const waiting_in_line&) = delete;
  /// Runs also if the thread is cancelled, because cancellation unwinds its stack.
  ~waiting_in_line() {
    if (!is_told()) at_->remove(*one_);
    // A cancelled thread that was signalled passes the signal on to another waiting thread.
    if (is_told() && !ended_) at_->tell(one_->condition.load(), 1);
    at_->unlock();
    if (status_ == 0) user_->lock();
  }

  /// Waits until another thread signals, or until the deadline. Returns 0 if this thread was signalled, else
  /// the error that ended the wait.
  [[nodiscard]] int wait(const typename System::deadline& until) {
    int status = status_;
    while (status == 0 && !is_told()) status = System::wait(one_->own, at_->mutex(), until);
    ended_ = true;
    return is_told() ? 0 : status;
  }

 private:
  [[nodiscard]] bool is_told() const { return one_->told.load(); }

  line* at_;
  waiter* one_;
  User* user_;
  int status_ = 0;  // result of the mutex's unlock
  bool ended_ = false;
};

/// Wakes at most `most` threads that wait for `condition`. Returns their number.
template <typename System>
unsigned tell_of_signal(waiting_line<System>& at, const void* condition, unsigned most) {
  if (at.is_empty()) return 0;
  at.lock();
  const unsigned told = at.tell(condition, most);
  at.unlock();
  return told;
}

}  // namespace nearfar::preload
