"""Reading and checking of results files (JSON Lines).

A file is either accepted or refused with one ResultsError that names file, line and remedy. A file whose run ended
early is accepted with the samples that it holds, and says so.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from . import earlier, samples
from .fields import RERUN, Record, ReportError, ResultsError, is_count, printable
from .runs import Run, change_of
from .statements import UNSTATED, Statement, check, statements_of

__all__ = ["Record", "ReportError", "ResultsError", "ResultsFile", "Sample", "file_labels", "printable", "read_all"]

SCHEMAS = (samples.SCHEMA, earlier.LOOPS)


@dataclass(frozen=True)
class Sample:
    """One repetition of one configuration, with the line it stands on."""

    line: int
    record: Record
    statement: Statement

    @property
    def void_reason(self) -> str | None:
        """The reason why no figure may use this sample; None if figures may."""
        return samples.void_reason(self.record, self.statement)

    @property
    def description(self) -> str:
        """The configuration in a few words."""
        return samples.describe(self.record, self.statement)

    @property
    def configuration(self) -> Record:
        """The settings that distinguish this sample from samples of other configurations."""
        return samples.configuration(self.record, self.statement)

    @property
    def time_ns(self) -> float | None:
        """The nanoseconds of one unit of its work; None if the sample does not hold them."""
        return samples.time_ns(self.record)


@dataclass(frozen=True)
class ResultsFile:
    """An accepted results file."""

    path: str
    label: str
    provenance: Record
    samples: tuple[Sample, ...]
    run: Run
    statements: Mapping[str, Statement]  # by benchmark

    @property
    def shortfall(self) -> str | None:
        """One sentence if the run ended early."""
        if self.run.shortfall is None:
            return None
        return f"the run ended after {len(self.samples)} of {self.run.expected} samples: {self.run.shortfall}"

    @property
    def notices(self) -> list[str]:
        """Notices about the run for readers of its figures."""
        changes = [change_of(self.provenance, resumed) for resumed in self.run.resumed]
        went_on = [f"the run was resumed {change}" for change in dict.fromkeys(changes) if change]
        return [*([self.shortfall] if self.shortfall else []), *went_on, *self._remarks()]

    def _remarks(self) -> list[str]:
        """A line for each remark of a benchmark whose counts are above 0."""
        lines = []
        for benchmark, statement in self.statements.items():
            records = [sample.record for sample in self.samples if sample.record["benchmark"] == benchmark]
            for remark in statement.remarks:
                counts = [record.get(remark.name) for record in records]
                if total := sum(count for count in counts if is_count(count)):
                    lines.append(printable(f"{benchmark}: {remark.name}: {total} {remark.meaning}"))
        return lines


STANDARD_INPUT = "-"


def read_all(paths: Sequence[str]) -> list[ResultsFile]:
    """Reads and checks every file before any of them is used."""
    seen: set[str] = set()
    for path in paths:
        identity = path if path == STANDARD_INPUT else os.path.realpath(path)
        if identity in seen:
            raise ResultsError(path, None, "is given twice", "name each results file once")
        seen.add(identity)
    labels = file_labels(["standard input" if path == STANDARD_INPUT else path for path in paths])
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


def _content(path: str) -> bytes:
    """The content of a file; "-" is standard input."""
    if path != STANDARD_INPUT:
        with open(path, "rb") as stream:
            return stream.read()
    if sys.stdin is None:
        raise ResultsError(path, None, "standard input is closed", "name a results file")
    return sys.stdin.buffer.read()


def _read(path: str, label: str) -> ResultsFile:
    """Reads one file, or raises the ResultsError that describes its first fault."""
    try:
        content = _content(path)
    except OSError as error:
        raise ResultsError(path, None, f"cannot be read ({error.strerror})", "check the path") from None
    if not content.strip():
        raise ResultsError(path, 1, "the file is empty", f"{RERUN} with --output")

    lines = content.rstrip(b"\r\n").split(b"\n")
    ends_in_newline = content.endswith(b"\n")
    provenance = _parse(path, 1, lines[0])
    _check_schema(path, 1, provenance, SCHEMAS)
    schema = provenance["schema"]
    if provenance.get("record") != "provenance":
        raise ResultsError(path, 1, "the first record is not the provenance", f"the start of the file is lost: {RERUN}")
    check(path, 1, provenance)
    provenance = earlier.completed(provenance)
    statements = statements_of(provenance)
    run = Run(provenance["records_expected"])
    found: list[Sample] = []
    for number, line in enumerate(lines[1:], start=2):
        if number == len(lines) and not ends_in_newline and not _is_json(line):
            run.is_torn = True
            break
        record = _parse(path, number, line)
        _check_schema(path, number, record, [schema])
        if not run.take(path, number, record):
            found.append(_sample(path, number, record, statements))
            run.samples += 1
    _check_count(path, found, run)
    return ResultsFile(path, label, provenance, tuple(found), run, statements)


def _check_count(path: str, found: Sequence[Sample], run: Run) -> None:
    """Refuses files with more samples than announced, or with none."""
    if run.announced is not None and len(found) > run.announced:
        excess = found[run.announced]
        what = f"sample {run.announced + 1} of only {run.announced} announced in line 1"
        raise ResultsError(path, excess.line, what, f"keep runs in separate files, or {RERUN}")
    if not found:
        why = f": {run.shortfall}" if run.shortfall else ""
        raise ResultsError(path, 1, f"the file holds no samples{why}", RERUN)


def _reject_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _decoded(line: bytes) -> Any:
    """The value of a line; ValueError or RecursionError if it is not JSON."""
    return json.loads(line.decode("utf-8-sig"), parse_constant=_reject_constant)  # some editors add a mark


def _is_json(line: bytes) -> bool:
    try:
        _decoded(line)
    except (ValueError, RecursionError):
        return False
    return True


def _parse(path: str, number: int, line: bytes) -> Record:
    """One line as a JSON object of our schema."""
    try:
        record = _decoded(line)
    except (ValueError, RecursionError):
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
    return record


def _check_schema(path: str, number: int, record: Record, readable: Sequence[str]) -> None:
    if record["schema"] not in readable:
        shown = printable(json.dumps(record["schema"], ensure_ascii=False))[:80]
        reads = "this nearfar reads" if number == 1 else "line 1 says"
        what = f"schema is {shown}, but {reads} {' and '.join(map(json.dumps, readable))}"
        todo = f"use the nearfar that wrote the file, or {RERUN}"
        if any(_is_newer(record["schema"], one) for one in readable):
            todo = f"a newer nearfar wrote the file: use that one, or {RERUN}"
        raise ResultsError(path, number, what, todo)


def _is_newer(schema: Any, than: str) -> bool:
    """Whether this is a later version of the same format."""
    kind, _, version = than.partition("/")
    parts = schema.split("/") if isinstance(schema, str) else []
    return len(parts) == 2 and parts[0] == kind and _is_number(parts[1]) and int(parts[1]) > int(version)


def _is_number(text: str) -> bool:
    """Whether this is a version's number, in digits that are ours."""
    return text.isascii() and text.isdigit() and len(text) < 10


def _sample(path: str, number: int, record: Record, statements: Mapping[str, Statement]) -> Sample:
    what = record.get("record")
    if what == "provenance":
        raise ResultsError(path, number, "a second provenance record", "keep runs in separate files and name them all")
    if what != "sample":
        shown = printable(json.dumps(what, ensure_ascii=False))[:60]
        raise ResultsError(path, number, f"field 'record' is {shown}, but must be \"sample\"", RERUN)
    if record["schema"] == earlier.LOOPS:
        record = earlier.sample_of_loop(path, number, record)
    statement = statements.get(str(record.get("benchmark")), UNSTATED)
    samples.check(path, number, record, statement)
    return Sample(number, record, statement)
