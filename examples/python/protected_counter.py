"""A counter in the memory of rank 0 that every rank increments, guarded by a lock.

    mpirun -n 4 python3 -m mpi4py protected_counter.py
"""

import numpy as np
from mpi4py import MPI

import nearfar

ROUNDS = 100
KEEPER = 0


def count_together(window):
    """What the counter is in the end."""
    # [counter]
    # All ranks make these, in the same order; the world is closed by all at the end of the block.
    with nearfar.World(MPI.COMM_WORLD) as world:
        lock = world.lock()
        count = np.zeros(1, dtype=np.uint64)
        for _ in range(ROUNDS):
            with lock:
                window.Get([count, MPI.UINT64_T], KEEPER)
                window.Flush(KEEPER)
                count += 1
                window.Put([count, MPI.UINT64_T], KEEPER)
                window.Flush(KEEPER)  # complete before the lock is given up
        world.barrier()  # who has finished still lets others progress
    # [end]
    window.Get([count, MPI.UINT64_T], KEEPER)
    window.Flush(KEEPER)
    return int(count[0])


def main():
    # In steps of 64 bytes, for which every MPI library is right.
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
