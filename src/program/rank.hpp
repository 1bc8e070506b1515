// One rank of an execution.
#pragma once

#include <array>
#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../checker/event_sets.hpp"
#include "clock.hpp"
#include "heap.hpp"
#include "image.hpp"
#include "run_memory.hpp"
#include "site.hpp"
#include "step.hpp"

namespace nearfar::program {

using checker::event_set;

/// Memory that the program must leave alone until an operation is complete.
struct pending_buffer {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  bool is_written = false;  ///< by the operation, so that the program may not even read it
  const char* call = nullptr;
  site where;
  std::uint64_t owner = 0;  ///< identifies the operation
};

/// A function that the program registered to be called at its exit.
struct exit_function {
  void (*function)(void*) = nullptr;
  void* argument = nullptr;
};

/// A call that the rank is in, as the compiler's hooks tell.
struct frame {
  const void* return_address;
  std::uintptr_t stack;
};

/// A step of a rank or of one of its operations, as far as two turns of a loop can be compared by it.
struct turn_step {
  std::uint64_t what = 0;  ///< a hash of its place, the bytes that it touched and what it saw there
  bool changed = false;
  std::size_t event = 0;
  bool awaits_arrivals = false;
  bool enters_mpi = false;  ///< since the step before, in a way that lets MPI progress
};

class rank {
 public:
  static constexpr std::size_t stack_bytes = std::size_t{8} << 20U;
  static constexpr std::size_t most_frames = 4096;
  static constexpr std::size_t guard_bytes = 4096;

  int number = 0;

  // ---- for all executions ----
  image program;
  heap memory;
  std::byte* stack = nullptr;
  std::vector<char*> arguments;
  std::vector<exit_function> kept_exit_functions;

  // ---- of this execution ----
  boost::context::detail::fcontext_t context = nullptr;
  step* next = nullptr;
  bool has_ended = false;
  event_set past;       ///< steps that precede the next one by dependence
  int last_event = -1;  ///< the rank's own last step
  vector_clock knows;
  std::vector<std::size_t> flights;  ///< the places of its operations, in the order of their numbers
  std::vector<exit_function> exit_functions;
  int saved_errno = 0;
  std::array<std::byte, 16> exceptions{};  ///< the C++ run-time's state of this rank
  std::array<frame, most_frames> frames;   // left as it is: only the first `depth` count
  std::size_t depth = 0;
  std::uintptr_t lowest_stack = 0;  ///< as far as the stack was ever used
  std::vector<pending_buffer> buffers;
  const char* call = nullptr;  ///< the function of MPI that the rank is in
  const void* call_site = nullptr;
  const void* last_access =
      nullptr;  ///< of the program's own code, which is the nearest that is known of a return
  std::uint64_t random = 1;
  char* next_token = nullptr;  ///< of strtok
  /// The program's functions for signals; null by default.
  std::array<void (*)(int), 65> signal_handlers{};
  std::uint64_t virtual_nanoseconds = 0;
  std::vector<turn_step> turns;  ///< the last steps
  int idle_turns = 0;            ///< of a loop in which nothing changes
  bool enters_mpi = false;       ///< since its last step, in a way that lets MPI progress
  bool was_inside = false;       ///< let MPI progress in one of these turns
  bool waits_outside = false;    ///< in a loop that does not let MPI progress, if `settings::needs_help`
  /// The accesses of the program, if `traces_course`, and null for its outputs.
  std::vector<const void*> course;

  /// Makes what the rank has done so far known by a copy of the clock. Its later steps are not part of it.
  [[nodiscard]] vector_clock publish() noexcept {
    vector_clock copy = knows;
    ++knows[number];
    return copy;
  }
  [[nodiscard]] moment now() const noexcept { return knows[number]; }
  /// The call of MPI that the rank is in, or the access at `pc`.
  [[nodiscard]] site here(const void* pc = nullptr) const noexcept;
};

}  // namespace nearfar::program
