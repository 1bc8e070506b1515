"""The shared library behind the package, for the MPI library that mpi4py uses."""

from __future__ import annotations

import ctypes
import functools
import os
import pathlib
import sys
from ctypes import POINTER, c_char_p, c_int, c_int64, c_size_t, c_void_p
from typing import Any

from . import errors

SUCCESS, BUSY, TIMED_OUT, EMPTY, FULL, CLOSED, NOT_FOUND, EXISTS = range(8)

ERRORS = {
    -1: errors.ArgumentError,
    -2: errors.NotHeldError,
    -3: errors.HeldError,
    -4: errors.InUseError,
    -5: errors.MismatchError,
    -6: errors.NoMPIError,
    -7: errors.MPIError,
    -8: errors.TransportError,
    -9: errors.TopologyError,
    -10: errors.NoMemoryError,
    -11: errors.StalledError,
}


class WorldOptions(ctypes.Structure):
    """nearfar_world_options"""

    _fields_ = [
        ("size", c_size_t),
        ("far_bytes", c_size_t),
        ("near_bytes", c_size_t),
        ("stall_limit_ns", c_int64),
        ("topology", c_char_p),
    ]


VISITOR = ctypes.CFUNCTYPE(None, c_void_p, c_void_p, c_void_p)

_handle, _place = c_void_p, POINTER(c_void_p)
_number, _size = POINTER(c_int), POINTER(c_size_t)

# Argument types of the functions used here, as in nearfar.h.
FUNCTIONS: dict[str, list[Any]] = {
    "world_from_fortran_comm": [c_int, POINTER(WorldOptions), _place],
    "world_destroy": [_place],
    "world_rank": [_handle, _number],
    "world_size": [_handle, _number],
    "world_barrier": [_handle],
    "world_progress": [_handle],
    "lock_create": [_handle, c_int, _place],
    "lock_destroy": [_place],
    "lock_acquire": [_handle],
    "lock_try_acquire": [_handle],
    "lock_acquire_for": [_handle, c_int64],
    "lock_release": [_handle],
    "rwlock_create": [_handle, c_int, _place],
    "rwlock_destroy": [_place],
    "rwlock_acquire": [_handle],
    "rwlock_try_acquire": [_handle],
    "rwlock_acquire_for": [_handle, c_int64],
    "rwlock_release": [_handle],
    "rwlock_acquire_shared": [_handle],
    "rwlock_try_acquire_shared": [_handle],
    "rwlock_acquire_shared_for": [_handle, c_int64],
    "rwlock_release_shared": [_handle],
    "queue_create": [_handle, c_int, c_size_t, c_size_t, _place],
    "queue_destroy": [_place],
    "queue_push": [_handle, c_char_p],
    "queue_try_push": [_handle, c_char_p],
    "queue_push_for": [_handle, c_char_p, c_int64],
    "queue_pop": [_handle, c_void_p],
    "queue_try_pop": [_handle, c_void_p],
    "queue_pop_for": [_handle, c_void_p, c_int64],
    "queue_close": [_handle],
    "queue_size_estimate": [_handle, _size],
    "map_create": [_handle, c_size_t, c_size_t, c_size_t, _place],
    "map_destroy": [_place],
    "map_find": [_handle, c_char_p, c_void_p],
    "map_insert": [_handle, c_char_p, c_char_p],
    "map_update": [_handle, c_char_p, c_char_p],
    "map_erase": [_handle, c_char_p, c_void_p],
    "map_visit_local": [_handle, VISITOR, c_void_p],
    "map_size": [_handle, _size],
    "map_capacity": [_handle, _size],
    "map_owner": [_handle, c_char_p, _number],
    "channel_create": [c_size_t, c_size_t, _place],
    "channel_destroy": [_place],
    "channel_send": [_handle, c_char_p, c_size_t],
    "channel_try_send": [_handle, c_char_p, c_size_t],
    "channel_send_for": [_handle, c_char_p, c_size_t, c_int64],
    "channel_receive": [_handle, c_void_p, c_size_t, _size],
    "channel_try_receive": [_handle, c_void_p, c_size_t, _size],
    "channel_receive_for": [_handle, c_void_p, c_size_t, _size, c_int64],
    "channel_close": [_handle],
    "channel_reopen": [_handle],
    "channel_is_closed": [_handle, _number],
    "channel_size_estimate": [_handle, _size],
}
TEXTS = ("error_text", "last_message", "version", "mpi_library")


def call(name: str, *arguments: Any) -> int:
    """Calls a function of the library without the global interpreter lock; returns its outcome, 0 or more."""
    status = getattr(load(), "nearfar_" + name)(*arguments)
    if status < 0:
        raise ERRORS.get(status, errors.Error)(text("last_message"))
    return int(status)


def text(name: str, *arguments: Any) -> str:
    """Calls a function of the library that returns a text."""
    said = getattr(load(), "nearfar_" + name)(*arguments)
    return str(said.decode(errors="replace"))


@functools.lru_cache(maxsize=None)
def load() -> ctypes.CDLL:
    """The shared library: named by NEARFAR_LIBRARY, or beside this file, or found by the system."""
    path = os.environ.get("NEARFAR_LIBRARY") or _installed()
    try:
        library = ctypes.CDLL(path)
    except OSError as problem:
        raise ImportError(
            f"the shared library of nearfar cannot be loaded ({problem}): install the package for this MPI library, "
            "or name the library's path in NEARFAR_LIBRARY"
        ) from None
    for name in TEXTS:
        function = getattr(library, "nearfar_" + name)
        function.restype, function.argtypes = c_char_p, [c_int] if name == "error_text" else []
    for name, arguments in FUNCTIONS.items():
        function = getattr(library, "nearfar_" + name)
        function.restype, function.argtypes = c_int, arguments
    _expect_same_mpi(library.nearfar_mpi_library().decode())
    return library


def _mpi_in_use() -> tuple[str, int] | None:
    """Name and major version of the MPI library of mpi4py, if mpi4py is in use and its library has a known name."""
    module = sys.modules.get("mpi4py.MPI")
    if module is None:
        return None
    vendor, version = module.get_vendor()
    name = {"Open MPI": "openmpi", "MPICH": "mpich", "Intel MPI": "intelmpi", "MVAPICH2": "mvapich2"}.get(vendor)
    return (name, int(version[0])) if name else None


def _expect_same_mpi(name: str) -> None:
    in_use = _mpi_in_use()
    if in_use is not None and name != "other" and not name.startswith(in_use[0]):
        raise ImportError(
            f"the shared library of nearfar is for {name}, but mpi4py uses {in_use[0]}: install the package for that, "
            "or name its library's path in NEARFAR_LIBRARY"
        )


def _installed() -> str:
    """The path of the matching library in this package, or a name for the system's search."""
    prefix = "libnearfar_c_"
    there = {path.name[len(prefix) : -len(".so")]: path
             for path in pathlib.Path(__file__).parent.glob(f"lib/{prefix}*.so")}  # fmt: skip
    in_use = _mpi_in_use()
    if in_use is None:
        return str(there[min(there)]) if there else f"{prefix}openmpi.so.0.1"
    name, major = in_use
    fitting = [one for one in (f"{name}{major}", name, *sorted(there)) if one in there and one.startswith(name)]
    return str(there[fitting[0]]) if fitting else f"{prefix}{name}.so.0.1"
