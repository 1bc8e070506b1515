"""Conversion of Python values to the bytes that queues, maps and channels hold, and back."""

from __future__ import annotations

import abc
from typing import Any

import numpy as np

from .errors import ArgumentError


class Items(abc.ABC):
    """Values of one kind, each of which takes ``size`` bytes."""

    size: int

    @abc.abstractmethod
    def encode(self, value: Any) -> bytes:
        """Returns the value's bytes. Raises ArgumentError if the value is not of this kind."""

    @abc.abstractmethod
    def decode(self, data: bytes) -> Any:
        """Returns the value that was encoded."""


def items_of(kind: Any) -> Items:
    """``kind`` is what numpy accepts as a dtype, for its scalars; or a number, for ``bytes`` of at most that length."""
    if kind is None:
        raise ArgumentError("values of no kind: give a dtype, or a number of bytes")
    if isinstance(kind, (int, np.integer)) and not isinstance(kind, bool):
        return Bytes(int(kind))
    return Scalars(kind)


def keys_of(kind: Any) -> Items:
    """The same for keys. Two keys are equal if all their bytes are, so a dtype with padding bytes, whose values are
    arbitrary, raises ArgumentError."""
    items = items_of(kind)
    if isinstance(items, Scalars) and _bytes_that_count(items.dtype) != items.size:
        raise ArgumentError(
            f"keys of dtype {items.dtype} have padding, which differs where the values do not: "
            "give a packed dtype, without align=True, or for a long double float64"
        )
    return items


def _bytes_that_count(dtype: np.dtype[Any]) -> int:
    """Number of bytes of a dtype that are not padding."""
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return _bytes_that_count(base) * int(np.prod(shape))
    if dtype.names is not None:
        return sum(_bytes_that_count(dtype[name]) for name in dtype.names)
    # A long double of x86 has 10 significant bytes in 16.
    return 0 if dtype.char in "gG" else dtype.itemsize


class Scalars(Items):
    """Scalars of a dtype, including structured ones."""

    def __init__(self, kind: Any) -> None:
        self.dtype = np.dtype(kind)
        if self.dtype.hasobject or self.dtype.itemsize == 0:
            raise ArgumentError(f"values of dtype {self.dtype} have no fixed bytes: give a number of bytes, for bytes")
        if self.dtype.subdtype is not None:
            raise ArgumentError(f"{self.dtype} is no scalar: give a structured dtype with a field of it")
        self.size = self.dtype.itemsize

    def encode(self, value: Any) -> bytes:
        try:
            if self.dtype.kind in "iu":
                value = self._exact(value)
            array = np.asarray(value, dtype=self.dtype)
        except (OverflowError, TypeError, ValueError) as problem:
            raise ArgumentError(f"{value!r} is no {self.dtype}: {problem}") from None
        if array.shape != ():
            raise ArgumentError(f"one {self.dtype} is wanted, not an array of shape {array.shape}")
        return array.tobytes()

    def _exact(self, value: Any) -> int:
        """Returns the value as a whole number. Raises ValueError if it is not one, or too large or small."""
        if np.ndim(value) != 0:
            raise ValueError("one number is wanted")
        number = int(value)
        limits = np.iinfo(self.dtype)
        if not limits.min <= number <= limits.max or number != value:
            raise ValueError(f"whole numbers from {limits.min} to {limits.max} are")
        return number

    def decode(self, data: bytes) -> Any:
        return np.frombuffer(data, dtype=self.dtype, count=1)[0]


class Bytes(Items):
    """Bytes of limited length, prefixed with their number."""

    PREFIX = 2

    def __init__(self, most: int) -> None:
        if not 0 < most < 1 << 8 * self.PREFIX:
            raise ArgumentError(f"a value has 1 to {(1 << 8 * self.PREFIX) - 1} bytes at most, not {most}")
        self._most = most
        self.size = most + self.PREFIX

    def encode(self, value: Any) -> bytes:
        if not isinstance(value, (bytes, bytearray, memoryview)):
            raise ArgumentError(f"bytes are wanted, not {type(value).__name__}")
        data = bytes(value)
        if len(data) > self._most:
            raise ArgumentError(f"{len(data)} bytes do not fit into {self._most}")
        return (len(data).to_bytes(self.PREFIX, "little") + data).ljust(self.size, b"\0")

    def decode(self, data: bytes) -> bytes:
        length = int.from_bytes(data[: self.PREFIX], "little")
        return data[self.PREFIX : self.PREFIX + length]
