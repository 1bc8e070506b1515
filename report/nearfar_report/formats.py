"""What a schema of results files consists of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .fields import Record
from .statements import Statement


@dataclass(frozen=True)
class Format:
    """One schema: what its records must hold, and which samples must not enter any figure."""

    schema: str
    # Raises the ResultsError of the first fault of a record: path, line, record.
    check_provenance: Callable[[str, int, Record], None]
    check_sample: Callable[[str, int, Record, Statement], None]
    # Why a sample is void, or None.
    void_reason: Callable[[Record, Statement], str | None]
    # The configuration of a sample in a few words.
    describe: Callable[[Record, Statement], str]
    # What tells the configuration of a sample apart from others, by name: benchmark and object first.
    configuration: Callable[[Record, Statement], Record]
    # What a sample measured, as nanoseconds of one unit of its work; None if it does not know.
    time_ns: Callable[[Record], float | None]
