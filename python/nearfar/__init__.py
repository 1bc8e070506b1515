"""Locks, queues and maps of the ranks of an MPI communicator, and channels between the threads of a process.

>>> from mpi4py import MPI
>>> import nearfar
>>> with nearfar.World(MPI.COMM_WORLD) as world:
...     lock = world.lock()
...     with lock:
...         ...  # one rank at a time

Waiting calls release the global interpreter lock. ``nearfar.results`` reads the files of ``nearfar bench``.
"""

from .channel import Channel
from .errors import (
    ArgumentError,
    Closed,
    Empty,
    Error,
    Full,
    HeldError,
    InUseError,
    MismatchError,
    MPIError,
    NoMemoryError,
    NoMPIError,
    NotHeldError,
    StalledError,
    TopologyError,
    TransportError,
)
from .world import Lock, Map, Queue, RWLock, World

__all__ = [
    "ArgumentError",
    "Channel",
    "Closed",
    "Empty",
    "Error",
    "Full",
    "HeldError",
    "InUseError",
    "Lock",
    "MPIError",
    "Map",
    "MismatchError",
    "NoMPIError",
    "NoMemoryError",
    "NotHeldError",
    "Queue",
    "RWLock",
    "StalledError",
    "TopologyError",
    "TransportError",
    "World",
]
