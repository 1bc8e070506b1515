/// \file
/// The end of a benchmark that ctrl-C, a batch system's limit or a closed terminal tells to end.
#pragma once

#include <atomic>
#include <csignal>
#include <functional>
#include <string>
#include <thread>

namespace nearfar::command {

/// Waits for SIGINT, SIGTERM, SIGHUP and what batch systems send before those on a thread of its own, which
/// may do what a signal handler must not. Then the process ends with 128 + signal. To be made before any
/// other thread.
class interruption {
 public:
  /// `keep` gets the signal's name and returns what the user has to know besides, or nothing.
  using keeper = std::function<std::string(const std::string& signal)>;

  /// Processes other than that of rank 0 wait a little for it, and say nothing.
  interruption(int rank, keeper keep);
  interruption(const interruption&) = delete;
  interruption& operator=(const interruption&) = delete;
  ~interruption();

 private:
  void wait(int rank, const keeper& keep) const;

  sigset_t before_{};
  sigset_t awaited_{};
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

}  // namespace nearfar::command
