/// \file
/// The simulated cluster: every rank of a program runs in virtual time, on a machine that need not exist.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "nearfar/engine/world.hpp"
#include "nearfar/simulation/machine.hpp"
#include "nearfar/topology/locality.hpp"

namespace nearfar::simulation {

/// Parameters of a run besides the machine and the program.
struct options {
  std::uint64_t seed = 1;
  /// Bytes of memory for each rank's near and far words. The system provides a page when a rank touches it.
  std::size_t bytes = std::size_t{4} << 20U;
  std::size_t stack_bytes = engine::stack_pool::default_bytes;
  /// The run ends as a hang after this many operations in a row, counted over all ranks, that change no word.
  /// Such a run contains a loop that waits outside the world's `await`, or by waits with deadlines, each of
  /// which counts as one operation. The default takes seconds of real time.
  std::uint64_t most_fruitless = 100'000'000;
};

/// The operations, switches and virtual time of a run.
struct run_statistics {
  std::uint64_t operations = 0;     ///< memory operations, flushes, signals and waits of all ranks
  std::uint64_t switches = 0;       ///< times that a rank went on after another or after an event
  std::chrono::nanoseconds span{};  ///< virtual time from the start until the last rank's end
};

/// The content of a result buffer from its operation's issue until the flush. A buffer of several words holds
/// it repeatedly.
inline constexpr std::uint64_t poison = 0xdeadbeefdeadbeefU;

/// Runs `body` on every rank of `where`, to its end in virtual time. The same arguments give the same run.
///
/// A rank that throws ends the run at that virtual time. The other ranks are abandoned where they are, and
/// the exception of the lowest rank that threw is rethrown. Throws `engine::deadlock`, which says which rank
/// waits for what, when no rank can go on, or when the ranks only read words again and again. A rank that
/// waits with a deadline can always go on. Throws `nearfar::error`, which names the field, for a machine with
/// impossible costs.
run_statistics run(const machine& on, const locality& where, const std::function<void(engine::world&)>& body,
                   const options& chosen = {});

}  // namespace nearfar::simulation
