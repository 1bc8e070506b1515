#include <mpi.h>

#include <mutex>
#include <nearfar/lock/cohort_lock.hpp>
#include <nearfar/memory/mpi/world.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bool good = false;
  {
    using nearfar::mpi::world;
    struct alignas(nearfar::slot_bytes) words {
      nearfar::far<std::uint64_t> count;
    };
    world w(MPI_COMM_WORLD);
    nearfar::default_cohort_lock<world> lock(w);
    world::far_segment<words> shared(w);
    for (int i = 0; i < 10; ++i) {
      const std::lock_guard hold(lock);
      std::uint64_t count = 0;
      shared.get(0, &words::count, count);
      shared.flush(0);
      ++count;
      shared.put(0, &words::count, count);
      shared.flush(0);
    }
    w.barrier();
    good = w.size() == 2 && (w.rank() != 0 || shared.read_direct(0, &words::count) == 20);
  }
  MPI_Finalize();
  return good ? 0 : 1;
}
