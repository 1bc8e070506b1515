/// \file
/// The C library's functions, behind those that this library replaces.
#pragma once

#include <pthread.h>

#include <ctime>

namespace nearfar::preload {

struct original_functions {
  int (*mutex_init)(pthread_mutex_t*, const pthread_mutexattr_t*);
  int (*mutex_destroy)(pthread_mutex_t*);
  int (*mutex_lock)(pthread_mutex_t*);
  int (*mutex_trylock)(pthread_mutex_t*);
  int (*mutex_timedlock)(pthread_mutex_t*, const timespec*);
  int (*mutex_clocklock)(pthread_mutex_t*, clockid_t, const timespec*);
  int (*mutex_unlock)(pthread_mutex_t*);
  int (*cond_wait)(pthread_cond_t*, pthread_mutex_t*);
  int (*cond_timedwait)(pthread_cond_t*, pthread_mutex_t*, const timespec*);
  int (*cond_clockwait)(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*);
  int (*cond_signal)(pthread_cond_t*);
  int (*cond_broadcast)(pthread_cond_t*);
  int (*register_atfork)(void (*)(), void (*)(), void (*)(), void*);  // the function behind pthread_atfork()
};

/// Looked up at the first use, which may be before the library's constructor. Ends the program if the C
/// library lacks one of them, as before glibc 2.30.
[[nodiscard]] const original_functions& c_library() noexcept;

}  // namespace nearfar::preload
