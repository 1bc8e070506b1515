"""What a call of the Python package costs, beside MPI's own lock and a put through mpi4py: by turns, in one process.

Rank 0 calls alone, while the others wait in a barrier. What comes out of the queue and the map is compared with what
went in, and of the lock another rank finds out afterwards whether it is one. Run it as
  NEARFAR_LIBRARY=build/release-openmpi/libnearfar_c_openmpi.so PYTHONPATH=python \\
    scripts/run-mpi --mpi openmpi --ranks 2 --bind -- scripts/mpi-python openmpi bench/tools/python_cost.py
"""

import statistics
import time

import mpi4py
import numpy as np

mpi4py.rc.thread_level = "serialized"  # Open MPI 4 can do no more between nodes
from mpi4py import MPI  # noqa: E402

import nearfar  # noqa: E402

TURNS = 21
SHORTEST_TURN = 0.02
KEYS = 256
COMM = MPI.COMM_WORLD


def check(is_so, what):
    if not is_so:
        raise AssertionError(what)


def time_of(call, calls):
    """Microseconds of one call."""
    start = time.perf_counter()
    for i in range(calls):
        call(i)
    return (time.perf_counter() - start) / calls * 1e6


def measure(named):
    """Rank 0 calls each by turns, while the others wait."""
    if COMM.rank == 0:
        calls = {}
        for name, call in named.items():
            calls[name] = 1
            while time_of(call, calls[name]) * calls[name] < SHORTEST_TURN * 1e6:
                calls[name] *= 2
        times = {name: [] for name in named}
        for turn in range(TURNS):
            for name in list(named) if turn % 2 == 0 else reversed(named):
                times[name].append(time_of(named[name], calls[name]))
        for name, each in times.items():
            low, median, high = statistics.quantiles(each, n=4)
            print(f"{name:<36} {median:6.2f} us [{low:.2f}, {high:.2f}]", flush=True)
    COMM.Barrier()


def lock_is_one(lock):
    if COMM.rank == 0:
        lock.acquire()
    COMM.Barrier()
    if COMM.rank == 1:
        check(not lock.acquire(blocking=False), "a lock that is held cannot be taken")
    COMM.Barrier()
    if COMM.rank == 0:
        lock.release()
    COMM.Barrier()


def main():
    check(COMM.size > 1, "start at least two ranks")
    with nearfar.World(COMM) as world:
        lock = world.lock()
        queue = world.queue(np.uint64, capacity=16)
        entries = world.map(np.uint64, np.uint64, entries=4 * KEYS)
        if COMM.rank == 0:
            for key in range(KEYS):
                entries[key] = key + 1
        window = MPI.Win.Allocate(8, comm=COMM)
        word = np.zeros(1, dtype=np.uint64)

        def hold(_):
            with lock:
                pass

        def push_and_pop(i):
            queue.put(i)
            check(queue.get() == i, "what is popped was pushed")

        def find(i):
            check(entries[i % KEYS] == i % KEYS + 1, "what is found was inserted")

        def hold_window(_):
            window.Lock(0)
            window.Unlock(0)

        def put(_):
            window.Put([word, MPI.UINT64_T], 0)
            window.Flush(0)

        measure(
            {
                "with lock": hold,
                "queue.put and queue.get": push_and_pop,
                "map[key]": find,
                "mpi4py: window.Lock and Unlock": hold_window,
            }
        )
        lock_is_one(lock)
        window.Lock_all()
        measure({"mpi4py: window.Put and Flush": put})
        window.Unlock_all()
        window.Free()


if __name__ == "__main__":
    main()
