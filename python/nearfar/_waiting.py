"""Shared by locks, queues, maps and channels: waits that Ctrl-C ends without a loss, and outcomes as exceptions."""

from __future__ import annotations

import ctypes
import operator
import threading
import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

from . import _library
from .errors import ArgumentError, Closed, Empty, Full

try:
    # The module that `signal` wraps. Turning numbers into enumerations takes `signal` longer than the rest of a lock.
    from _signal import SIGINT, getsignal, signal
except ImportError:
    from signal import SIGINT, getsignal, signal  # type: ignore[assignment]

LONGEST_NS = (1 << 63) - 1
LARGEST_INT = (1 << 8 * ctypes.sizeof(ctypes.c_int) - 1) - 1
SLICE_NS = 100_000_000  # the longest delay of Ctrl-C


def nanoseconds(timeout: float) -> int:
    """A timeout in seconds, converted for the library."""
    if not timeout >= 0:
        raise ArgumentError(f"a timeout of {timeout} s is in the past: give the seconds from now on, 0 or more")
    return min(int(timeout * 1e9), LONGEST_NS) if timeout < 1e10 else LONGEST_NS


class InterruptDeferred:
    """Defers Ctrl-C to the end of the block. Only in the main thread, since Python handles signals only there."""

    def __enter__(self) -> None:
        self._noted: list[tuple[Any, ...]] = []
        self._handler: Any = getsignal(SIGINT) if in_main_thread() else None
        if callable(self._handler):
            signal(SIGINT, lambda *arguments: self._noted.append(arguments))

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if callable(self._handler):
            signal(SIGINT, self._handler)
            if self._noted:
                self._handler(*self._noted[0])


def in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def settled(
    attempt: Callable[[], int], undo: Callable[[Any], Any] = bool, result: Callable[[], Any] = bool
) -> tuple[int, Any]:
    """Returns the outcome of ``attempt()``, and after SUCCESS ``result()``.

    If an interrupt arrives after that, calls ``undo(result)`` and raises it. The interpreter checks for interrupts at
    the start of functions and in loops, up to 3.11 also after calls with ``*arguments``, and up to 3.10 after any call.
    A caller that returns this result without any of these does not lose it.
    """
    status, value = _library.TIMED_OUT, None
    try:
        with InterruptDeferred():
            status = attempt()
            if status == _library.SUCCESS:
                value = result()
        return status, value
    except BaseException:
        if status == _library.SUCCESS:
            with InterruptDeferred():
                undo(value)
        raise


def wait(
    attempt: Callable[[int], int],
    timeout: float | None,
    undo: Callable[[Any], Any] = bool,
    result: Callable[[], Any] = bool,
) -> tuple[int, Any]:
    """Repeats ``attempt(nanoseconds)``, settled, until its outcome is not TIMED_OUT or the timeout has passed."""
    left = LONGEST_NS if timeout is None else nanoseconds(timeout)
    end = time.monotonic_ns() + left
    while True:
        span = min(left, SLICE_NS)
        status, value = settled(lambda: attempt(span), undo, result)  # noqa: B023
        if status != _library.TIMED_OUT:
            return status, value
        left = max(end - time.monotonic_ns(), 0)
        if left == 0:
            return status, value


class NotCopied:
    """An object with a handle of the library. One object destroys the handle, so it has no copies and no pickles."""

    def __reduce__(self) -> Any:
        raise TypeError(f"a {type(self).__name__} cannot be copied: hand on the object itself")


class Source:
    """A source of values. If Ctrl-C arrives when a value was just taken, the main thread gets that value next."""

    _NOTHING = object()
    _kept: Any = _NOTHING

    def _keep(self, value: Any) -> None:
        self._kept = value

    def _kept_for_this_thread(self) -> bool:
        return self._kept is not Source._NOTHING and in_main_thread()


def iterate(source: Any) -> Iterator[Any]:
    """Yields values until Closed."""
    while True:
        try:
            value = source.get()
        except Closed:
            return
        yield value


def checked_size(value: int) -> int:
    return _in_range(value, "a size", 0, ctypes.c_size_t(-1).value)


def checked_rank(value: int) -> int:
    return _in_range(value, "a rank", -LARGEST_INT - 1, LARGEST_INT)


def _in_range(value: int, name: str, least: int, most: int) -> int:
    """Checks a number that ctypes would reduce modulo a power of two."""
    try:
        number = operator.index(value)
    except TypeError:
        raise ArgumentError(f"{name} is a whole number, not {value!r}") from None
    if not least <= number <= most:
        raise ArgumentError(f"{name} of {number}: give {least} to {most}")
    return number


def raise_unless_put(status: int) -> None:
    """Raises the exception of a put that failed."""
    if status == _library.CLOSED:
        raise Closed("it was closed: nothing can be put")
    if status != _library.SUCCESS:
        raise Full("there is no room" if status == _library.FULL else "there was no room in time")


def raise_unless_got(status: int) -> None:
    """Raises the exception of a get that failed."""
    if status == _library.CLOSED:
        raise Closed("it was closed, and nothing is left")
    if status != _library.SUCCESS:
        raise Empty("there is nothing" if status == _library.EMPTY else "nothing came in time")
