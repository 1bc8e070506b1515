/// \file
/// Takes a rank's processor away at random, from inside and without permissions, as containers let every
/// program do.
///
/// At some moments, the same for all ranks of a machine, all ranks are put on one processor, so that only one
/// of them runs at a time. And at moments of its own a rank stops wherever it is, in a signal handler, for up
/// to a few milliseconds, while the others go on.
#pragma once

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <mutex>
#include <optional>
#include <random>
#include <stop_token>
#include <thread>
#include <vector>

namespace nearfar::bench {

/// Disturbs the constructing thread until the object is destroyed. The object's own thread calls no MPI.
class disturbance {
 public:
  explicit disturbance(std::uint32_t seed)
      : seed_(seed),
        disturbed_(gettid()),
        thread_([this](const std::stop_token& stopped) { run(stopped); }) {}
  disturbance(const disturbance&) = delete;
  disturbance& operator=(const disturbance&) = delete;
  ~disturbance() = default;

 private:
  using clock = std::chrono::steady_clock;
  /// Length of one moment.
  static constexpr std::chrono::milliseconds span{4};
  static constexpr long longest_stop = 3'000'000;  // ns
  /// Ignored by default, so that a late signal does no harm.
  static constexpr int signal_number = SIGURG;

  static void stop(int /*signal*/) {
    const int before = errno;
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    const timespec some{.tv_sec = 0, .tv_nsec = now.tv_nsec % longest_stop};
    nanosleep(&some, nullptr);
    errno = before;
  }
  static void handle_signal() {
    struct sigaction how {};
    how.sa_handler = stop;
    how.sa_flags = SA_RESTART;
    sigaction(signal_number, &how, nullptr);
  }

  void run(const std::stop_token& stopped) {
    handle_signal();
    cpu_set_t before;
    CPU_ZERO(&before);
    const bool is_known = sched_getaffinity(disturbed_, sizeof before, &before) == 0;
    const std::vector<std::size_t> processors = all_processors();
    std::minstd_rand random(seed_ ^ static_cast<std::uint32_t>(disturbed_));
    std::mutex guard;
    std::condition_variable_any changed;
    std::unique_lock hold(guard);
    std::optional<std::size_t> where;
    while (!stopped.stop_requested()) {
      const auto moment = clock::now().time_since_epoch() / span;
      // All ranks draw the same numbers here.
      std::minstd_rand alike(seed_ + static_cast<std::uint32_t>(moment));
      alike.discard(4);
      std::optional<std::size_t> chosen;
      if (alike() % 4 == 0 && !processors.empty()) chosen = processors[alike() % processors.size()];
      if (chosen != where && is_known) place(where = chosen, before);
      const auto end = clock::time_point((moment + 1) * span);
      if (random() % 2 == 0) {
        const auto left = std::max(end - clock::now(), clock::duration(1));
        changed.wait_for(hold, stopped, left * static_cast<int>(random() % 64) / 64, [] { return false; });
        tgkill(getpid(), disturbed_, signal_number);
      }
      changed.wait_until(hold, stopped, end, [] { return false; });
    }
    if (where && is_known) place(std::nullopt, before);
  }
  /// Moves the disturbed thread, or leaves it where it is if the system refuses.
  void place(const std::optional<std::size_t>& where, const cpu_set_t& otherwise) const {
    cpu_set_t one;
    CPU_ZERO(&one);
    if (where) CPU_SET(*where, &one);
    sched_setaffinity(disturbed_, sizeof one, where ? &one : &otherwise);
  }
  /// The processors that the system lets this thread use. The rank may be bound to fewer.
  [[nodiscard]] static std::vector<std::size_t> all_processors() {
    cpu_set_t all;
    CPU_ZERO(&all);
    for (std::size_t i = 0; i < CPU_SETSIZE; ++i) CPU_SET(i, &all);
    std::vector<std::size_t> result;
    if (sched_setaffinity(0, sizeof all, &all) != 0 || sched_getaffinity(0, sizeof all, &all) != 0)
      return result;
    for (std::size_t i = 0; i < CPU_SETSIZE; ++i)
      if (CPU_ISSET(i, &all)) result.push_back(i);
    return result;
  }

  std::uint32_t seed_;
  pid_t disturbed_;
  std::jthread thread_;
};

}  // namespace nearfar::bench
