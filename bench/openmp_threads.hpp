/// \file
/// Whether OpenMP starts here and gives the threads that are asked for. In a header, since programs without
/// the loops over containers ask, too.
#pragma once

#include <dlfcn.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <string>

#include "nearfar/container/team.hpp"
#include "nearfar/core/error.hpp"

namespace nearfar::bench {

/// Throws `error` if OpenMP gave another number of threads than was asked for.
inline void expect_given_threads(int given, int asked) {
  if (!openmp_available() || given == asked) return;
  throw error("OpenMP gives " + std::to_string(given) + " of " + std::to_string(asked) +
              " threads: unset OMP_THREAD_LIMIT, OMP_MAX_ACTIVE_LEVELS and similar variables of your OpenMP "
              "library (KMP_...), or ask for fewer");
}

/// Throws `error` if OpenMP's library cannot start here, which may end the process by SIGBUS.
inline void expect_openmp_starts() {
  // LLVM's library writes to a page of a file in /dev/shm when it starts. A page that it cannot have is
  // fatal.
  static bool has_started = false;
  if (has_started || dlsym(RTLD_DEFAULT, "__kmpc_fork_call") == nullptr) return;
  struct rlimit files {};
  if (getrlimit(RLIMIT_FSIZE, &files) == 0 && files.rlim_cur < static_cast<rlim_t>(getpagesize()))
    throw error(
        "files may have " + std::to_string(files.rlim_cur) +
        " bytes here, and OpenMP's library needs a page in one: raise the limit (ulimit -f unlimited)");
  struct statvfs room {};
  if (statvfs("/dev/shm", &room) == 0 && room.f_bavail == 0)
    throw error("/dev/shm is full, and OpenMP's library needs a page there: remove what nobody uses there");
  has_started = true;
}

/// The same, and if OpenMP gives fewer threads than `threads`, because results for that number would be void.
inline void expect_threads(int threads) {
  expect_openmp_starts();
  expect_given_threads(team(threads).size(), threads);
}

}  // namespace nearfar::bench
