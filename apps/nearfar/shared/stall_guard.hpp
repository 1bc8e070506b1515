/// \file
/// The end of a benchmark in which a rank waits for ever: one line, status 1, and the results so far.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "apps/nearfar/shared/watchdog.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/memory/mpi/handles.hpp"

namespace nearfar::command {

/// When a benchmark counts as stalled.
struct stall_limits {
  std::chrono::nanoseconds wait{};  ///< longest wait of a rank
  std::chrono::nanoseconds step{};  ///< how long a rank may go on by itself between two waits

  // Ranks begin to wait for a rank that hangs up to a step apart, and rank 0 has the results. So it hears the
  // others for as long before it ends the job, and they give it the time for all that before they do.
  [[nodiscard]] std::chrono::nanoseconds hearing() const { return step + std::chrono::seconds(1); }
  [[nodiscard]] std::chrono::nanoseconds until_first_ends() const {
    return step + wait + hearing() + std::chrono::seconds(4);
  }
  /// Beyond all that ranks may wait in one step.
  [[nodiscard]] std::chrono::nanoseconds of_step() const { return step + 2 * wait + std::chrono::seconds(5); }
};

/// One of each process. It ends the run when a rank's wait has thrown `stalled`; and, from a thread of its
/// own, when a step does not come back from where the world cannot see it, such as a call of MPI.
class stall_guard {
 public:
  /// Puts what was measured in its place; gets what stalled and why. Returns what the user has to know
  /// besides, or nothing.
  using keeper = std::function<std::string(const std::string& what, const std::string& why)>;

  /// `rank` is that of the process. Without limits nothing is guarded. Each process has a
  /// `keep` of its own.
  stall_guard(int rank, std::optional<stall_limits> limits, keeper keep);

  /// The step `what` begins, such as "lock 'mcs'".
  void begin(const std::string& what);
  /// The step that has begun goes on.
  void beat();
  /// Nothing is to be expected of this process until the next beginning.
  void rest();

  /// Ends the job, on a rank of MPI that has stalled: by rank 0, if it stalls too, as it must if it is well.
  [[noreturn]] void end(const stalled& stall, const mpi::communicator& ranks);
  /// Ends the process, on a thread of a team of `ranks` that has stalled.
  [[noreturn]] void end(const stalled& stall, int ranks);

 private:
  [[nodiscard]] std::chrono::nanoseconds allowance() const;
  /// The known facts about the stall, in words.
  [[nodiscard]] std::string explanation(int ranks) const;
  /// Keeps and says. The first thread that comes here ends the process, so others do not return.
  void say(const std::string& why);
  void hear_others(const mpi::communicator& ranks);
  void wait_for_first(const std::string& mine, const mpi::communicator& ranks);

  int rank_;
  std::optional<stall_limits> limits_;
  keeper keep_;
  std::atomic_flag said_;
  mutable std::mutex guard_;
  std::condition_variable changed_;
  std::string what_ = "the benchmark";
  std::chrono::steady_clock::time_point began_;
  std::map<int, std::string> heard_;  // by rank: the text of its stall
  // Last, so that its thread ends before what it uses.
  std::optional<watchdog> dog_;
};

}  // namespace nearfar::command
