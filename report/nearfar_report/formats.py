"""The description of one schema of results files."""

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
    # The reason why a sample is void, or None.
    void_reason: Callable[[Record, Statement], str | None]
    # The configuration of a sample in a few words.
    describe: Callable[[Record, Statement], str]
    # The settings of a sample's configuration by name, benchmark and object first.
    configuration: Callable[[Record, Statement], Record]
    # The nanoseconds of one unit of a sample's work; None if the sample does not hold them.
    time_ns: Callable[[Record], float | None]
