/// \file
/// Condition variables of preloaded mutexes. Waiting threads are in lists, in a table by the variable's
/// address. The program's variable is used only for its clock: otherwise it is in the C library's hands, and
/// it may be gone as soon as no thread waits.
///
/// Each waiting thread sleeps on its own condition variable of the C library, which provides cancellation and
/// clocks. Threads are woken in the order of arrival; a woken thread then waits for its mutex like any other.
#pragma once

#include <pthread.h>

#include <ctime>

namespace nearfar::preload {

/// Waits for a signal, or until time `until` of `clock` if `until` is not null. Returns what the POSIX
/// functions return. A cancellation point: a cancelled thread holds the mutex again, and no signal is lost.
int wait(pthread_cond_t& condition, pthread_mutex_t& mutex, clockid_t clock, const timespec* until);
/// Wakes one waiting thread. Returns whether a thread waited with a mutex of this library.
bool signal_one(pthread_cond_t& condition) noexcept;
void signal_all(pthread_cond_t& condition) noexcept;

/// Empties all lists. Called in the child of a fork, where no thread waits.
void forget_who_waits() noexcept;

}  // namespace nearfar::preload
