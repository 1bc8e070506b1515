"""Common code for all kinds of results files: errors that name the place, and checks of single fields."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

RERUN = "run the benchmark again"

Record = dict[str, Any]
Check = Callable[[Any], bool]
Checks = Mapping[str, tuple[str, Check]]  # field: its meaning in words, and the test


class ReportError(Exception):
    """Something the user has to put right; its text is the one line shown on stderr."""


class LostOutput(ReportError):
    """Standard output or a disk takes no more."""


class ResultsError(ReportError):
    """A results file that cannot be used."""

    def __init__(self, path: str, line: int | None, what: str, todo: str) -> None:
        place = printable(path) if line is None else f"{printable(path)}:{line}"
        super().__init__(f"{place}: {what}; {todo}")


def printable(text: str) -> str:
    """The text on one line, whatever bytes a file name or a record holds."""
    if text.isprintable():
        return text
    return text.encode("unicode_escape", "backslashreplace").decode("ascii")


def text_of(value: Any) -> str:
    """A value as tables and labels show it; whole numbers look alike however they were written."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps(value, sort_keys=True)


def is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def is_count(value: Any) -> bool:
    return is_integer(value) and value >= 0


def is_positive(value: Any) -> bool:
    return is_integer(value) and value > 0


def is_value(value: Any) -> bool:
    """Whether this is a finite number, of either sign. Python reads 1e999 as infinite, and whole numbers of any size."""
    return (is_integer(value) or isinstance(value, float)) and abs(value) <= sys.float_info.max


def is_number(value: Any) -> bool:
    return is_value(value) and value >= 0


def is_name(value: Any) -> bool:
    return isinstance(value, str) and value != "" and value.isprintable()


def or_null(check: Check) -> Check:
    return lambda value: value is None or check(value)


def check_fields(path: str, line: int, record: Record, checks: Checks) -> None:
    """Raises a ResultsError at the first field that is missing or holds something else."""
    for field, (meaning, accepts) in checks.items():
        if field not in record:
            raise ResultsError(path, line, f"required field '{field}' is missing", RERUN)
        if not accepts(record[field]):
            shown = printable(json.dumps(record[field], ensure_ascii=False))[:60]
            raise ResultsError(path, line, f"field '{field}' is {shown}, but must be {meaning}", RERUN)


# Fields that are only shown are checked for presence.
_PROVENANCE: Checks = {
    **{
        field: ("present", lambda _: True)
        for field in (
            "library_version", "commit", "compiler", "flags", "mpi_library", "mpi_transport", "host", "hardware",
            "topology", "binding", "oversubscribed", "seed", "argv", "start_time",
        )
    },
    "benchmark": ("a benchmark name", is_name),
    "records_expected": ("a whole number of at least 0", is_count),
}  # fmt: skip


def check_provenance(path: str, line: int, record: Record) -> None:
    """Checks the fields that the first record of every schema has."""
    check_fields(path, line, record, _PROVENANCE)
