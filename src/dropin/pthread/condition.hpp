/// \file
/// Condition variables of preloaded mutexes. Who waits is in a list, in a table by the variable's address, so
/// that the program's variable is only asked for its clock: it may be anything else in the C library's hands,
/// and gone as soon as nobody waits.
///
/// Each that waits sleeps on a condition variable of its own, of the C library, which so brings cancellation
/// and clocks. First come, first woken; who is woken then waits for its mutex as any thread does.
#pragma once

#include <pthread.h>

#include <ctime>

namespace nearfar::preload {

/// Until the clock's time, if that is given. What the POSIX functions return; a cancellation point, at which
/// the mutex is locked again and no signal lost.
int wait(pthread_cond_t& condition, pthread_mutex_t& mutex, clockid_t clock, const timespec* until);
/// Whether anybody of ours waited.
bool signal_one(pthread_cond_t& condition) noexcept;
void signal_all(pthread_cond_t& condition) noexcept;

/// In the child of a fork nobody waits.
void forget_who_waits() noexcept;

}  // namespace nearfar::preload
