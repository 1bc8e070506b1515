"""What locks, queues, maps and channels share: waits that Ctrl-C ends without a loss, and outcomes as exceptions."""

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
    # What `signal` wraps: to make enumerations of numbers takes it longer than all else that a lock costs.
    from _signal import SIGINT, getsignal, signal
except ImportError:
    from signal import SIGINT, getsignal, signal  # type: ignore[assignment]

LONGEST_NS = (1 << 63) - 1
LARGEST_INT = (1 << 8 * ctypes.sizeof(ctypes.c_int) - 1) - 1
SLICE_NS = 100_000_000  # how long Ctrl-C may take


def nanoseconds(timeout: float) -> int:
    """A timeout in seconds as the library has it."""
    if not timeout >= 0:
        raise ArgumentError(f"a timeout of {timeout} s is in the past: give the seconds from now on, 0 or more")
    return min(int(timeout * 1e9), LONGEST_NS) if timeout < 1e10 else LONGEST_NS


class InterruptDeferred:
    """Ctrl-C takes effect at the end of the block. It is the main thread alone that Python lets handle signals."""

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
    """The outcome of ``attempt()``, and after SUCCESS ``result()``.

    If an interrupt comes that late, ``undo(result)`` before it is raised. The interpreter looks for one where functions
    begin and in loops, up to 3.11 also after calls with ``*arguments``, and up to 3.10 after any call: who returns this
    without any of these does not lose it.
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
    """``attempt(nanoseconds)``, settled, again and again until its outcome is not TIMED_OUT or the time is over."""
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
    """What has a handle of the library, which one object destroys: no copies, nor pickles."""

    def __reduce__(self) -> Any:
        raise TypeError(f"a {type(self).__name__} cannot be copied: hand on the object itself")


class Source:
    """What values are got from. One that was taken when Ctrl-C came is what the main thread gets next."""

    _NOTHING = object()
    _kept: Any = _NOTHING

    def _keep(self, value: Any) -> None:
        self._kept = value

    def _kept_for_this_thread(self) -> bool:
        return self._kept is not Source._NOTHING and in_main_thread()


def iterate(source: Any) -> Iterator[Any]:
    """Gets until Closed."""
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
    """What ctypes would take modulo a power of two."""
    try:
        number = operator.index(value)
    except TypeError:
        raise ArgumentError(f"{name} is a whole number, not {value!r}") from None
    if not least <= number <= most:
        raise ArgumentError(f"{name} of {number}: give {least} to {most}")
    return number


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
