"""The ranks of a communicator, and the objects that they share."""

from __future__ import annotations

import abc
import contextlib
import ctypes
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

from . import _library
from ._library import call
from ._waiting import (
    InterruptDeferred,
    NotCopied,
    Source,
    checked_rank,
    checked_size,
    iterate,
    nanoseconds,
    raise_unless_got,
    raise_unless_put,
    settled,
    wait,
)
from .errors import ArgumentError, Error, Full, HeldError, InUseError, NotHeldError
from .items import items_of, keys_of

_KINDS = {"ticket": 0, "lock-free": 1}


@contextlib.contextmanager
def _told_to_other_ranks(name: str, what: Any) -> Iterator[None]:
    """If the block raises for wrong arguments, tells the other ranks, which wait for this one in that function of the
    library. This rank calls the function without a place for the new object; the others then get MismatchError."""
    try:
        yield
    except Exception:
        with contextlib.suppress(Error):
            call(name, what, *(kind() for kind in _library.FUNCTIONS[name][1:]))  # zeros, and no place
        raise


class World(NotCopied):
    """The ranks of a communicator of mpi4py, with the memory for locks, queues and maps.

    Making and closing a world, and making anything in it, is collective: all ranks do it in the same order and with the
    same arguments. One thread at a time uses a world and the objects in it. ``far_bytes`` and ``near_bytes`` are the
    memory of each rank (4 MiB each by default), ``stall_limit`` is the number of seconds after which a wait raises
    StalledError, ``topology`` replaces the machine's own topology, for example by "node:2 core:4".
    """

    def __init__(
        self,
        comm: Any,
        *,
        far_bytes: int = 0,
        near_bytes: int = 0,
        stall_limit: float | None = None,
        topology: str | None = None,
    ) -> None:
        if not hasattr(comm, "py2f"):
            raise TypeError(f"a world is made of a communicator of mpi4py, not of {type(comm).__name__}")
        with _told_to_other_ranks("world_from_fortran_comm", comm.py2f()):
            options = _library.WorldOptions(
                size=ctypes.sizeof(_library.WorldOptions),
                far_bytes=checked_size(far_bytes),
                near_bytes=checked_size(near_bytes),
                stall_limit_ns=0 if stall_limit is None else max(nanoseconds(stall_limit), 1),
                topology=None if topology is None else topology.encode(),
            )
        self._handle = ctypes.c_void_p()
        self._objects: list[_InWorld] = []
        # The library cannot measure a wait that is cut into pieces.
        self._waits_whole = stall_limit is not None
        call("world_from_fortran_comm", comm.py2f(), ctypes.byref(options), ctypes.byref(self._handle))

    @property
    def rank(self) -> int:
        """This rank, from 0."""
        return _number("world_rank", self._handle)

    @property
    def size(self) -> int:
        """Number of ranks."""
        return _number("world_size", self._handle)

    def barrier(self) -> None:
        """Waits for all ranks while MPI progresses. Collective.

        A rank that has finished its work waits here: other ranks may need its progress.
        """
        call("world_barrier", self._handle)

    def progress(self) -> None:
        """Lets MPI complete other ranks' operations on this one. For loops that wait for something outside nearfar."""
        call("world_progress", self._handle)

    def lock(self, home: int = 0) -> Lock:
        """Makes an exclusive lock of all ranks. Collective."""
        return Lock(self, home)

    def rwlock(self, home: int = 0) -> RWLock:
        """Makes a reader-writer lock of all ranks. Collective."""
        return RWLock(self, home)

    def queue(self, kind: Any, capacity: int, algorithm: str = "ticket") -> Queue:
        """Makes a queue of all ranks with room for ``capacity`` values of each. Collective.

        ``kind`` is a dtype, for numpy's scalars, or a number up to 1022, for ``bytes`` of at most that length.
        ``algorithm`` is "ticket", the fast one, or "lock-free", in which a stopped rank stops no other.
        """
        return Queue(self, kind, capacity, algorithm)

    def map(self, keys: Any, values: Any, entries: int) -> Map:
        """Makes a hash table with room for ``entries`` in the memory of each rank. Collective.

        ``keys`` and ``values`` are dtypes of at most 64 and 512 bytes, or numbers of bytes up to 62 and 510. The hash
        of a key chooses the rank, so that one rank may be full before others: a third more than needed is ample.
        """
        return Map(self, keys, values, entries)

    def close(self) -> None:
        """Closes all objects made in the world, and the world. Collective; waits for all ranks. Raises HeldError if
        this rank holds a lock of the world, and InUseError on the other ranks. The world then stays, and all ranks
        close it again."""
        held: HeldError | None = None
        for one in reversed(self._objects.copy()):
            try:
                one.close()
            except HeldError as problem:
                held = held or problem
        try:
            if self._handle:
                call("world_destroy", ctypes.byref(self._handle))
        except InUseError:
            if held is None:
                raise
            raise held from None

    def __enter__(self) -> World:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        # After an exception the other ranks may never come here, and the user must see the exception.
        if kind is None:
            self.close()


class _InWorld(NotCopied):
    """An object with a handle, in a world. ``checked`` returns the arguments for the library, or raises."""

    def __init__(self, world: World, kind: str, checked: Callable[[], tuple[int, ...]]) -> None:
        self._kind = kind
        self._world = world
        self._handle = ctypes.c_void_p()
        with _told_to_other_ranks(f"{kind}_create", world._handle):
            arguments = checked()
        # Before the call: so the world closes the object, too, if an interrupt arrives just after.
        world._objects.append(self)
        try:
            call(f"{kind}_create", world._handle, *arguments, ctypes.byref(self._handle))
        except Error:
            world._objects.remove(self)
            raise

    def _call(self, name: str, *arguments: Any) -> int:
        return call(f"{self._kind}_{name}", self._handle, *arguments)

    def close(self) -> None:
        """Destroys this rank's part. Not collective, but allowed only when no rank uses the object any more. The world
        closes the objects that were not closed."""
        if not self._handle:
            return
        call(f"{self._kind}_destroy", ctypes.byref(self._handle))
        self._world._objects.remove(self)


class _Exclusive(_InWorld):
    """The interface of threading.Lock."""

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Waits for the lock and returns True; with a timeout in seconds, returns whether it got the lock in time.

        Without a timeout ranks get the lock in order of arrival, and Ctrl-C takes effect only then. With one, this
        rank tries again and again.
        """
        return self._take("acquire", "release", blocking, timeout)

    def release(self) -> None:
        """Releases the lock. Raises NotHeldError if this rank does not hold it."""
        self._call("release")

    def _take(self, acquire: str, release: str, blocking: bool, timeout: float) -> bool:
        def undo(_: Any) -> None:
            self._call(release)

        if not blocking:
            status, _ = settled(lambda: self._call(f"try_{acquire}"), undo)
        elif timeout == -1:
            status, _ = settled(lambda: self._call(acquire), undo)
        else:
            status, _ = wait(lambda span: self._call(f"{acquire}_for", span), timeout, undo)
        return status == _library.SUCCESS


class _Block(abc.ABC):
    """A block in which a lock is held. Not a generator, where an interrupt could arrive after the lock was taken."""

    @abc.abstractmethod
    def release(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            self.release()
        except Error:
            raise
        except BaseException:
            # An interrupt, which may have arrived before the release.
            with InterruptDeferred(), contextlib.suppress(NotHeldError):
                self.release()
            raise


class Lock(_Exclusive, _Block):
    """An exclusive lock of all ranks of a world, not recursive: ``with lock:``."""

    def __init__(self, world: World, home: int = 0) -> None:
        super().__init__(world, "lock", lambda: (checked_rank(home),))

    def __enter__(self) -> Lock:
        self.acquire()
        return self


class RWLock(_Exclusive):
    """A lock that one rank holds, or any number share: ``with lock.writing():``, ``with lock.reading():``."""

    def __init__(self, world: World, home: int = 0) -> None:
        super().__init__(world, "rwlock", lambda: (checked_rank(home),))

    def acquire_shared(self, blocking: bool = True, timeout: float = -1) -> bool:
        """As ``acquire``, but shares the lock."""
        return self._take("acquire_shared", "release_shared", blocking, timeout)

    def release_shared(self) -> None:
        """Releases the shared lock."""
        self._call("release_shared")

    def writing(self) -> _Holding:
        """Holds the lock exclusively."""
        return _Holding(self.acquire, self.release)

    def reading(self) -> _Holding:
        """Shares the lock."""
        return _Holding(self.acquire_shared, self.release_shared)


class _Holding(_Block):
    def __init__(self, acquire: Callable[[], bool], release: Callable[[], None]) -> None:
        self._acquire, self._give = acquire, release

    def __enter__(self) -> None:
        self._acquire()

    def release(self) -> None:
        self._give()


class Queue(_InWorld, Source):
    """A queue of all ranks, first in, first out. Any rank puts and gets at any time."""

    def __init__(self, world: World, kind: Any, capacity: int, algorithm: str = "ticket") -> None:
        def checked() -> tuple[int, ...]:
            self._items = items_of(kind)
            if algorithm not in _KINDS:
                raise ArgumentError(f"there is no algorithm {algorithm!r}, but {' and '.join(_KINDS)}")
            return _KINDS[algorithm], self._items.size, checked_size(capacity)

        super().__init__(world, "queue", checked)

    def put(self, value: Any, block: bool = True, timeout: float | None = None) -> None:
        """Appends a value. Raises Full if there is no room (within ``timeout`` seconds), Closed after ``finish``.
        Ctrl-C may take effect after the value was appended."""
        data = self._items.encode(value)
        status, _ = self._wait("push", block, timeout, data)
        raise_unless_put(status)

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        """Takes the oldest value. Raises Empty if none is there (in ``timeout`` seconds), Closed if none can come."""
        if self._kept_for_this_thread():
            value, self._kept = self._kept, Source._NOTHING
            return value
        buffer = ctypes.create_string_buffer(self._items.size)
        status, value = self._wait("pop", block, timeout, buffer, self._keep, lambda: self._items.decode(buffer.raw))
        if status == _library.SUCCESS:
            return value
        raise_unless_got(status)

    def _wait(
        self,
        name: str,
        block: bool,
        timeout: float | None,
        data: Any,
        undo: Callable[[Any], Any] = bool,
        result: Callable[[], Any] = bool,
    ) -> tuple[int, Any]:
        # Returned directly in each branch, for the reason that `settled` gives.
        if not block:
            return settled(lambda: self._call(f"try_{name}", data), undo, result)
        if timeout is None and self._world._waits_whole:
            return settled(lambda: self._call(name, data), undo, result)
        return wait(lambda span: self._call(f"{name}_for", data, span), timeout, undo, result)

    def __iter__(self) -> Iterator[Any]:
        """Takes values for this rank until the queue is finished and empty."""
        return iterate(self)

    def finish(self) -> None:
        """From now on no rank can put, and ``get`` raises Closed when nothing is left. Any rank may call it."""
        self._call("close")

    def qsize(self) -> int:
        """Number of values in the queue as far as this rank knows."""
        result = ctypes.c_size_t()
        self._call("size_estimate", ctypes.byref(result))
        return result.value


class Map(_InWorld):
    """A hash table in the memory of all ranks, with the operators of a dict, but without iteration. Lock-free."""

    __iter__ = None  # else the interpreter would ask for the keys 0, 1, 2 ...

    def __init__(self, world: World, keys: Any, values: Any, entries: int) -> None:
        def checked() -> tuple[int, ...]:
            self._keys = keys_of(keys)
            self._values = items_of(values)
            return self._keys.size, self._values.size, checked_size(entries)

        super().__init__(world, "map", checked)

    def get(self, key: Any, default: Any = None) -> Any:
        """Returns the value of ``key``, or the default."""
        buffer = ctypes.create_string_buffer(self._values.size)
        found = self._call("find", self._keys.encode(key), buffer) == _library.SUCCESS
        return self._values.decode(buffer.raw) if found else default

    def insert(self, key: Any, value: Any) -> bool:
        """Adds an entry and returns True; False if the key has one, which stays. Raises Full if there is no room."""
        return self._put("insert", self._keys.encode(key), self._values.encode(value))

    def replace(self, key: Any, value: Any) -> bool:
        """Changes an entry's value and returns True; False if there is no entry. Raises Full if there is no room."""
        return self._put("update", self._keys.encode(key), self._values.encode(value))

    def pop(self, key: Any, *default: Any) -> Any:
        """Removes an entry and returns its value; without an entry returns the default, or raises KeyError without one.

        Ctrl-C puts the entry back, unless there is another one with this key by then, or no room. Other ranks may have
        missed the entry meanwhile.
        """
        buffer = ctypes.create_string_buffer(self._values.size)
        encoded = self._keys.encode(key)
        status, value = settled(
            lambda: self._call("erase", encoded, buffer),
            lambda _: self._call("insert", encoded, buffer),
            lambda: self._values.decode(buffer.raw),
        )
        if status == _library.SUCCESS:
            return value
        if default:
            return default[0]
        raise KeyError(key)

    def __getitem__(self, key: Any) -> Any:
        missing = object()
        value = self.get(key, missing)
        if value is missing:
            raise KeyError(key)
        return value

    def __setitem__(self, key: Any, value: Any) -> None:
        """Adds an entry or changes its value, whatever other ranks do meanwhile. Raises Full if there is no room."""
        while not self.replace(key, value) and not self.insert(key, value):
            pass

    def __delitem__(self, key: Any) -> None:
        self.pop(key)

    def __contains__(self, key: Any) -> bool:
        missing = object()
        return self.get(key, missing) is not missing

    def local_items(self) -> list[tuple[Any, Any]]:
        """Returns the entries in this rank's memory."""
        entries: list[tuple[Any, Any]] = []

        def visit(key: int, value: int, _: int | None) -> None:
            entries.append((ctypes.string_at(key, self._keys.size), ctypes.string_at(value, self._values.size)))

        self._call("visit_local", _library.VISITOR(visit), None)
        return [(self._keys.decode(key), self._values.decode(value)) for key, value in entries]

    def size(self) -> int:
        """Number of entries in the memory of all ranks. Collective, which is why it is not ``len``."""
        result = ctypes.c_size_t()
        self._call("size", ctypes.byref(result))
        return result.value

    @property
    def capacity(self) -> int:
        """The most entries that the map can hold."""
        result = ctypes.c_size_t()
        self._call("capacity", ctypes.byref(result))
        return result.value

    def owner(self, key: Any) -> int:
        """The rank in whose memory the entry of ``key`` is, or would be."""
        result = ctypes.c_int()
        self._call("owner", self._keys.encode(key), ctypes.byref(result))
        return result.value

    def _put(self, name: str, key: bytes, value: bytes) -> bool:
        status = self._call(name, key, value)
        if status == _library.FULL:
            raise Full("the rank that the key belongs to has no room: make the map with more entries")
        return status == _library.SUCCESS


def _number(name: str, handle: ctypes.c_void_p) -> int:
    result = ctypes.c_int()
    call(name, handle, ctypes.byref(result))
    return result.value
