"""Errors of the library as exceptions. Their texts say what to do about them."""

from __future__ import annotations

import queue


class Error(Exception):
    """Base of all errors of nearfar."""


class ArgumentError(Error, ValueError):
    """An impossible size, rank or time."""


class NotHeldError(Error, RuntimeError):
    """A rank released a lock that it does not hold in that way."""


class HeldError(Error, RuntimeError):
    """A rank took again, or closed, a lock that it holds."""


class InUseError(Error, RuntimeError):
    """A world was closed before the objects made in it."""


class MismatchError(Error, ValueError):
    """The ranks make different objects, or with different arguments."""


class NoMPIError(Error, RuntimeError):
    """MPI is not initialised yet, or already finalised."""


class MPIError(Error, RuntimeError):
    """A call to MPI failed."""


class TransportError(Error, RuntimeError):
    """This MPI installation or machine cannot do what nearfar needs."""


class TopologyError(Error, ValueError):
    """The topology cannot be read, or does not fit the ranks."""


class NoMemoryError(Error, MemoryError):
    """The world's memory, or the machine's, is used up."""


class StalledError(Error, RuntimeError):
    """A wait was longer than the world's stall limit. The program can only be ended."""


class Full(Error, queue.Full):
    """There is no room, or there was none within the timeout."""


class Empty(Error, queue.Empty):
    """There is nothing to take, or nothing came within the timeout."""


class Closed(Error):
    """The queue or channel was closed, and nothing is left in it."""
