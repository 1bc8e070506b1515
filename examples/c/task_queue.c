// One rank pushes tasks into a queue. All ranks pop tasks until the queue is closed.
//
//   mpirun -n 4 c_task_queue
// [headers]
#include <mpi.h>
#include <nearfar.h>
#include <stdio.h>
// [end]

/// After an error, prints it and ends the program, since other ranks may wait for this one.
static void check(nearfar_status status) {
  if (status >= NEARFAR_SUCCESS) return;
  fprintf(stderr, "%s: %s\n", nearfar_error_text(status), nearfar_last_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// [queue]
typedef struct task {
  long from;
  long to;
} task;

/// Returns this rank's share of 1 + 2 + ... + last. Collective.
static long sum_together(nearfar_world* world, long last) {
  enum { at_once = 10 };
  nearfar_queue* tasks = NULL;
  int rank = 0;
  long sum = 0;
  task next;
  check(nearfar_queue_create(world, NEARFAR_QUEUE_TICKET, sizeof(task), 100, &tasks));
  check(nearfar_world_rank(world, &rank));
  if (rank == 0) {
    for (next.from = 1; next.from <= last; next.from += at_once) {
      next.to = next.from + at_once - 1 < last ? next.from + at_once - 1 : last;
      // If the queue is full, this rank does the task itself: as the only rank it would wait for ever.
      if (nearfar_queue_try_push(tasks, &next) != NEARFAR_FULL) continue;
      for (long i = next.from; i <= next.to; ++i) sum += i;
    }
    check(nearfar_queue_close(tasks));
  }
  // Waits while the queue is empty, and ends when the queue is closed and empty.
  while (nearfar_queue_pop(tasks, &next) == NEARFAR_SUCCESS)
    for (long i = next.from; i <= next.to; ++i) sum += i;
  check(nearfar_world_barrier(world));
  check(nearfar_queue_destroy(&tasks));
  return sum;
}
// [end]

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  nearfar_world* world = NULL;
  check(nearfar_world_from_comm(MPI_COMM_WORLD, NULL, &world));
  long mine = sum_together(world, 10005);
  long all = 0;
  int rank = 0;
  check(nearfar_world_rank(world, &rank));
  MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("the sum is %ld\n", all);
  check(nearfar_world_destroy(&world));
  MPI_Finalize();
  return all == 10005L * 10006 / 2 ? 0 : 1;
}
