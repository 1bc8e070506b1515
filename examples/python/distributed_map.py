"""A hash table in the memory of all ranks.

    mpirun -n 4 python3 -m mpi4py distributed_map.py
"""

# [imports]
import numpy as np
from mpi4py import MPI

import nearfar

MINE = 100
# [end]


# [map]
def exchange(world):
    """Return how many of the next rank's words are missing. Collective."""
    # Keys are integers, values have up to 30 bytes. A hash chooses the rank, so each rank has twice the room
    # needed on average.
    words = world.map(np.uint64, 30, entries=2 * MINE)
    for number in range(MINE * world.rank, MINE * (world.rank + 1)):
        words[number] = f"word {number}".encode()
    world.barrier()
    first = MINE * ((world.rank + 1) % world.size)
    missing = sum(words.get(number) != f"word {number}".encode() for number in range(first, first + MINE))
    world.barrier()
    return missing
# [end]


def main():
    with nearfar.World(MPI.COMM_WORLD) as world:
        missing = exchange(world)
    print(f"{missing} words are missing")
    return 0 if missing == 0 else 1


if __name__ == "__main__":
    raise SystemExit(main())
