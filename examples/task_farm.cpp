// A task farm without a master: idle ranks take tasks from a queue in the memory of all ranks. Tasks create
// other tasks, so their number is not known beforehand. Build it with nearfar::mpi, and run it with any
// number of ranks.
// [headers]
#include <mpi.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <vector>

#include "nearfar/memory/mpi/world.hpp"
#include "nearfar/queue/ticket_queue.hpp"
// [end]

namespace {

// [farm]
/// An interval to integrate over. An interval in which the function is steep is divided again and again.
struct task {
  double from;
  double to;
};

struct alignas(nearfar::slot_bytes) words {
  nearfar::far<std::int64_t> open;  ///< tasks that were pushed and are not complete
};

template <nearfar::world W, typename Function>
double integral(W& w, double from, double to, double tolerance, const Function& f) {
  nearfar::ticket_queue<W, task> tasks(w, {.capacity = 1000});
  typename W::template far_segment<words> at_first(w);
  const auto add_open = [&](const std::int64_t& sum) {
    std::int64_t before = 0;
    at_first.fetch_add(0, &words::open, sum, before);
    at_first.flush(0);
    return before + sum;
  };
  if (w.rank() == 0) {
    add_open(1);
    static_cast<void>(tasks.push({from, to}));
  }
  double mine = 0;
  const auto simpson = [&](double a, double b) { return (b - a) / 6 * (f(a) + 4 * f((a + b) / 2) + f(b)); };
  while (const auto next = tasks.pop()) {
    std::vector<task> left{*next};
    while (!left.empty()) {
      const task one = left.back();
      left.pop_back();
      const double middle = (one.from + one.to) / 2;
      const double halves = simpson(one.from, middle) + simpson(middle, one.to);
      if (std::abs(halves - simpson(one.from, one.to)) < tolerance * (one.to - one.from)) {
        mine += halves;
        continue;
      }
      left.push_back({one.from, middle});
      // If the queue has room, pushes the other half for an idle rank. Counts the task first, because another
      // rank may complete it at once.
      add_open(1);
      if (tasks.try_push({middle, one.to}) == nearfar::queue_status::success) continue;
      add_open(-1);
      left.push_back({middle, one.to});
    }
    if (add_open(-1) == 0) tasks.close();  // no task is left: ends all waiting pops
  }
  w.barrier();
  return mine;
}
// [end]

/// Returns whether the sum over all ranks is right.
bool integrate(MPI_Comm comm) {
  nearfar::mpi::world w(comm);
  const double part = integral(w, 1e-3, 1, 1e-10, [](double x) { return std::sin(1 / x); });
  std::printf("rank %d: %.6f\n", w.rank(), part);
  double all = 0;
  MPI_Allreduce(&part, &all, 1, MPI_DOUBLE, MPI_SUM, comm);
  constexpr double right = 0.504066497877;
  return std::abs(all - right) < 1e-5;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bool is_right = false;
  try {
    is_right = integrate(MPI_COMM_WORLD);
  } catch (const std::exception& problem) {
    // Other ranks may be waiting for this one.
    std::fprintf(stderr, "%s\n", problem.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return is_right ? 0 : 1;
}
