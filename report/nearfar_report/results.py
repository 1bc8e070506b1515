"""Reading and checking of results files (JSON Lines, schema ``nearfar.results/1``).

A file is either accepted as a whole or refused with one ResultsError that names file, line and remedy.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

SCHEMA = "nearfar.results/1"
RERUN = "run the benchmark again"

Record = dict[str, Any]
Check = Callable[[Any], bool]


class ReportError(Exception):
    """Something the user has to put right; its text is the one line shown on stderr."""


class ResultsError(ReportError):
    """A results file that cannot be used."""

    def __init__(self, path: str, line: int | None, what: str, todo: str) -> None:
        place = printable(path) if line is None else f"{printable(path)}:{line}"
        super().__init__(f"{place}: {what}; {todo}")


@dataclass(frozen=True)
class Sample:
    """One repetition of one configuration, with the line it stands on."""

    line: int
    record: Record

    @property
    def void_reason(self) -> str | None:
        """Why this sample must not enter any figure, or None when it may."""
        if not self.record["verified"]:
            return "verified is false: the lock did not protect the counter"
        if self.record["iterations"] == 0:
            return "no acquisition at all in the measured time"
        return None


@dataclass(frozen=True)
class ResultsFile:
    """An accepted results file."""

    path: str
    label: str
    provenance: Record
    samples: tuple[Sample, ...]


def printable(text: str) -> str:
    """The text on one line, whatever bytes a file name or a record holds."""
    if text.isprintable():
        return text
    return text.encode("unicode_escape", "backslashreplace").decode("ascii")


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return _is_integer(value) and value >= 0


def _is_positive(value: Any) -> bool:
    return _is_integer(value) and value > 0


def _is_number(value: Any) -> bool:
    return (_is_integer(value) or isinstance(value, float)) and value >= 0


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and value != "" and value.isprintable()


def _or_null(check: Check) -> Check:
    return lambda value: value is None or check(value)


# What each field must hold, in words and as a check. Fields that are only shown are checked for presence.
_PROVENANCE_SHOWN = (
    "library_version", "commit", "compiler", "flags", "mpi_library", "mpi_transport", "host", "hardware", "topology",
    "binding", "oversubscribed", "seed", "argv", "start_time",
)  # fmt: skip
_PROVENANCE_CHECKS: dict[str, tuple[str, Check]] = {
    "benchmark": ("a benchmark name", _is_name),
    "records_expected": ("a whole number of at least 0", _is_count),
}
_SAMPLE_CHECKS: dict[str, tuple[str, Check]] = {
    "benchmark": ("a benchmark name", _is_name),
    "lock": ("a lock name", _is_name),
    "parameters": ("an object", lambda value: isinstance(value, dict)),
    "world": ("a world name", _is_name),
    "machine": ("a text", lambda value: isinstance(value, str)),
    "nodes": ("a whole number of at least 1", _is_positive),
    "ranks": ("a whole number of at least 1", _is_positive),
    "repetition": ("a whole number of at least 0", _is_count),
    "duration_ns": ("a whole number of at least 1", _is_positive),
    "iterations": ("a whole number of at least 0", _is_count),
    "iterations_per_rank": (
        "a list of whole numbers of at least 0",
        lambda value: isinstance(value, list) and all(_is_count(entry) for entry in value),
    ),
    "contended": ("a whole number of at least 0 or null", _or_null(_is_count)),
    "local_handovers": ("a whole number of at least 0 or null", _or_null(_is_count)),
    "verified": ("true or false", lambda value: isinstance(value, bool)),
}
_SAMPLE_OPTIONAL: dict[str, tuple[str, Check]] = {
    "followed_other_share": ("a number or null", _or_null(_is_number)),
}
_UPB_CHECKS: dict[str, tuple[str, Check]] = {
    "scenario": (
        "one of 1a to 3c",
        lambda value: isinstance(value, str) and re.fullmatch("[123][abc]", value) is not None,
    ),
    "ns_per_acquisition": ("a number or null", _or_null(_is_number)),
}


def read_all(paths: Sequence[str]) -> list[ResultsFile]:
    """Reads and checks every file before any of them is used."""
    seen: set[str] = set()
    for path in paths:
        identity = os.path.realpath(path)
        if identity in seen:
            raise ResultsError(path, None, "is given twice", "name each results file once")
        seen.add(identity)
    labels = file_labels(paths)
    return [_read(path, label) for path, label in zip(paths, labels)]


def file_labels(paths: Sequence[str]) -> list[str]:
    """The shortest ends of the paths, without extension, that still differ from each other."""
    parts = [os.path.splitext(os.path.abspath(path))[0].split(os.sep) for path in paths]
    depth = 1
    while depth < max(len(part) for part in parts) and len({tuple(part[-depth:]) for part in parts}) < len(parts):
        depth += 1
    labels = ["/".join(part[-depth:]) for part in parts]
    if len(set(labels)) < len(labels):  # differ in the extension only
        labels = [os.path.basename(path) for path in paths]
    return [printable(label) for label in labels]


def _read(path: str, label: str) -> ResultsFile:
    """Reads one file, or raises the ResultsError that describes its first fault."""
    try:
        with open(path, "rb") as stream:
            content = stream.read()
    except OSError as error:
        raise ResultsError(path, None, f"cannot be read ({error.strerror})", "check the path") from None
    if not content.strip():
        raise ResultsError(path, 1, "the file is empty", f"{RERUN} with --output")

    lines = content.rstrip(b"\r\n").split(b"\n")
    ends_in_newline = content.endswith(b"\n")
    provenance: Record = {}
    samples: list[Sample] = []
    for number, line in enumerate(lines, start=1):
        may_be_cut = number == len(lines) and not ends_in_newline
        record = _parse(path, number, line, may_be_cut)
        if number == 1:
            _check_provenance(path, record)
            provenance = record
        else:
            _check_sample(path, number, record)
            samples.append(Sample(number, record))

    expected = provenance["records_expected"]
    if len(samples) < expected:
        what = f"the file ends after {len(samples)} of {expected} samples (truncated or interrupted run)"
        raise ResultsError(path, len(lines), what, RERUN)
    if len(samples) > expected:
        what = f"sample {expected + 1} of only {expected} announced in line 1"
        raise ResultsError(path, expected + 2, what, f"keep runs in separate files, or {RERUN}")
    if not samples:
        raise ResultsError(path, 1, "the file holds no samples", RERUN)
    return ResultsFile(path, label, provenance, tuple(samples))


def _reject_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _parse(path: str, number: int, line: bytes, may_be_cut: bool) -> Record:
    """One line as a JSON object of our schema."""
    try:
        record = json.loads(line.decode("utf-8"), parse_constant=_reject_constant)
    except (ValueError, RecursionError):
        if may_be_cut and number > 1:
            raise ResultsError(path, number, "the last line is cut off (truncated file)", RERUN) from None
        raise ResultsError(
            path, number, "the line is not JSON", "pass a file written by nearfar bench --output"
        ) from None
    if not isinstance(record, dict):
        raise ResultsError(
            path, number, "the line is not a JSON object", "pass a file written by nearfar bench --output"
        )
    if "schema" not in record:
        raise ResultsError(
            path, number, "required field 'schema' is missing", "pass a file written by nearfar bench --output"
        )
    if record["schema"] != SCHEMA:
        shown = printable(json.dumps(record["schema"], ensure_ascii=False))[:80]
        what = f"schema is {shown}, but this nearfar reads {json.dumps(SCHEMA)}"
        raise ResultsError(path, number, what, f"use the nearfar that wrote the file, or {RERUN}")
    return record


def _check_fields(path: str, number: int, record: Record, checks: dict[str, tuple[str, Check]]) -> None:
    for field, (meaning, accepts) in checks.items():
        if field not in record:
            raise ResultsError(path, number, f"required field '{field}' is missing", RERUN)
        if not accepts(record[field]):
            shown = printable(json.dumps(record[field], ensure_ascii=False))[:60]
            raise ResultsError(path, number, f"field '{field}' is {shown}, but must be {meaning}", RERUN)


def _check_provenance(path: str, record: Record) -> None:
    if record.get("record") != "provenance":
        raise ResultsError(path, 1, "the first record is not the provenance", f"the start of the file is lost: {RERUN}")
    for field in _PROVENANCE_SHOWN:
        if field not in record:
            raise ResultsError(path, 1, f"required field '{field}' is missing", RERUN)
    _check_fields(path, 1, record, _PROVENANCE_CHECKS)


def _check_sample(path: str, number: int, record: Record) -> None:
    kind = record.get("record")
    if kind == "provenance":
        raise ResultsError(path, number, "a second provenance record", "keep runs in separate files and name them all")
    if kind != "sample":
        shown = printable(json.dumps(kind, ensure_ascii=False))[:60]
        raise ResultsError(path, number, f"field 'record' is {shown}, but must be \"sample\"", RERUN)
    _check_fields(path, number, record, _SAMPLE_CHECKS)
    _check_fields(path, number, record, {f: c for f, c in _SAMPLE_OPTIONAL.items() if f in record})
    if record["benchmark"] == "upb":
        _check_fields(path, number, record, _UPB_CHECKS)
    if record["benchmark"] == "ecsb":
        progress = record["iterations_per_rank"]
        if len(progress) != record["ranks"]:
            what = f"'iterations_per_rank' has {len(progress)} entries for {record['ranks']} ranks"
            raise ResultsError(path, number, what, RERUN)
        if sum(progress) != record["iterations"]:
            what = f"'iterations' is {record['iterations']}, but the ranks sum up to {sum(progress)}"
            raise ResultsError(path, number, what, RERUN)
