"""The ranks of a communicator, and what they share."""

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
    """If the block finds arguments wrong, the other ranks, which wait for this one in that function of the library, get
    MismatchError: called without a place for what is made, it says there that this rank makes nothing."""
    try:
        yield
    except Exception:
        with contextlib.suppress(Error):
            call(name, what, *(kind() for kind in _library.FUNCTIONS[name][1:]))  # zeros, and no place
        raise


class World(NotCopied):
    """The ranks of a communicator of mpi4py, with the memory that locks, queues and maps are in.

    Making and closing a world, and making anything in it, is collective: all ranks do it in the same order and with the
    same arguments. A world and what is in it is used by one thread at a time. ``far_bytes`` and ``near_bytes`` are the
    memory of each rank (4 MiB each by default), ``stall_limit`` the seconds after which a wait raises StalledError,
    ``topology`` what is to be taken for the machine, such as "node:2 core:4".
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
        # The library sees no wait that is cut into pieces.
        self._waits_whole = stall_limit is not None
        call("world_from_fortran_comm", comm.py2f(), ctypes.byref(options), ctypes.byref(self._handle))

    @property
    def rank(self) -> int:
        """This rank, from 0."""
        return _number("world_rank", self._handle)

    @property
    def size(self) -> int:
        """How many ranks there are."""
        return _number("world_size", self._handle)

    def barrier(self) -> None:
        """Waits for all ranks, and lets MPI progress. Collective. Who has finished waits here: others may need it."""
        call("world_barrier", self._handle)

    def progress(self) -> None:
        """Lets MPI complete what other ranks aim at this one; for loops that wait for something else."""
        call("world_progress", self._handle)

    def lock(self, home: int = 0) -> Lock:
        """An exclusive lock of all ranks. Collective."""
        return Lock(self, home)

    def rwlock(self, home: int = 0) -> RWLock:
        """A reader-writer lock of all ranks. Collective."""
        return RWLock(self, home)

    def queue(self, kind: Any, capacity: int, algorithm: str = "ticket") -> Queue:
        """A queue of all ranks with room for ``capacity`` values of each. Collective.

        ``kind`` is a dtype, for numpy's scalars, or a number, for that many bytes at most (1022). ``algorithm`` is
        "ticket", the fast one, or "lock-free", in which a rank that stops stops nobody.
        """
        return Queue(self, kind, capacity, algorithm)

    def map(self, keys: Any, values: Any, entries: int) -> Map:
        """A hash table with room for ``entries`` in the memory of each rank. Collective.

        ``keys`` and ``values`` are dtypes or numbers of bytes, of at most 64 and 512 bytes (62 and 510 for bytes). The
        hash of a key chooses the rank, so that one may be full before others: a third more than needed is ample.
        """
        return Map(self, keys, values, entries)

    def close(self) -> None:
        """Closes what was made in the world, and the world. Collective; waits for all ranks. HeldError if this rank
        holds a lock of it, and InUseError on the other ranks: the world stays, for all to close it again."""
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
        # After an exception the other ranks may never come here, and it is the exception that must be seen.
        if kind is None:
            self.close()


class _InWorld(NotCopied):
    """What has a handle, and lives in a world. ``checked`` returns what the library is to be given, or raises."""

    def __init__(self, world: World, kind: str, checked: Callable[[], tuple[int, ...]]) -> None:
        self._kind = kind
        self._world = world
        self._handle = ctypes.c_void_p()
        with _told_to_other_ranks(f"{kind}_create", world._handle):
            arguments = checked()
        # Before it is made: the world closes it, too, if an interrupt comes just after.
        world._objects.append(self)
        try:
            call(f"{kind}_create", world._handle, *arguments, ctypes.byref(self._handle))
        except Error:
            world._objects.remove(self)
            raise

    def _call(self, name: str, *arguments: Any) -> int:
        return call(f"{self._kind}_{name}", self._handle, *arguments)

    def close(self) -> None:
        """Gives this rank's part back; not collective, but only when no rank uses the object any more. The world does
        it for what was not closed."""
        if not self._handle:
            return
        call(f"{self._kind}_destroy", ctypes.byref(self._handle))
        self._world._objects.remove(self)


class _Exclusive(_InWorld):
    """What threading.Lock can do."""

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Waits for the lock and returns True; or, within so many seconds, whether it was free in time.

        Without a timeout in order of arrival, and Ctrl-C has to wait, too. With one it tries again and again.
        """
        return self._take("acquire", "release", blocking, timeout)

    def release(self) -> None:
        """Gives the lock up. NotHeldError if this rank does not hold it."""
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
    """A block in which a lock is held; no generator, in which an interrupt could come after the lock is taken."""

    @abc.abstractmethod
    def release(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            self.release()
        except Error:
            raise
        except BaseException:
            # An interrupt, which may have come before.
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
    """A lock that one rank holds exclusively, or any number share: ``with lock.writing():``, ``with lock.reading():``."""

    def __init__(self, world: World, home: int = 0) -> None:
        super().__init__(world, "rwlock", lambda: (checked_rank(home),))

    def acquire_shared(self, blocking: bool = True, timeout: float = -1) -> bool:
        """As ``acquire``, to share the lock."""
        return self._take("acquire_shared", "release_shared", blocking, timeout)

    def release_shared(self) -> None:
        """Gives up what was shared."""
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
        """Appends a value. Full if there is no room (in time, in seconds), Closed after ``finish``. Ctrl-C may come when
        the value is in."""
        data = self._items.encode(value)
        status, _ = self._wait("push", block, timeout, data)
        raise_unless_put(status)

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        """The oldest value. Empty if there is none (in time, in seconds), Closed if there will be none."""
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
        # Handed on one by one, as `settled` says.
        if not block:
            return settled(lambda: self._call(f"try_{name}", data), undo, result)
        if timeout is None and self._world._waits_whole:
            return settled(lambda: self._call(name, data), undo, result)
        return wait(lambda span: self._call(f"{name}_for", data, span), timeout, undo, result)

    def __iter__(self) -> Iterator[Any]:
        """All values that this rank gets, until the queue is finished and empty."""
        return iterate(self)

    def finish(self) -> None:
        """From now on nothing can be put, and ``get`` raises Closed when nothing is left; on all ranks, by any."""
        self._call("close")

    def qsize(self) -> int:
        """Values in the queue as far as this rank knows."""
        result = ctypes.c_size_t()
        self._call("size_estimate", ctypes.byref(result))
        return result.value


class Map(_InWorld):
    """A hash table in the memory of all ranks, with the operators of a dict, but not to be iterated. Lock-free."""

    __iter__ = None  # or the interpreter would ask for the keys 0, 1, 2 ...

    def __init__(self, world: World, keys: Any, values: Any, entries: int) -> None:
        def checked() -> tuple[int, ...]:
            self._keys = keys_of(keys)
            self._values = items_of(values)
            return self._keys.size, self._values.size, checked_size(entries)

        super().__init__(world, "map", checked)

    def get(self, key: Any, default: Any = None) -> Any:
        """The value of ``key``, or the default."""
        buffer = ctypes.create_string_buffer(self._values.size)
        found = self._call("find", self._keys.encode(key), buffer) == _library.SUCCESS
        return self._values.decode(buffer.raw) if found else default

    def insert(self, key: Any, value: Any) -> bool:
        """Adds an entry and returns True, or False if there is one already, which stays. Full if there is no room."""
        return self._put("insert", self._keys.encode(key), self._values.encode(value))

    def replace(self, key: Any, value: Any) -> bool:
        """Gives an entry another value and returns True, or False if there is none. Full if there is no room for it."""
        return self._put("update", self._keys.encode(key), self._values.encode(value))

    def pop(self, key: Any, *default: Any) -> Any:
        """Removes an entry and returns its value, or the default; KeyError without one.

        Ctrl-C puts the entry back, which other ranks may have missed meanwhile, unless there is another one with this key
        by then, or no room.
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
        """Adds an entry or gives it another value, whatever other ranks do meanwhile. Full if there is no room."""
        while not self.replace(key, value) and not self.insert(key, value):
            pass

    def __delitem__(self, key: Any) -> None:
        self.pop(key)

    def __contains__(self, key: Any) -> bool:
        missing = object()
        return self.get(key, missing) is not missing

    def local_items(self) -> list[tuple[Any, Any]]:
        """The entries in this rank's memory."""
        entries: list[tuple[Any, Any]] = []

        def visit(key: int, value: int, _: int | None) -> None:
            entries.append((ctypes.string_at(key, self._keys.size), ctypes.string_at(value, self._values.size)))

        self._call("visit_local", _library.VISITOR(visit), None)
        return [(self._keys.decode(key), self._values.decode(value)) for key, value in entries]

    def size(self) -> int:
        """Entries in the memory of all ranks. Collective, which is why it is not ``len``."""
        result = ctypes.c_size_t()
        self._call("size", ctypes.byref(result))
        return result.value

    @property
    def capacity(self) -> int:
        """The most that there can be."""
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
