#include "apps/nearfar/doctor/checks.hpp"

#include <array>
#include <chrono>
#include <thread>

#include "apps/nearfar/doctor/tools.hpp"

namespace nearfar::command::doctor {

namespace {

constexpr const char* choose_another_osc =
    "the transport is broken: choose another, on Open MPI 4 '--mca osc sm,pt2pt', on MPICH a newer release "
    "or "
    "'UCX_TLS=tcp,self'";

constexpr std::array checks{
    check{"thread level", 1, thread_level, "ask MPI_Init_thread for MPI_THREAD_FUNNELED or more"},
    check{"known faults", 1, known_faults, "change the setting as said, or install a newer MPI"},
    check{"shared memory", 1, shared_memory,
          "enlarge /dev/shm: mount -o remount,size=..., or docker run --shm-size=..."},
    check{
        "processors", 1, processors,
        "waiting costs scheduling: start no more ranks than processors; if you must, set on Open MPI '--mca "
        "mpi_yield_when_idle 1', and expect MPICH to be slow, whose flush never yields"},
    check{"environment", 1, environment,
          "unset those that your measurements do not need: programs with OpenMP have their first thread "
          "bound by those "
          "that nearfar ignores; docs/performance.md says what each one does"},
    check{"memory model", 1, memory_model,
          "nearfar needs unified windows: use a cache-coherent machine and transport"},
    check{"signals", 2, signals, choose_another_osc},
    check{"progress while computing", 2, progress_computing,
          "a rank must enter MPI for others to proceed: nearfar's waiting ranks do, long computations should "
          "now and then "
          "(MPI_Iprobe); on MPICH, MPIR_CVAR_ASYNC_PROGRESS=1 starts a thread for it"},
    check{"progress while waiting", 2, progress_waiting,
          "nearfar waits with MPI_Iprobe, which does not drive progress here: choose another transport"},
    check{"swap", 2, atomic_swap, choose_another_osc},
    check{"fetch-and-add", 2, atomic_fetch_add, choose_another_osc},
    check{"compare-and-swap", 2, atomic_compare_and_swap, choose_another_osc},
    check{"swap with compare-and-swap", 2, atomic_tail,
          "queue locks rely on it, though MPI promises it only of one operation on a word "
          "(accumulate_ops=same_op_no_op): choose another transport, on Open MPI 4 '--mca osc sm,pt2pt'"},
    check{"swap, sum, compare-and-swap", 2, atomic_mixture,
          "nearfar uses no sum on a word that is swapped, and MPI does not promise it "
          "(accumulate_ops=same_op_no_op): your own windows must not either"},
    check{"words delivered whole", 2, whole_words, choose_another_osc},
    check{"gets that race with puts", 2, racing_gets, choose_another_osc},
    check{"reappearing writes", 2, reappearing_writes,
          "a write that was seen was not over. The locks of nearfar do not mind, but for those that 'nearfar "
          "list' marks unsound; "
          "these, and programs that write a word anew, in place or by put, once they have seen it change, "
          "can hang: "
          "wait until you know that the writer's flush has returned"},
    check{"near atomics", 2, near_atomics,
          "ranks of a node must share memory coherently: do not force one osc component, Open MPI needs 'sm' "
          "among them"},
    check{"near and far atomics mixed", 2, mixed_atomics,
          "nearfar never mixes them on one word; your own windows must not either"},
    check{"put, nearfar's windows", 2, put_address, choose_another_osc},
    check{"put, awkward windows", 2, put_awkward,
          "nearfar avoids these, all its windows are multiples of 64 bytes; your own windows must too: round "
          "sizes up to "
          "a multiple of 16 and align bases of MPI_Win_create to 16"},
    check{"windows", 1, windows,
          "share windows: nearfar takes three for each world, and one for each mpi_win lock"},
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
    // Sleeping leaves the processors to those who measure, which yielding does not while there is work for
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
