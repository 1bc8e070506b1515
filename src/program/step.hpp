// The next step of a process of an execution.
#pragma once

#include <cstdint>
#include <string>

#include "footprint.hpp"

namespace nearfar::program {

/// A rank, or an operation of a rank that is in flight.
struct process {
  std::int32_t rank = 0;
  std::uint32_t flight = 0;  ///< 0 is the rank itself; its operations count from 1
  friend bool operator==(const process&, const process&) noexcept = default;
};

/// Where an operation in flight takes effect, for those who look at a schedule.
struct destination {
  int rank = -1;  ///< of MPI_COMM_WORLD; -1: where it began
  bool is_message = false;
};

/// A rank stops at each step, and the search decides which process takes its step next. Steps lie on the
/// stacks of ranks, which are given up without unwinding, so nothing in a step owns memory.
class step {
 public:
  virtual bool is_enabled() { return true; }
  virtual void touch(footprint&) {}
  /// The number of outcomes; the search tries each.
  virtual int choices() { return 1; }
  virtual void take(int /*choice*/) {}
  /// Whether the step is to be taken only where no other process can go on.
  virtual bool is_last_resort() { return false; }
  /// Whether what is in flight is delivered even if no rank completes it.
  virtual bool is_certain() { return true; }
  /// Completes "rank 1 ...", such as "waits in MPI_Barrier for rank 0".
  virtual void describe(std::string& to) const = 0;
  [[nodiscard]] virtual destination goes_to() const { return {}; }

  /// A hash of the bytes that `take` read, and whether it changed any: turns of a waiting loop are compared
  /// by both.
  std::uint64_t seen = 0;
  bool changed = true;
  bool is_sleep = false;         ///< the step is no part of the program's loop
  bool awaits_arrivals = false;  ///< the step saw that ranks have not called a collective yet

 protected:
  ~step() = default;
};

}  // namespace nearfar::program
