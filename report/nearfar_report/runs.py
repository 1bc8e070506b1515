"""The progress of a run, from the records between and after the samples of its file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .fields import RERUN, Checks, Record, ResultsError, check_fields, is_count, printable

# Why a run ended early whose file just ends.
TORN = "its last line is cut off, as when it is killed or the disk is full"
SILENT = "its file does not say why; it was killed, or is still running"

_END: Checks = {"samples": ("a whole number of at least 0", is_count)}
_PRESENT = ("present", lambda _: True)
_RECORDS: dict[Any, Checks] = {
    "end": _END,
    "stall": {"what": _PRESENT, "why": _PRESENT},
    "interrupted": {"why": _PRESENT},
    "resumed": dict.fromkeys(("argv", "start_time", "commit", "host"), _PRESENT),
}
_IS_COUNT: Checks = {"records_expected": ("a whole number of at least 0", is_count)}
MOST_OF_A_REASON = 400  # characters shown


@dataclass
class Run:
    """The state of a run after some line of its file."""

    expected: int
    samples: int = 0
    ended_by: Record | None = None
    ended_at: int = 0
    resumed: list[Record] = field(default_factory=list)
    is_torn: bool = False

    def take(self, path: str, line: int, record: Record) -> bool:
        """Follows one record after the provenance; whether it was about the run, and is no sample."""
        what = record.get("record")
        about_run = isinstance(what, str) and what in _RECORDS
        if about_run:
            check_fields(path, line, record, _RECORDS[what])
            check_fields(path, line, record, {f: c for f, c in _IS_COUNT.items() if f in record})
        if what == "resumed":
            self.resumed.append(record)
            self.ended_by = None
            self.expected = record.get("records_expected", self.expected)
            return True
        if self.ended_by is not None:
            todo = f"keep runs in separate files, or {RERUN}"
            raise ResultsError(path, line, f"the run had ended in line {self.ended_at}", todo)
        if about_run:
            self.ended_by, self.ended_at = record, line
            if what == "end" and record["samples"] != self.samples:
                found = f"'samples' is {record['samples']}, but the file holds {self.samples}"
                raise ResultsError(path, line, found, RERUN)
        return about_run

    @property
    def announced(self) -> int | None:
        """The largest allowed number of samples; None if the run itself says that it is complete."""
        return None if self._is_complete else self.expected

    @property
    def shortfall(self) -> str | None:
        """The reason why the run ended early; None if it is complete."""
        if self._is_complete:
            return None
        if self.ended_by is not None:
            why = str(self.ended_by["why"])
            return _shown(f"{self.ended_by['what']} stalls: {why}" if self.ended_by["record"] == "stall" else why)
        if self.is_torn:
            return TORN
        return SILENT if self.samples < self.expected else None

    @property
    def _is_complete(self) -> bool:
        return self.ended_by is not None and self.ended_by["record"] == "end"


def _shown(reason: str) -> str:
    return printable(reason)[:MOST_OF_A_REASON]


def change_of(provenance: Record, resumed: Record) -> str | None:
    """The changes of a resumed run that may affect its figures, in words; None if there are none."""
    changes = [
        f"{meaning} {printable(str(resumed[name]))} instead of {printable(str(provenance[name]))}"
        for name, meaning in (("host", "on"), ("commit", "with commit"))
        if resumed[name] != provenance[name]
    ]
    return " and ".join(changes) or None
