"""Records of the benchmarks of loops over containers: schema ``nearfar.loops/1``."""

from __future__ import annotations

import re

from . import statements
from .benchmarks import loop_of
from .fields import (
    RERUN, Checks, Record, ResultsError, check_fields, is_count, is_name, is_number, is_positive, or_null,
)  # fmt: skip
from .formats import Format
from .statements import Statement

# The quantities that the horizontal axis of a figure may show.
AXES = ("length", "chunk", "segments", "threads", "pinning")

_COUNT = "a whole number of at least 0"
_POSITIVE = "a whole number of at least 1"

_SETTINGS: Checks = {
    "benchmark": ("a benchmark name", is_name),
    "container": ("a container name", is_name),
    "initialisation": ("the name of an initialisation", is_name),
    "placement": ("the name of a placement", is_name),
    "threads": (_POSITIVE, is_positive),
    "pinning": ("the name of a pinning", is_name),
    "chunk": (f"{_COUNT} or null", or_null(is_count)),
    "segments": (f"{_POSITIVE} or null", or_null(is_positive)),
    "padding": (f"{_COUNT} or null", or_null(is_count)),
    "stores": ("a kind of stores or null", or_null(is_name)),
    "length": (f"{_POSITIVE} or null", or_null(is_positive)),
    "rows": (f"{_POSITIVE} or null", or_null(is_positive)),
    "columns": (f"{_POSITIVE} or null", or_null(is_positive)),
    "decomposition": ("a decomposition or null", or_null(is_name)),
    "sweeps": (f"{_COUNT} or null", or_null(is_count)),
}
_MEASURED: Checks = {
    "repetition": (_COUNT, is_count),
    "iterations": (_POSITIVE, is_positive),
    "duration_ns": (_POSITIVE, is_positive),
    "mflops": ("a number or null", or_null(is_number)),
    "gbytes_per_s": ("a number or null", or_null(is_number)),
    "gbytes_per_s_with_rfo": ("a number or null", or_null(is_number)),
    "mlups": ("a number or null", or_null(is_number)),
    "verified": ("true or false", lambda value: isinstance(value, bool)),
}
_OPTIONAL: Checks = {
    "figure": ("the number of a figure", is_name),
    "series": ("the name of a curve", is_name),
}
_FIGURE: Checks = {
    "number": ("a number such as 2.7", lambda value: isinstance(value, str) and bool(re.fullmatch(r"\d+\.\d+", value))),
    "title": ("a title", is_name),
    "axis": (f"one of {', '.join(AXES)}", lambda value: value in AXES),
    "notes": ("a list of texts", lambda value: isinstance(value, list) and all(map(is_name, value))),
}


def _check_provenance(path: str, line: int, record: Record) -> None:
    statements.check(path, line, record)
    if record.get("figure") is not None:
        if not isinstance(record["figure"], dict):
            raise ResultsError(path, line, "field 'figure' is not an object", RERUN)
        check_fields(path, line, record["figure"], _FIGURE)


def _check_sample(path: str, line: int, record: Record, _: Statement) -> None:
    check_fields(path, line, record, {**_SETTINGS, **_MEASURED})
    check_fields(path, line, record, {f: c for f, c in _OPTIONAL.items() if f in record})
    for field in loop_of(record["benchmark"]).size_fields:
        if record[field] is None:
            raise ResultsError(path, line, f"'{field}' is null in a sample of {record['benchmark']}", RERUN)


def _void_reason(record: Record, _: Statement) -> str | None:
    return None if record["verified"] else "verified is false: the loop computed a wrong result"


def _describe(record: Record, _: Statement) -> str:
    parts = [f"{record['benchmark']} {record['container']}"]
    parts += [f"{name} {record[name]}" for name in ("initialisation", "threads")]
    parts += [
        f"{name} {record[name]}"
        for name in ("length", "rows", "columns", "decomposition", "chunk", "segments", "stores")
        if record[name] is not None
    ]
    return ", ".join([*parts, f"repetition {record['repetition']}"])


def _configuration(record: Record, _: Statement) -> Record:
    return {name: record.get(name) for name in (*_SETTINGS, *_OPTIONAL)}


def time_ns(record: Record) -> float:
    """Of one pass over the vectors or the grid."""
    return float(record["duration_ns"] / record["iterations"])


FORMAT = Format(
    "nearfar.loops/1", _check_provenance, _check_sample, _void_reason, _describe, _configuration, time_ns
)
