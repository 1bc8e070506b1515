"""Records of the benchmarks of locks: schema ``nearfar.results/1``."""

from __future__ import annotations

import re

from .fields import (
    RERUN, Checks, Format, Record, ResultsError, check_fields, check_provenance, is_count, is_name, is_number,
    is_positive, or_null,
)  # fmt: skip

_SAMPLE: Checks = {
    "benchmark": ("a benchmark name", is_name),
    "lock": ("a lock name", is_name),
    "parameters": ("an object", lambda value: isinstance(value, dict)),
    "world": ("a world name", is_name),
    "machine": ("a text", lambda value: isinstance(value, str)),
    "nodes": ("a whole number of at least 1", is_positive),
    "ranks": ("a whole number of at least 1", is_positive),
    "repetition": ("a whole number of at least 0", is_count),
    "duration_ns": ("a whole number of at least 1", is_positive),
    "iterations": ("a whole number of at least 0", is_count),
    "iterations_per_rank": (
        "a list of whole numbers of at least 0",
        lambda value: isinstance(value, list) and all(is_count(entry) for entry in value),
    ),
    "contended": ("a whole number of at least 0 or null", or_null(is_count)),
    "local_handovers": ("a whole number of at least 0 or null", or_null(is_count)),
    "verified": ("true or false", lambda value: isinstance(value, bool)),
}
_OPTIONAL: Checks = {
    "followed_other_share": ("a number or null", or_null(is_number)),
    "drift": ("a number or null", or_null(is_number)),
    "steady": ("true or false", lambda value: isinstance(value, bool)),
    "sound": ("true or false", lambda value: isinstance(value, bool)),
}
_UPB: Checks = {
    "scenario": (
        "one of 1a to 3c",
        lambda value: isinstance(value, str) and re.fullmatch("[123][abc]", value) is not None,
    ),
    "ns_per_acquisition": ("a number or null", or_null(is_number)),
}


def _check_sample(path: str, line: int, record: Record) -> None:
    check_fields(path, line, record, _SAMPLE)
    check_fields(path, line, record, {f: c for f, c in _OPTIONAL.items() if f in record})
    if record["benchmark"] == "upb":
        check_fields(path, line, record, _UPB)
    if record["benchmark"] == "ecsb":
        progress = record["iterations_per_rank"]
        if len(progress) != record["ranks"]:
            what = f"'iterations_per_rank' has {len(progress)} entries for {record['ranks']} ranks"
            raise ResultsError(path, line, what, RERUN)
        if sum(progress) != record["iterations"]:
            what = f"'iterations' is {record['iterations']}, but the ranks sum up to {sum(progress)}"
            raise ResultsError(path, line, what, RERUN)


def _void_reason(record: Record) -> str | None:
    if not record["verified"]:
        return "verified is false: the lock did not protect the counter"
    if record["iterations"] == 0:
        return "no acquisition at all in the measured time"
    return None


def _describe(record: Record) -> str:
    where = f"{record['lock']}, {record['world']}, nodes {record['nodes']}, ranks {record['ranks']}"
    return f"{record['benchmark']} {where}, repetition {record['repetition']}"


_CONFIGURATION = ("benchmark", "lock", "parameters", "world", "nodes", "ranks", "scenario")


def _time_ns(record: Record) -> float | None:
    if record["benchmark"] == "upb":
        time = record["ns_per_acquisition"]
        return None if time is None else float(time)
    return float(record["duration_ns"] / record["iterations"])


FORMAT = Format(
    "nearfar.results/1", check_provenance, _check_sample, _void_reason, _describe, _CONFIGURATION, _time_ns
)
