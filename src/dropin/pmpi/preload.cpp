/// \file
/// The MPI functions that replace a program's when libnearfar_pmpi is preloaded, by MPI's profiling
/// interface. docs/dropin.md says what they serve and what they leave to the library.
///
/// A lock of the program becomes a lock of the companion, and within it an epoch that the MPI library sees as
/// shared, and as MPI_MODE_NOCHECK where that works. No such epochs conflict, so the library never blocks
/// any; it still knows of the epoch, ends it, and detects its errors. Epochs begin when the program begins
/// them, since an open epoch would rule out fences and PSCW.
#include <mpi.h>

#include <array>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "companion.hpp"
#include "mpi_library.hpp"
#include "statistics.hpp"

namespace {

using namespace nearfar::pmpi;

/// True during calls of this library's own, which are not the program's.
thread_local bool inside = false;
class own_calls {
 public:
  own_calls() noexcept : before_(std::exchange(inside, true)) {}
  own_calls(const own_calls&) = delete;
  own_calls& operator=(const own_calls&) = delete;
  ~own_calls() { inside = before_; }

 private:
  bool before_;
};

/// The windows that have a companion.
class window_table {
 public:
  /// Repeating the last window costs a thread neither a lock nor a search.
  [[nodiscard]] companion* find(MPI_Win window) {
    if (inside) return nullptr;
    thread_local struct {
      std::uint64_t changes = 0;
      MPI_Win window = MPI_WIN_NULL;
      companion* found = nullptr;
    } last;
    // Before the search: what changes meanwhile cannot concern this window, which the caller has not freed.
    const std::uint64_t changes = changes_.load(std::memory_order_acquire);
    if (last.changes == changes && last.window == window) return last.found;
    const std::lock_guard hold_it(mutex_);
    const auto at = by_window_.find(window);
    last = {changes, window, at == by_window_.end() ? nullptr : at->second.get()};
    return last.found;
  }
  void add(MPI_Win window, std::unique_ptr<companion> one) {
    const std::lock_guard hold_it(mutex_);
    changes_.fetch_add(1, std::memory_order_release);
    by_window_.insert_or_assign(window, std::move(one));
  }
  [[nodiscard]] std::unique_ptr<companion> take(MPI_Win window) {
    const std::lock_guard hold_it(mutex_);
    const auto at = by_window_.find(window);
    if (at == by_window_.end()) return nullptr;
    changes_.fetch_add(1, std::memory_order_release);
    std::unique_ptr<companion> result = std::move(at->second);
    by_window_.erase(at);
    return result;
  }

 private:
  std::mutex mutex_;
  std::atomic<std::uint64_t> changes_{1};
  std::unordered_map<MPI_Win, std::unique_ptr<companion>> by_window_;
};
/// Never destroyed: after MPI_Finalize nothing can free it.
window_table& windows() {
  static auto& only = *new window_table;
  return only;
}

/// The assertion for the library's epoch, which is shared.
int assertion_for_library(int given, const companion& one) {
  switch (checks_of_epochs(one.several_threads())) {
    case checks::are_skipped:
      return given | MPI_MODE_NOCHECK;
    case checks::are_made:
      return given & ~MPI_MODE_NOCHECK;
    case checks::are_as_given:
      break;
  }
  return given;
}

/// Orders the program's loads and stores to memory that ranks share with the operations of the epochs and of
/// the companion. The library does what it needs for them in its own lock and unlock.
void order_loads_and_stores() { std::atomic_thread_fence(std::memory_order_seq_cst); }

/// Runs code that may throw, where no caller can catch.
template <typename Body>
auto without_exceptions(const Body& body) {
  const own_calls here;
  try {
    return body();
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "libnearfar_pmpi: %s\n", problem.what());
    PMPI_Abort(MPI_COMM_WORLD, 1);
    std::abort();
  }
}

/// Prints the reason once, at the first rank of its window.
void say_why_not(MPI_Comm comm, const std::string& reason) {
  static std::atomic<bool> said = false;
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  if (rank == 0 && !said.exchange(true))
    std::fprintf(stderr, "libnearfar_pmpi: windows keep the locks of the MPI library: %s\n", reason.c_str());
}

/// NEARFAR_PMPI_MAX_RANKS: windows with more ranks keep the library's locks.
int most_ranks() {
  constexpr int by_default = 1024;
  const char* text = std::getenv("NEARFAR_PMPI_MAX_RANKS");
  if (text == nullptr) return by_default;
  const std::string_view given(text);
  int result = 0;
  const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), result);
  if (error == std::errc{} && end == given.data() + given.size() && result >= 0) return result;
  std::fprintf(stderr, "libnearfar_pmpi: NEARFAR_PMPI_MAX_RANKS must be a number of ranks, not '%s'\n", text);
  PMPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

/// Properties on which the ranks of a window have agreed.
struct window_traits {
  bool is_never_locked = false;  ///< the program says so on at least one of them
  companion_traits of{};
};

/// Collective.
window_traits agree_on(MPI_Info info, MPI_Comm comm) {
  char value[8] = "";
  int found = 0;
  if (info != MPI_INFO_NULL) PMPI_Info_get(info, "no_locks", sizeof value - 1, value, &found);
  std::array<int, 3> said{found != 0 && std::string_view(value) == "true" ? 1 : 0,
                          has_several_threads() ? 1 : 0, has_tested_all_ranks() ? 0 : 1};
  PMPI_Allreduce(MPI_IN_PLACE, said.data(), static_cast<int>(said.size()), MPI_INT, MPI_MAX, comm);
  return {.is_never_locked = said[0] != 0,
          .of = {.several_threads = said[1] != 0, .is_tested = said[2] == 0}};
}

/// Called after a window was made. Collective, as making it was.
int made(int status, MPI_Info info, MPI_Comm comm, const MPI_Win* window) {
  if (status != MPI_SUCCESS || inside) return status;
  return without_exceptions([&] {
    const window_traits traits = agree_on(info, comm);
    if (traits.is_never_locked) return MPI_SUCCESS;
    int ranks = 0;
    PMPI_Comm_size(comm, &ranks);
    std::string reason;
    if (ranks > most_ranks()) {
      reason = "of more ranks than NEARFAR_PMPI_MAX_RANKS";
    } else if (std::unique_ptr<companion> one = make_companion(comm, traits.of, reason)) {
      windows().add(*window, std::move(one));
      return MPI_SUCCESS;
    }
    say_why_not(comm, reason);
    return MPI_SUCCESS;
  });
}

/// The name that is printed with the counts.
std::string name_of(MPI_Win window) {
  std::string name(MPI_MAX_OBJECT_NAME, '\0');
  int length = 0;
  PMPI_Win_get_name(window, name.data(), &length);
  name.resize(static_cast<std::size_t>(length));
  return name;
}

}  // namespace

#define NEARFAR_EXPORT [[gnu::visibility("default")]]

extern "C" {

NEARFAR_EXPORT int MPI_Win_create(void* base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm,
                                  MPI_Win* window) {
  return made(mpi_library().win_create(base, size, unit, info, comm, window), info, comm, window);
}

NEARFAR_EXPORT int MPI_Win_allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base,
                                    MPI_Win* window) {
  return made(mpi_library().win_allocate(size, unit, info, comm, base, window), info, comm, window);
}

NEARFAR_EXPORT int MPI_Win_allocate_shared(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base,
                                           MPI_Win* window) {
  return made(mpi_library().win_allocate_shared(size, unit, info, comm, base, window), info, comm, window);
}

NEARFAR_EXPORT int MPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win* window) {
  return made(mpi_library().win_create_dynamic(info, comm, window), info, comm, window);
}

#if MPI_VERSION >= 4
NEARFAR_EXPORT int MPI_Win_create_c(void* base, MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm,
                                    MPI_Win* window) {
  return made(mpi_library().win_create_c(base, size, unit, info, comm, window), info, comm, window);
}

NEARFAR_EXPORT int MPI_Win_allocate_c(MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void* base,
                                      MPI_Win* window) {
  return made(mpi_library().win_allocate_c(size, unit, info, comm, base, window), info, comm, window);
}

NEARFAR_EXPORT int MPI_Win_allocate_shared_c(MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm,
                                             void* base, MPI_Win* window) {
  return made(mpi_library().win_allocate_shared_c(size, unit, info, comm, base, window), info, comm, window);
}
#endif

NEARFAR_EXPORT int MPI_Win_free(MPI_Win* window) {
  if (inside) return mpi_library().win_free(window);
  // Before the library frees it: another thread may get the same handle for a window that it makes.
  std::unique_ptr<companion> one = windows().take(*window);
  if (one == nullptr) return mpi_library().win_free(window);
  // While all ranks are still there: the library may find that one has an open epoch, and tell only that
  // rank.
  const std::string name = name_of(*window);
  const MPI_Win freed = *window;
  const int status = mpi_library().win_free(window);
  if (status != MPI_SUCCESS) {
    windows().add(freed, std::move(one));
    return status;
  }
  return without_exceptions([&] {
    // The library has accepted what is still held.
    for (int target = 0; target < one->ranks(); ++target) one->release(target);
    if (one->held_all() != hold::nothing) one->release_all();
    if (!wants_statistics()) return MPI_SUCCESS;
    if (const summary total = one->add_up(name); one->is_first()) keep(total);
    return MPI_SUCCESS;
  });
}

NEARFAR_EXPORT int MPI_Win_lock(int type, int target, int assertion, MPI_Win window) {
  companion* one = windows().find(window);
  // The library detects errors, and at MPI_PROC_NULL there is nothing to wait for.
  if (one == nullptr || target < 0 || target >= one->ranks() || one->held(target) != hold::nothing ||
      one->held_all() != hold::nothing || (type != MPI_LOCK_EXCLUSIVE && type != MPI_LOCK_SHARED))
    return mpi_library().win_lock(type, target, assertion, window);
  hold how = type == MPI_LOCK_EXCLUSIVE ? hold::exclusive : hold::shared;
  if ((assertion & MPI_MODE_NOCHECK) != 0) how = hold::unchecked;
  without_exceptions([&] { one->acquire(target, how); });
  // The program handles its errors, and may call any of these functions then.
  const int status =
      mpi_library().win_lock(MPI_LOCK_SHARED, target, assertion_for_library(assertion, *one), window);
  if (status == MPI_SUCCESS) {
    one->count(target);
    order_loads_and_stores();
  } else if (windows().find(window) == one) {
    without_exceptions([&] { one->release(target); });
  }
  return status;
}

NEARFAR_EXPORT int MPI_Win_unlock(int target, MPI_Win window) {
  companion* one = windows().find(window);
  if (one == nullptr || target < 0 || target >= one->ranks() || one->held(target) == hold::nothing)
    return mpi_library().win_unlock(target, window);
  order_loads_and_stores();
  // Complete at the target before another rank may have the lock.
  const int status = mpi_library().win_unlock(target, window);
  if (status == MPI_SUCCESS || windows().find(window) == one)
    without_exceptions([&] { one->release(target); });
  return status;
}

NEARFAR_EXPORT int MPI_Win_lock_all(int assertion, MPI_Win window) {
  companion* one = windows().find(window);
  if (one == nullptr || one->holds_any()) return mpi_library().win_lock_all(assertion, window);
  without_exceptions(
      [&] { one->acquire_all((assertion & MPI_MODE_NOCHECK) != 0 ? hold::unchecked : hold::shared); });
  const int status = mpi_library().win_lock_all(assertion_for_library(assertion, *one), window);
  if (status == MPI_SUCCESS) {
    one->count_all();
    order_loads_and_stores();
  } else if (windows().find(window) == one) {
    without_exceptions([&] { one->release_all(); });
  }
  return status;
}

NEARFAR_EXPORT int MPI_Win_unlock_all(MPI_Win window) {
  companion* one = windows().find(window);
  if (one == nullptr || one->held_all() == hold::nothing) return mpi_library().win_unlock_all(window);
  order_loads_and_stores();
  const int status = mpi_library().win_unlock_all(window);
  if (status == MPI_SUCCESS || windows().find(window) == one) without_exceptions([&] { one->release_all(); });
  return status;
}

NEARFAR_EXPORT int MPI_Finalize() {
  without_exceptions([] {
    free_kept();
    if (wants_statistics()) print_kept();
  });
  return mpi_library().finalize();
}

// For the MPI libraries' Fortran functions: all of Open MPI's call these, and some of MPICH's mpi_f08.
#define NEARFAR_ALSO_PMPI(name) NEARFAR_EXPORT decltype(MPI_##name) PMPI_##name [[gnu::alias("MPI_" #name)]]
NEARFAR_ALSO_PMPI(Win_create);
NEARFAR_ALSO_PMPI(Win_allocate);
NEARFAR_ALSO_PMPI(Win_allocate_shared);
NEARFAR_ALSO_PMPI(Win_create_dynamic);
#if MPI_VERSION >= 4
NEARFAR_ALSO_PMPI(Win_create_c);
NEARFAR_ALSO_PMPI(Win_allocate_c);
NEARFAR_ALSO_PMPI(Win_allocate_shared_c);
#endif
NEARFAR_ALSO_PMPI(Win_free);
NEARFAR_ALSO_PMPI(Win_lock);
NEARFAR_ALSO_PMPI(Win_unlock);
NEARFAR_ALSO_PMPI(Win_lock_all);
NEARFAR_ALSO_PMPI(Win_unlock_all);
NEARFAR_ALSO_PMPI(Finalize);
}
