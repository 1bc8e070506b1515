/// \file
/// The exceptions of nearfar. The library never prints and never aborts. It throws one of these for a
/// caller's mistake and for what a topology or a transport cannot do; one line of text says what to do about
/// it.
#pragma once

#include <chrono>
#include <stdexcept>
#include <string>

#include "nearfar/language.hpp"

namespace nearfar {

/// Base of all exceptions that nearfar itself throws.
struct error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A topology that cannot be parsed, cannot hold the ranks, or does not fit what an algorithm needs.
struct topology_error : error {
  using error::error;
};

/// The MPI installation (or the machine under it) cannot do what nearfar relies on; the text names the
/// remedy.
struct transport_error : error {
  using error::error;
};

/// A world's slab of near or far memory is used up; the text names the option that enlarges it.
struct out_of_memory : error {
  using error::error;
};

/// A rank waited longer than the world's `stall_limit`: the rank that it waits for hangs, has ended, or
/// cannot be reached. Any waiting call throws it, including `unlock()`, in the waiting rank only. Afterwards
/// no rank may use the lock or the world; the program can only report the error and end.
struct stalled : error {
  /// `awaited`: what the rank waits for, in words.
  stalled(int waiting_rank, const std::string& awaited, std::chrono::nanoseconds span);

  int rank;
  std::chrono::nanoseconds waited;
};

/// Another rank has left an MPI world by an exception, so a collective call would wait for it for ever.
/// Thrown by barriers and by the constructors of locks and segments. The world can no longer be used by all
/// ranks.
struct rank_left : error {
  using error::error;
};

/// A precondition of the interface was violated. Thrown in checked builds only (see checks.hpp), except where
/// the check costs nothing.
struct misuse : error {
  using error::error;
};

/// `unlock()` by a rank that does not hold the lock: a double unlock, or an unlock of another rank's lock.
struct not_held : misuse {
  using misuse::misuse;
};

/// `lock()` or `try_lock()` by a rank that already holds the lock; nearfar's locks are not recursive.
struct already_held : misuse {
  using misuse::misuse;
};

/// The holder destroyed its lock, so every waiting rank would wait for ever. Thrown by the lock's destructor.
/// It can therefore be caught only if the lock is a local variable or deleted by hand; a `std::unique_ptr`,
/// `std::optional` or container around the lock ends the program (`std::terminate`).
struct destroyed_while_held : misuse {
  using misuse::misuse;
};

/// A world was destroyed while segments, and therefore locks, still lived in it. Thrown by the world's
/// destructor in every build, unless an exception destroys the world; `destroyed_while_held` says where it
/// can be caught. The segments and locks may be destroyed after the world, but must not be used any more: in
/// a checked build using them throws this again.
struct destroyed_while_in_use : misuse {
  using misuse::misuse;
};

/// A rank that the operation cannot reach: out of range, or not on this rank's node where shared memory is
/// needed.
struct unreachable_rank : misuse {
  using misuse::misuse;
};

/// The ranks did not make the same sequence of collective calls, or not with the same arguments. Thrown on
/// every rank, in every build. The text names two ranks that differ, and what each of them makes.
struct collective_mismatch : misuse {
  using misuse::misuse;
};

namespace detail {

// Out of line, so that the functions that throw stay small.
[[noreturn]] void throw_no_such_rank(int rank, int ranks);
[[noreturn]] void throw_no_shared_memory(int rank, int from);
[[noreturn]] void throw_already_held(const char* call);
[[noreturn]] void throw_not_held(const char* call, bool is_held_otherwise);
[[noreturn]] void throw_destroyed_while_held();

}  // namespace detail

}  // namespace nearfar
