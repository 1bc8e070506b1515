/// \file
/// The exceptions of nearfar. The library never prints and never aborts: what a caller did wrong, what a
/// topology or a transport cannot do, is thrown as one of these, with one line that says what to do about it.
#pragma once

#include <chrono>
#include <stdexcept>
#include <string>

#include "nearfar/core/language.hpp"

namespace nearfar {

/// Base of everything nearfar throws on its own account.
struct error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A topology that cannot be parsed, cannot hold the ranks, or does not fit what an algorithm needs.
struct topology_error : error {
  using error::error;
};

/// The MPI installation (or the machine under it) cannot do what nearfar relies on; the text names the cure.
struct transport_error : error {
  using error::error;
};

/// A world's slab of near or far memory is used up; the text names the option that makes it larger.
struct out_of_memory : error {
  using error::error;
};

/// A rank waited longer than the world's `stall_limit`: whom it waits for hangs, has ended, or cannot be
/// reached. Thrown by whatever waits, `unlock()` included, and by the waiting rank alone. Neither the lock
/// nor the world can be used after it, by any rank; what is left to do is to say so and to end the program.
struct stalled : error {
  /// `awaited`: what for, in words.
  stalled(int waiting_rank, const std::string& awaited, std::chrono::nanoseconds span);

  int rank;
  std::chrono::nanoseconds waited;
};

/// Another rank has left an MPI world by an exception, so that a collective call would wait for it for ever.
/// Thrown by barriers and by what makes locks and segments; the world cannot be used by all ranks any more.
struct rank_left : error {
  using error::error;
};

/// A precondition of the interface was violated. Thrown in checked builds only (see checks.hpp), except where
/// the check costs nothing.
struct misuse : error {
  using error::error;
};

/// `unlock()` by a rank that does not hold the lock: a double unlock, or the unlock of another rank's lock.
struct not_held : misuse {
  using misuse::misuse;
};

/// `lock()` or `try_lock()` by the rank that already holds the lock; none of nearfar's locks is recursive.
struct already_held : misuse {
  using misuse::misuse;
};

/// A lock was destroyed by the rank that holds it, so that every rank that waits for it would wait for ever.
/// Thrown by the lock's destructor, and so can be caught only where the lock is a local variable or deleted
/// by hand; a `std::unique_ptr`, `std::optional` or container around it ends the program (`std::terminate`).
struct destroyed_while_held : misuse {
  using misuse::misuse;
};

/// A world was destroyed while segments, and therefore locks, still lived in it. Thrown by the world's
/// destructor in every build, unless it is destroyed by an exception; see `destroyed_while_held` for where
/// that can be caught. What lived in it may be destroyed after it, and may be used no more: a checked build
/// throws this again.
struct destroyed_while_in_use : misuse {
  using misuse::misuse;
};

/// A rank that the operation cannot reach: out of range, or not on this rank's node where shared memory is
/// needed.
struct unreachable_rank : misuse {
  using misuse::misuse;
};

/// The ranks did not make the same sequence of collective calls, or not with the same arguments. Thrown on
/// every rank, in every build; the text names two ranks that differ, and what each of them makes.
struct collective_mismatch : misuse {
  using misuse::misuse;
};

namespace detail {

// Out of line, so that what throws them stays small.
[[noreturn]] void throw_no_such_rank(int rank, int ranks);
[[noreturn]] void throw_no_shared_memory(int rank, int from);
[[noreturn]] void throw_already_held(const char* call);
[[noreturn]] void throw_not_held(const char* call, bool is_held_otherwise);
[[noreturn]] void throw_destroyed_while_held();

}  // namespace detail

}  // namespace nearfar
