/// \file
/// A thread that watches over calls that may never return.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

namespace nearfar::command {

/// Calls back, once and from a thread of its own, when it is not rearmed in time. It sleeps until it is
/// armed. Time in which the whole process was stopped does not count.
class watchdog {
 public:
  explicit watchdog(std::function<void()> alarm)
      : alarm_(std::move(alarm)), thread_([this](const std::stop_token& stopped) { watch(stopped); }) {}

  /// From now on the alarm is due after `limit`.
  void arm(std::chrono::nanoseconds limit) {
    const std::scoped_lock hold(guard_);
    left_ = limit;
    ++armed_;
    changed_.notify_all();
  }

  /// No alarm is due until it is armed again.
  void rest() { arm(std::chrono::nanoseconds::max()); }

 private:
  void watch(const std::stop_token& stopped) {
    std::unique_lock hold(guard_);
    changed_.wait(hold, stopped, [&] { return armed_ != 0; });
    constexpr std::chrono::nanoseconds tick = std::chrono::milliseconds(500);
    while (!stopped.stop_requested()) {
      const unsigned seen = armed_;
      const std::chrono::nanoseconds span = std::min(tick, left_);
      if (changed_.wait_for(hold, stopped, span, [&] { return armed_ != seen; }) || stopped.stop_requested())
        continue;
      left_ -= span;
      if (left_ > std::chrono::nanoseconds::zero()) continue;
      hold.unlock();
      alarm_();
      return;
    }
  }

  std::function<void()> alarm_;
  std::mutex guard_;
  std::condition_variable_any changed_;
  std::chrono::nanoseconds left_{};
  unsigned armed_ = 0;
  std::jthread thread_;
};

}  // namespace nearfar::command
