/// \file
/// How threads wait in a line for condition variables, over any `System` that has what `c_library_line` has:
/// so the model checker runs the same text (tests/dropin/checked_dropin_test.cpp).
#pragma once

#include <atomic>

namespace nearfar::preload {

/// One thread that waits for a condition variable, whose address tells it from others of the line.
template <typename System>
struct waiter {
  typename System::template plain<const void*> condition{};
  typename System::template plain<waiter*> next{};
  typename System::template plain<bool> told{};
  typename System::condition own{};
};

/// Those that wait for any of several condition variables, in the order in which they came; by a mutex of the
/// system.
template <typename System>
class waiting_line {
  using waiter = preload::waiter<System>;
  using link = typename System::template plain<waiter*>;

 public:
  void lock() { System::lock(mutex_); }
  void unlock() { System::unlock(mutex_); }
  [[nodiscard]] typename System::mutex& mutex() { return mutex_; }

  /// Whether somebody may wait. Who signals while it holds the mutex of those that wait, or after that, sees
  /// that they do.
  [[nodiscard]] bool is_empty() const { return length_.load(std::memory_order_relaxed) == 0; }
  /// In the child of a fork nobody waits.
  void forget_all() {
    System::make(mutex_);
    first_.store(nullptr);
    length_.store(0, std::memory_order_relaxed);
  }

  // With the mutex held.

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
  /// Those of one variable, at most so many. Returns how many there were.
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

/// From the start of a wait to its end, whatever ends it: the line is locked in between. `User` locks and
/// unlocks the mutex of the program.
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
    // Only now may anybody signal who waits for that.
    status_ = user.unlock();  // NOLINT(cppcoreguidelines-prefer-member-initializer)
  }
  waiting_in_line(const waiting_in_line&) = delete;
  waiting_in_line& operator=(const waiting_in_line&) = delete;
  /// Also when the thread is cancelled, which unwinds it.
  ~waiting_in_line() {
    if (!is_told()) at_->remove(*one_);
    // A signal that this thread cannot use any more is for another.
    if (is_told() && !ended_) at_->tell(one_->condition.load(), 1);
    at_->unlock();
    if (status_ == 0) user_->lock();
  }

  /// Until the thread is told, or the deadline. Returns 0, or what else ended it.
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
  int status_ = 0;  // what unlocking the mutex returned
  bool ended_ = false;
};

/// Of at most so many that wait for that. Returns how many there were.
template <typename System>
unsigned tell_of_signal(waiting_line<System>& at, const void* condition, unsigned most) {
  if (at.is_empty()) return 0;
  at.lock();
  const unsigned told = at.tell(condition, most);
  at.unlock();
  return told;
}

}  // namespace nearfar::preload
