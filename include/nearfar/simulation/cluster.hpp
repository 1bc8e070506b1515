/// \file
/// The simulated cluster: every rank of a program in virtual time, on a machine that need not exist.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "nearfar/engine/world.hpp"
#include "nearfar/simulation/machine.hpp"
#include "nearfar/topology/locality.hpp"

namespace nearfar::simulation {

/// What a run is, besides the machine and the program.
struct options {
  std::uint64_t seed = 1;
  /// Memory of each rank's near and far words in bytes; used as it is touched.
  std::size_t bytes = std::size_t{4} << 20U;
  std::size_t stack_bytes = engine::stack_pool::default_bytes;
  /// Operations of all ranks in a row that change no word, after which the ranks are taken to go on for ever:
  /// a loop that waits outside the world's `await`, or by waits with deadlines, each of which counts as one.
  /// Seconds of the simulation's own time.
  std::uint64_t most_fruitless = 100'000'000;
};

/// What a run took.
struct run_statistics {
  std::uint64_t operations = 0;     ///< memory operations, flushes, signals and waits of all ranks
  std::uint64_t switches = 0;       ///< times that a rank went on after another or after an event
  std::chrono::nanoseconds span{};  ///< virtual time from the start until the last rank's end
};

/// What a result buffer holds from its operation's issue until the flush; of an object, again and again.
inline constexpr std::uint64_t poison = 0xdeadbeefdeadbeefU;

/// Runs `body` on every rank of `where`, to its end in virtual time. The same arguments give the same run.
///
/// A rank that throws ends the run at its time: the others are abandoned where they are, and what the lowest
/// rank threw is rethrown. Throws `engine::deadlock`, which says who waits for what, when no rank can go on,
/// as one that waits with a deadline always can, or all that happens is that words are read again and again;
/// `nearfar::error`, which names the field, for a machine whose costs cannot be.
run_statistics run(const machine& on, const locality& where, const std::function<void(engine::world&)>& body,
                   const options& chosen = {});

}  // namespace nearfar::simulation
