"""What queues and channels share: waits that Ctrl-C ends, and outcomes as exceptions."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from . import _library
from .errors import ArgumentError, Closed, Empty, Full

LONGEST_NS = (1 << 63) - 1
SLICE_NS = 100_000_000  # how long Ctrl-C may take


def nanoseconds(timeout: float) -> int:
    """A timeout in seconds as the library has it."""
    if not timeout >= 0:
        raise ArgumentError(f"a timeout of {timeout} s is in the past: give the seconds from now on, 0 or more")
    return min(int(timeout * 1e9), LONGEST_NS) if timeout < 1e10 else LONGEST_NS


def wait(attempt: Callable[[int], int], timeout: float | None) -> int:
    """The outcome of ``attempt(nanoseconds)``, again and again until it is another than TIMED_OUT or the time is over."""
    left = LONGEST_NS if timeout is None else nanoseconds(timeout)
    end = time.monotonic_ns() + left
    while True:
        status = attempt(min(left, SLICE_NS))
        if status != _library.TIMED_OUT:
            return status
        left = max(end - time.monotonic_ns(), 0)
        if left == 0:
            return status


def iterate(source: Any) -> Iterator[Any]:
    """Gets until Closed."""
    while True:
        try:
            value = source.get()
        except Closed:
            return
        yield value


def checked_size(value: int) -> int:
    """What ctypes would take modulo a power of two."""
    if value < 0:
        raise ArgumentError(f"a size of {value}: give 1 or more")
    return value


def raise_unless_put(status: int) -> None:
    """What a put did not do."""
    if status == _library.CLOSED:
        raise Closed("it was closed: nothing can be put")
    if status != _library.SUCCESS:
        raise Full("there is no room" if status == _library.FULL else "there was no room in time")


def raise_unless_got(status: int) -> None:
    """What a get did not do."""
    if status == _library.CLOSED:
        raise Closed("it was closed, and nothing is left")
    if status != _library.SUCCESS:
        raise Empty("there is nothing" if status == _library.EMPTY else "nothing came in time")
