#include "apps/nearfar/doctor/checks.hpp"

#include <array>
#include <chrono>
#include <thread>

#include "apps/nearfar/doctor/tools.hpp"

namespace nearfar::command::doctor {

namespace {

constexpr const char* choose_another_osc =
    "the transport is broken: choose another, on Open MPI 4 by '--mca osc sm,pt2pt', on MPICH by a newer "
    "release or 'UCX_TLS=tcp,self'";

constexpr std::array checks{
    check{"thread level", 1, thread_level, "ask MPI_Init_thread for MPI_THREAD_FUNNELED or more"},
    check{"known faults", 1, known_faults, "change the setting as said, or install a newer MPI"},
    check{"shared memory", 1, shared_memory,
          "enlarge /dev/shm: mount -o remount,size=..., or docker run --shm-size=..."},
    check{"processors", 1, processors,
          "start at most one rank per processor, as waiting ranks need the scheduler; else set '--mca "
          "mpi_yield_when_idle 1' on Open MPI, and expect MPICH to be slow: its flush never yields"},
    check{"environment", 1, environment,
          "unset the variables that your measurements do not need; docs/performance.md explains each. The "
          "ones that nearfar ignores bind the first thread of programs with OpenMP"},
    check{"memory model", 1, memory_model,
          "nearfar needs unified windows: use a cache-coherent machine and transport"},
    check{"signals", 2, signals, choose_another_osc},
    check{"progress while computing", 2, progress_computing,
          "a rank must enter MPI for others to proceed: waiting ranks of nearfar do; call MPI_Iprobe in long "
          "computations, or on MPICH set MPIR_CVAR_ASYNC_PROGRESS=1, which starts a thread for it"},
    check{"progress while waiting", 2, progress_waiting,
          "nearfar waits with MPI_Iprobe, which does not drive progress here: choose another transport"},
    check{"swap", 2, atomic_swap, choose_another_osc},
    check{"fetch-and-add", 2, atomic_fetch_add, choose_another_osc},
    check{"compare-and-swap", 2, atomic_compare_and_swap, choose_another_osc},
    check{"swap with compare-and-swap", 2, atomic_tail,
          "queue locks rely on it, and MPI promises it only for one kind of operation on a word "
          "(accumulate_ops=same_op_no_op): choose another transport, on Open MPI 4 '--mca osc sm,pt2pt'"},
    check{"swap, sum, compare-and-swap", 2, atomic_mixture,
          "MPI does not promise it (accumulate_ops=same_op_no_op), and nearfar never adds to a word that it "
          "swaps: do the same in your own windows"},
    check{"words delivered whole", 2, whole_words, choose_another_osc},
    check{"gets that race with puts", 2, racing_gets, choose_another_osc},
    check{"reappearing writes", 2, reappearing_writes,
          "a rank saw a write before that write was complete. Locks that 'nearfar list' marks unsound can "
          "hang, and so can programs that overwrite a word once they have seen it change: wait until the "
          "writer's flush has returned"},
    check{"near atomics", 2, near_atomics,
          "ranks of a node must share memory coherently: let Open MPI choose the osc component, or name 'sm' "
          "among them"},
    check{"near and far atomics mixed", 2, mixed_atomics,
          "nearfar never mixes them on one word: do the same in your own windows"},
    check{"put, nearfar's windows", 2, put_address, choose_another_osc},
    check{"put, awkward windows", 2, put_awkward,
          "nearfar avoids these, as the size of each of its windows is a multiple of 64 bytes: in your own, "
          "round sizes up to a multiple of 16 and align bases of MPI_Win_create to 16"},
    check{"windows", 1, windows,
          "share windows: nearfar needs three for each world, and one for each mpi_win lock"},
    check{"world", 1, whole_world, "see the failures above"},
};

}  // namespace

void complete(MPI_Request& request, std::chrono::seconds limit, MPI_Status* status) {
  const auto begin = clock::now();
  int done = 0;
  for (unsigned tests = 1;; ++tests) {
    mpi::check(MPI_Test(&request, &done, status), "MPI_Test");
    if (done != 0) return;
    if (tests % 64 != 0) continue;
    // Sleeping leaves the processors to the ranks that measure. Yielding does not while there is work for
    // all.
    std::this_thread::sleep_for(std::chrono::microseconds(20));
    if (clock::now() - begin > limit)
      throw unanswered(fmt::format("waited {} s for another rank", std::chrono::seconds(limit).count()));
  }
}

examination::examination(MPI_Comm comm, const mpi::processor_share& processors, bool quick)
    : comm_(mpi::communicator::duplicate(comm)),
      node_(mpi::communicator::shared_memory(comm_.get())),
      rank_(comm_.rank()),
      size_(comm_.size()),
      processors_(processors),
      quick_(quick) {}

std::chrono::milliseconds examination::budget() const noexcept {
  return std::chrono::milliseconds(quick_ ? 20 : 100);
}

void examination::barrier() const {
  MPI_Request request = MPI_REQUEST_NULL;
  mpi::check(MPI_Ibarrier(comm_.get(), &request), "MPI_Ibarrier");
  complete(request, patience);
}

std::uint64_t examination::reduce(std::uint64_t mine, MPI_Op operation) const {
  // Given up, not freed, when the ranks do not answer, because MPI may still write to it.
  auto value = std::make_unique<std::uint64_t>(mine);
  MPI_Request request = MPI_REQUEST_NULL;
  mpi::check(MPI_Iallreduce(MPI_IN_PLACE, value.get(), 1, MPI_UINT64_T, operation, comm_.get(), &request),
             "MPI_Iallreduce");
  try {
    complete(request, patience);
  } catch (...) {
    static_cast<void>(value.release());
    throw;
  }
  return *value;
}

std::span<const check> all_checks() { return checks; }

}  // namespace nearfar::command::doctor
