"""What the library says went wrong, as exceptions. Their texts say what to do about it."""

from __future__ import annotations

import queue


class Error(Exception):
    """Base of all errors of nearfar."""


class ArgumentError(Error, ValueError):
    """A size, rank or time that cannot be."""


class NotHeldError(Error, RuntimeError):
    """A lock is released by a rank that does not hold it that way."""


class HeldError(Error, RuntimeError):
    """A lock is taken again, or closed, by the rank that holds it."""


class InUseError(Error, RuntimeError):
    """A world is closed before what was made in it."""


class MismatchError(Error, ValueError):
    """The ranks do not make the same, or not with the same arguments."""


class NoMPIError(Error, RuntimeError):
    """MPI is not initialised yet, or finalised."""


class MPIError(Error, RuntimeError):
    """A call of MPI failed."""


class TransportError(Error, RuntimeError):
    """This MPI installation or machine cannot do what nearfar needs."""


class TopologyError(Error, ValueError):
    """A topology that cannot be read, or does not fit the ranks."""


class NoMemoryError(Error, MemoryError):
    """The world's memory, or the machine's, is used up."""


class StalledError(Error, RuntimeError):
    """A wait was longer than the world's stall limit. All that is left is to end the program."""


class Full(Error, queue.Full):
    """There is no room, or was none in time."""


class Empty(Error, queue.Empty):
    """There is nothing to take, or came nothing in time."""


class Closed(Error):
    """The queue or channel was closed, and nothing is left in it."""
