"""One rank puts tasks into a queue. All ranks get tasks until the queue is finished.

    mpirun -n 4 python3 -m mpi4py task_queue.py
"""

# [imports]
import numpy as np
from mpi4py import MPI

import nearfar
# [end]


# [queue]
def sum_together(world, last, at_once=10):
    """Return this rank's share of 1 + 2 + ... + last. Collective."""
    task = np.dtype([("first", np.int64), ("last", np.int64)])
    tasks = world.queue(task, capacity=100)
    mine = 0
    if world.rank == 0:
        for first in range(1, last + 1, at_once):
            numbers = range(first, min(first + at_once, last + 1))
            try:
                tasks.put((numbers[0], numbers[-1]), block=False)
            except nearfar.Full:  # does the task itself: as the only rank it would wait for ever
                mine += sum(numbers)
        tasks.finish()
    for one in tasks:  # waits while the queue is empty, ends when it is finished and empty
        mine += sum(range(one["first"], one["last"] + 1))
    world.barrier()
    return mine
# [end]


def main():
    with nearfar.World(MPI.COMM_WORLD) as world:
        total = MPI.COMM_WORLD.allreduce(int(sum_together(world, 10005)))
        if world.rank == 0:
            print(f"the sum is {total}")
    return 0 if total == 10005 * 10006 // 2 else 1


if __name__ == "__main__":
    raise SystemExit(main())
