"""Channels between the threads of a process."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from . import _library
from ._library import call
from ._waiting import NotCopied, Source, checked_size, iterate, raise_unless_got, raise_unless_put, settled, wait
from .items import items_of


class Channel(NotCopied, Source):
    """A channel between threads, first in, first out. Any thread may put and get. Needs no MPI.

    ``kind`` is a dtype, for numpy's scalars, or a number, for ``bytes`` of at most that length.
    """

    def __init__(self, kind: Any, capacity: int) -> None:
        self._items = items_of(kind)
        self._handle = ctypes.c_void_p()
        call("channel_create", self._items.size, checked_size(capacity), ctypes.byref(self._handle))

    def put(self, value: Any, block: bool = True, timeout: float | None = None) -> None:
        """Sends a value. Raises Full if there is no room (within ``timeout`` seconds), Closed after ``close``. Ctrl-C
        may take effect after the value was sent."""
        data = self._items.encode(value)

        def send(span: int) -> int:
            return call("channel_send_for", self._handle, data, len(data), span)

        if block:
            status, _ = wait(send, timeout)
        else:
            status = call("channel_try_send", self._handle, data, len(data))
        raise_unless_put(status)

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        """Takes the oldest value. Raises Empty if none is there (in ``timeout`` seconds), Closed if none can come."""
        if self._kept_for_this_thread():
            value, self._kept = self._kept, Source._NOTHING
            return value
        size = self._items.size
        buffer = ctypes.create_string_buffer(size)

        def receive(span: int) -> int:
            return call("channel_receive_for", self._handle, buffer, size, None, span)

        def receive_at_once() -> int:
            return call("channel_try_receive", self._handle, buffer, size, None)

        def decoded() -> Any:
            return self._items.decode(buffer.raw)

        if block:
            status, value = wait(receive, timeout, self._keep, decoded)
        else:
            status, value = settled(receive_at_once, self._keep, decoded)
        if status == _library.SUCCESS:
            return value
        raise_unless_got(status)

    def __iter__(self) -> Iterator[Any]:
        """Receives all values until the channel is closed and empty."""
        return iterate(self)

    def close(self) -> None:
        """From now on nothing can be put; waiting threads are told. Values in the channel can still be got."""
        call("channel_close", self._handle)

    def reopen(self) -> None:
        """Opens the channel again."""
        call("channel_reopen", self._handle)

    @property
    def closed(self) -> bool:
        """Whether the channel is closed."""
        result = ctypes.c_int()
        call("channel_is_closed", self._handle, ctypes.byref(result))
        return result.value != 0

    def qsize(self) -> int:
        """Number of values in the channel; an estimate while others put and get."""
        result = ctypes.c_size_t()
        call("channel_size_estimate", self._handle, ctypes.byref(result))
        return result.value

    def __enter__(self) -> Channel:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def __del__(self) -> None:
        # No thread uses an object without references.
        if getattr(self, "_handle", None):
            call("channel_destroy", ctypes.byref(self._handle))
