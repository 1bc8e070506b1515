"""A counter in the memory of rank 0 that every rank increments, guarded by a lock.

    mpirun -n 4 python3 -m mpi4py protected_counter.py
"""

# [imports]
import numpy as np
from mpi4py import MPI

import nearfar

ROUNDS = 100
KEEPER = 0
# [end]


def count_together(window):
    """Return the final count."""
    # [counter]
    # All ranks make the world and the lock in the same order, and close the world at the end of the block.
    with nearfar.World(MPI.COMM_WORLD) as world:
        lock = world.lock()
        count = np.zeros(1, dtype=np.uint64)
        for _ in range(ROUNDS):
            with lock:
                window.Get([count, MPI.UINT64_T], KEEPER)
                window.Flush(KEEPER)
                count += 1
                window.Put([count, MPI.UINT64_T], KEEPER)
                window.Flush(KEEPER)  # completes the put before the lock is released
        world.barrier()  # a rank that waits here drives MPI's progress for the others
    # [end]
    window.Get([count, MPI.UINT64_T], KEEPER)
    window.Flush(KEEPER)
    return int(count[0])


def main():
    # MPICH puts to wrong addresses if a window's size is no multiple of 16 bytes.
    window = MPI.Win.Allocate(64, 1, comm=MPI.COMM_WORLD)
    np.frombuffer(window.tomemory(), dtype=np.uint64)[0] = 0
    window.Lock_all()
    window.Sync()
    MPI.COMM_WORLD.Barrier()
    found = count_together(window)
    window.Unlock_all()
    window.Free()
    if MPI.COMM_WORLD.rank == KEEPER:
        print(f"{MPI.COMM_WORLD.size} ranks counted to {found}")
    return 0 if found == ROUNDS * MPI.COMM_WORLD.size else 1


if __name__ == "__main__":
    raise SystemExit(main())
