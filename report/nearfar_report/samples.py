"""Records of samples: schema ``nearfar.results/1``."""

from __future__ import annotations

from .fields import (
    RERUN, Checks, Record, ResultsError, check_fields, is_count, is_name, is_number, is_positive, is_value, or_null, text_of,
)  # fmt: skip
from .statements import LOCK, Statement, is_coordinate

SCHEMA = "nearfar.results/1"

_COUNT = ("a whole number of at least 0", is_count)
_COUNT_OR_NULL = ("a whole number of at least 0 or null", or_null(is_count))
_POSITIVE = ("a whole number of at least 1", is_positive)
_OBJECT = ("an object", lambda value: isinstance(value, dict))
_TRUTH = ("true or false", lambda value: isinstance(value, bool))

_SAMPLE: Checks = {
    "benchmark": ("a benchmark name", is_name),
    "parameters": _OBJECT,
    "world": ("a world name", is_name),
    "machine": ("a text", lambda value: isinstance(value, str)),
    "nodes": _POSITIVE,
    "ranks": _POSITIVE,
    "repetition": _COUNT,
    "duration_ns": _POSITIVE,
    "iterations": _COUNT,
    "iterations_per_rank": (
        "a list of whole numbers of at least 0",
        lambda value: isinstance(value, list) and all(is_count(entry) for entry in value),
    ),
    "verified": _TRUTH,
}
_OF_LOCKS: Checks = {"contended": _COUNT_OR_NULL, "local_handovers": _COUNT_OR_NULL}
_OPTIONAL: Checks = {
    **_OF_LOCKS,
    "followed_other_share": ("a number or null", or_null(is_number)),
    "drift": ("a number or null", or_null(is_number)),
    "predicted_low": ("a number or null", or_null(is_number)),
    "predicted_high": ("a number or null", or_null(is_number)),
    "steady": _TRUTH,
    "sound": _TRUTH,
    "axes": (
        "an object of numbers, texts and truth values",
        lambda value: isinstance(value, dict)
        and all(isinstance(one, bool) or is_coordinate(one) for one in value.values()),
    ),
    "effort": _OBJECT,
    "figure": ("the number of a figure", is_name),
    "series": ("the name of a curve", is_name),
    "measured": (
        "an object of numbers and nulls",
        lambda value: isinstance(value, dict) and all(one is None or is_value(one) for one in value.values()),
    ),
}


def check(path: str, line: int, record: Record, statement: Statement) -> None:
    """Raises the ResultsError of the first fault of a sample."""
    kind = statement.kind
    check_fields(path, line, record, {**_SAMPLE, kind: (f"a {kind} name", is_name)})
    if kind == LOCK:
        check_fields(path, line, record, _OF_LOCKS)
    check_fields(path, line, record, {f: c for f, c in _OPTIONAL.items() if f in record})
    low, high = record.get("predicted_low"), record.get("predicted_high")
    if low is not None and high is not None and low > high:
        raise ResultsError(path, line, f"'predicted_low' is {low}, above 'predicted_high', {high}", RERUN)
    cases = statement.cases
    if cases is not None:
        known = f"one of {min(cases.parts)}{min(cases.columns)} to {max(cases.parts)}{max(cases.columns)}"
        check_fields(path, line, record, {str(statement.case): (known, cases.has)})
    elif statement.case in record:
        check_fields(path, line, record, {statement.case: ("a number, a text or null", or_null(is_coordinate))})
    if statement.choice:  # which judges by the progress of all ranks
        progress = record["iterations_per_rank"]
        if len(progress) != record["ranks"]:
            what = f"'iterations_per_rank' has {len(progress)} entries for {record['ranks']} ranks"
            raise ResultsError(path, line, what, RERUN)
        if sum(progress) != record["iterations"]:
            what = f"'iterations' is {record['iterations']}, but the ranks sum up to {sum(progress)}"
            raise ResultsError(path, line, what, RERUN)


def void_reason(record: Record, statement: Statement) -> str | None:
    """The reason why no figure may use a sample; None if figures may."""
    of_lock = statement.kind == LOCK
    if not record["verified"]:
        return "verified is false: the " + ("lock did not protect the counter" if of_lock else "result was wrong")
    if record["iterations"] == 0:
        return f"no {'acquisition' if of_lock else 'iteration'} at all in the measured time"
    return None


def describe(record: Record, statement: Statement) -> str:
    """The configuration of a sample in a few words."""
    where = f"{statement.object_of(record)}, {record['world']}, nodes {record['nodes']}, ranks {record['ranks']}"
    settings = {**record.get("axes", {}), **({statement.case: statement.case_of(record)} if statement.case else {})}
    where += "".join(f", {name} {text_of(value)}" for name, value in settings.items() if value is not None)
    return f"{record['benchmark']} {where}, repetition {record['repetition']}"


def configuration(record: Record, statement: Statement) -> Record:
    """The settings of a sample's configuration by name, benchmark and object first."""
    return {
        "benchmark": record["benchmark"],
        statement.kind: statement.object_of(record),
        "parameters": record["parameters"],
        "axes": record.get("axes") or None,
        **{name: record[name] for name in ("world", "nodes", "ranks")},
        statement.case or "scenario": statement.case_of(record),
    }


def time_ns(record: Record) -> float | None:
    """The nanoseconds of one unit of a sample's work; None if it did none."""
    return float(record["duration_ns"] / record["iterations"]) if record["iterations"] else None
