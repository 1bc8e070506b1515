#include "src/c/world.hpp"

#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "nearfar.h"
#include "nearfar/core/error.hpp"
#include "nearfar/memory/mpi/call.hpp"
#include "nearfar/memory/mpi/world.hpp"
#include "nearfar/topology/spec.hpp"
#include "src/c/call.hpp"

namespace {

using namespace nearfar;

/// MPI_Finalize takes as long as it takes. Only a class derived from a world may wait without a limit.
struct without_limit : private mpi::world {
  static void wait(mpi::world& w) noexcept { (w.*&without_limit::wait_without_limit)(); }
};

struct answer {
  bool is_agreed;
  std::int64_t left;  ///< locks, queues and maps of all ranks
};

/// Asks all ranks whether a world may be closed, so that no rank waits in vain for one that may not go on. It
/// may if nothing is left in it, or if MPI ends on all of them. Collective, and the first step of either end.
answer ask_all_to_close(nearfar_world& w, bool at_end_of_mpi) {
  const std::vector<std::int64_t> sums = w.of.sum_over_ranks({w.objects, at_end_of_mpi ? 1 : 0});
  return {sums[0] == 0 || sums[1] == w.of.size(), sums[0]};
}

/// The open worlds of this process, in the order in which they were made.
class open_worlds {
 public:
  void add(nearfar_world& w) {
    const std::lock_guard hold(mutex_);
    worlds_.push_back(&w);
  }
  void remove(nearfar_world& w) {
    const std::lock_guard hold(mutex_);
    std::erase(worlds_, &w);
  }
  /// Closes the last world first, as all ranks do. Another rank may still be about to destroy a world; its
  /// call is refused until this rank is here too.
  void close_all() {
    const std::lock_guard hold(mutex_);
    for (; !worlds_.empty(); worlds_.pop_back()) {
      nearfar_world& w = *worlds_.back();
      without_limit::wait(w.of);
      while (!ask_all_to_close(w, true).is_agreed) continue;
      w.of.close();
    }
  }

 private:
  std::mutex mutex_;
  std::vector<nearfar_world*> worlds_;
};

open_worlds& worlds() {
  static open_worlds all;
  return all;
}

/// A program that forgot a world has all ranks in MPI_Finalize here, where MPI still works. Some libraries
/// crash later in MPI_Finalize if windows are left. The objects in the worlds can still be destroyed.
extern "C" int end_with_mpi(MPI_Comm, int, void*, void*) {
  c::mpi_is_over = true;
  const nearfar_status status = c::guarded("MPI_Finalize", [] {
    worlds().close_all();
    return NEARFAR_SUCCESS;
  });
  return status == NEARFAR_SUCCESS ? MPI_SUCCESS : MPI_ERR_OTHER;
}

/// Detects the end of MPI without an MPI call in each operation.
void watch_for_end_of_mpi() {
  static const bool is_watching = [] {
    mpi::call_at_end_of_mpi(end_with_mpi);
    return true;
  }();
  static_cast<void>(is_watching);
}

mpi::options options_of(const nearfar_world_options* given) {
  nearfar_world_options of = NEARFAR_WORLD_OPTIONS_INIT;
  if (given != nullptr) {
    if (given->size < sizeof of.size)
      throw misuse("options without their size: begin with NEARFAR_WORLD_OPTIONS_INIT");
    std::memcpy(&of, given, std::min(given->size, sizeof of));
  }
  mpi::options chosen;
  if (of.far_bytes != 0) chosen.far_bytes = of.far_bytes;
  if (of.near_bytes != 0) chosen.near_bytes = of.near_bytes;
  if (of.stall_limit_ns < 0)
    throw misuse("stall_limit_ns is " + std::to_string(of.stall_limit_ns) +
                 ": give nanoseconds, or 0 for no limit");
  if (of.stall_limit_ns != 0) chosen.stall_limit = std::chrono::nanoseconds(of.stall_limit_ns);
  if (of.topology != nullptr) chosen.topology = topology_spec::parse(of.topology);
  return chosen;
}

/// Returns `chosen()` if it throws on no rank, so that no rank waits for one that makes no world. Collective.
template <typename Choose>
mpi::options chosen_by_all(MPI_Comm comm, const Choose& chosen) {
  // The world refuses an intercommunicator or MPI_COMM_NULL on every rank.
  int is_inter = 1;
  if (comm != MPI_COMM_NULL) mpi::check(MPI_Comm_test_inter(comm, &is_inter), "MPI_Comm_test_inter");
  if (is_inter != 0) return chosen();

  mpi::options result;
  std::exception_ptr problem;
  try {
    result = chosen();
  } catch (...) {
    problem = std::current_exception();
  }
  int rank = 0;
  int ranks = 0;
  mpi::check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  mpi::check(MPI_Comm_size(comm, &ranks), "MPI_Comm_size");
  int first = problem != nullptr ? rank : ranks;
  mpi::check(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
  if (problem != nullptr) std::rethrow_exception(problem);
  if (first != ranks)
    throw collective_mismatch("rank " + std::to_string(first) +
                              " makes no world because an argument is invalid; its own error says more");
  return result;
}

/// Makes a world of the ranks of `comm()`, which is called only while MPI is active.
template <typename Comm>
nearfar_status make(const char* function, const Comm& comm, const nearfar_world_options* options,
                    nearfar_world** world) {
  if (world != nullptr) *world = nullptr;
  if (!mpi::is_active()) return c::fail_by_no_mpi(function);
  return c::guarded(function, [&] {
    watch_for_end_of_mpi();
    const MPI_Comm of = comm();
    const mpi::options chosen = chosen_by_all(of, [&] {
      if (world == nullptr) throw misuse("the place for the world is NULL");
      return options_of(options);
    });
    auto made = std::make_unique<nearfar_world>(of, chosen);
    worlds().add(*made);
    *world = made.release();
    return NEARFAR_SUCCESS;
  });
}

}  // namespace

nearfar_status nearfar_world_from_comm(MPI_Comm comm, const nearfar_world_options* options,
                                       nearfar_world** world) {
  return make(
      __func__, [comm] { return comm; }, options, world);
}

nearfar_status nearfar_world_from_fortran_comm(MPI_Fint comm, const nearfar_world_options* options,
                                               nearfar_world** world) {
  return make(
      __func__, [comm] { return MPI_Comm_f2c(comm); }, options, world);
}

nearfar_status nearfar_world_destroy(nearfar_world** world) {
  const bool is_late = nearfar::c::mpi_is_over;
  const nearfar_status status = nearfar::c::destroy(__func__, world, [is_late](nearfar_world& w) {
    const std::int64_t left = is_late ? w.objects : ask_all_to_close(w, false).left;
    if (left != 0)
      throw nearfar::destroyed_while_in_use("the ranks have not destroyed " + std::to_string(left) +
                                            " locks, queues and maps of the world, this one " +
                                            std::to_string(w.objects) + ": destroy these first");
    worlds().remove(w);
  });
  return is_late && status == NEARFAR_SUCCESS ? nearfar::c::fail_by_no_mpi(__func__) : status;
}

nearfar_status nearfar_world_rank(const nearfar_world* world, int* rank) {
  return nearfar::c::get(__func__, world, rank, [](const nearfar_world& w) { return w.of.rank(); });
}

nearfar_status nearfar_world_size(const nearfar_world* world, int* size) {
  return nearfar::c::get(__func__, world, size, [](const nearfar_world& w) { return w.of.size(); });
}

nearfar_status nearfar_world_barrier(nearfar_world* world) {
  return nearfar::c::with_mpi(__func__, world, [](nearfar_world& w) {
    w.of.barrier();
    return NEARFAR_SUCCESS;
  });
}

nearfar_status nearfar_world_progress(nearfar_world* world) {
  return nearfar::c::with_mpi(__func__, world, [](nearfar_world& w) {
    w.of.progress();
    return NEARFAR_SUCCESS;
  });
}
