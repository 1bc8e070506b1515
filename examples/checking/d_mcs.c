/* The D-MCS lock in three forms, which differ below `#if FORM`.
 *
 * - FORM 1, as published: W. Gropp, T. Hoefler, R. Thakur, E. Lusk, "Using Advanced MPI", 2014, section 4.7.
 *   Nothing flushes the accumulates, so a rank may wait for ever.
 * - FORM 2, with flushes and puts: A. Uffmann, master thesis, LMU Munich, 2022, figure 3.5. A rank resets
 *   `next` while the put that wrote it is not complete, so the old value may come back.
 * - FORM 3, repaired as in include/nearfar/lock/far_queue.hpp: two `next` words take turns, a grant is a sum.
 *
 * Each rank increments a counter in the window of rank 0, several times:
 *   nearfar-cc -g -D FORM=1 d_mcs.c -o d_mcs && nearfar check --ranks 2 -- ./d_mcs 2
 */
#include <assert.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef FORM
#define FORM 1
#endif

enum { nobody = -1, home = 0 };
enum word { tail, next, other_next, grants, counter, words };

static int rank, size;
static MPI_Win win;
static volatile int* own; /* this rank's part of the window */

#if FORM == 3
static int turn; /* of the `next` words; the tail holds it too */
static int seen; /* grants so far */
#endif

/* The entry that stands for this rank in the tail. */
static int entry(void) {
#if FORM == 3
  return 2 * rank + turn;
#else
  return rank;
#endif
}

/* Where the successor of an entry writes its own name. */
static int owner_of(int of) { return FORM == 3 ? of / 2 : of; }
static enum word next_of(int of) { return FORM == 3 && of % 2 == 1 ? other_next : next; }

static void poll(void) {
  int flag; /* MPI_Iprobe guarantees progress */
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  MPI_Win_sync(win);
}

static void acquire(void) {
#if FORM == 3
  turn = 1 - turn;
#endif
  const int self = entry();
  own[next_of(self)] = nobody;
#if FORM != 3
  own[grants] = 0;
#endif
  MPI_Win_sync(win);
  int before;
  MPI_Fetch_and_op(&self, &before, MPI_INT, home, tail, MPI_REPLACE, win);
  MPI_Win_flush(home, win);
  if (before == nobody) return;
#if FORM == 1
  MPI_Accumulate(&rank, 1, MPI_INT, before, next, 1, MPI_INT, MPI_REPLACE, win);
  while (own[grants] == 0) poll();
#else
  MPI_Put(&rank, 1, MPI_INT, owner_of(before), next_of(before), 1, MPI_INT, win);
  MPI_Win_flush(owner_of(before), win);
#if FORM == 2
  while (own[grants] == 0) poll();
#else
  while (own[grants] == seen) poll();
  ++seen;
#endif
#endif
}

static void release(void) {
  const int self = entry();
  if (own[next_of(self)] == nobody) {
    const int none = nobody;
    int last;
    MPI_Compare_and_swap(&none, &self, &last, MPI_INT, home, tail, win);
    MPI_Win_flush(home, win);
    if (last == self) return;
    while (own[next_of(self)] == nobody) poll();
  }
  static const int one = 1;
  const int successor = own[next_of(self)];
#if FORM == 1
  MPI_Accumulate(&one, 1, MPI_INT, successor, grants, 1, MPI_INT, MPI_REPLACE, win);
#elif FORM == 2
  MPI_Put(&one, 1, MPI_INT, successor, grants, 1, MPI_INT, win);
  MPI_Win_flush(successor, win);
#else
  MPI_Accumulate(&one, 1, MPI_INT, successor, grants, 1, MPI_INT, MPI_SUM, win);
  MPI_Win_flush(successor, win);
#endif
}

/* The critical section: a get and a put, which two ranks at a time would spoil. */
static void increment(void) {
  int value;
  MPI_Get(&value, 1, MPI_INT, home, counter, 1, MPI_INT, win);
  MPI_Win_flush(home, win);
  ++value;
  MPI_Put(&value, 1, MPI_INT, home, counter, 1, MPI_INT, win);
  MPI_Win_flush(home, win);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int times = argc > 1 ? atoi(argv[1]) : 2;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int memory[words] = {nobody, nobody, nobody, 0, 0};
  own = memory;
  MPI_Win_create(memory, sizeof(memory), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_lock_all(0, win);
  for (int i = 0; i < times; ++i) {
    acquire();
    increment();
    release();
  }
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == home) {
    printf("%d increments\n", own[counter]);
    assert(own[counter] == size * times);
  }
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
