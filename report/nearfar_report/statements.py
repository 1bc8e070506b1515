"""The statements of benchmarks in the provenance: title, kind of object, axes, columns."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .fields import (
    RERUN, Checks, Record, ResultsError, check_fields, check_provenance, is_count, is_integer, is_name, or_null,
)  # fmt: skip

LOCK = "lock"

# The place of a column: it judges objects, is in the main table too, or is in the details only.
JUDGED, SHOWN, RECORDED = "judged", "shown", "recorded"


@dataclass(frozen=True)
class Axis:
    """A coordinate that tells configurations apart."""

    name: str
    unit: str = ""
    meaning: str = ""


@dataclass(frozen=True)
class Quantity:
    """A column of the benchmark's table: what a sample's 'measured' holds under this name."""

    name: str
    title: str
    unit: str = ""
    meaning: str = ""
    digits: int | None = None  # after the decimal point; None: as many as the value deserves
    standing: str = JUDGED


@dataclass(frozen=True)
class Remark:
    """A count of a sample under this name. The page mentions it if it is above 0."""

    name: str
    meaning: str = ""


@dataclass(frozen=True)
class Statement:
    """The statement of one benchmark.

    `kind` is the sort of object that is measured, and the name of the field of a sample that names it; `kind_title`
    says it in words. `case` is the field that tells several samples of one repetition apart.
    """

    title: str = ""
    summary: str = ""
    source: str = ""
    kind: str = LOCK
    kind_title: str = ""
    case: str | None = None
    axes: tuple[Axis, ...] = ()
    columns: tuple[Quantity, ...] = ()
    remarks: tuple[Remark, ...] = ()

    @property
    def subject(self) -> str:
        """The kind of the measured object in words, also if the file omits it."""
        return self.kind_title or self.kind.replace("_", " ")

    def object_of(self, record: Record) -> str:
        """The name of what a sample measured."""
        return str(record[self.kind])

    def case_of(self, record: Record) -> Any:
        """Which of several samples of one repetition this is; None if there is only one."""
        return None if self.case is None else record.get(self.case)


# The statement of files that are older than statements.
UNSTATED = Statement(case="scenario")


def is_value(value: Any) -> bool:
    """Whether this is a finite number, of either sign."""
    return is_integer(value) or (isinstance(value, float) and math.isfinite(value))


def is_coordinate(value: Any) -> bool:
    """Whether this may be the value of an axis."""
    return is_name(value) or is_value(value)


def with_unit(name: str, unit: str) -> str:
    """'wait in ns'; a name that holds the unit already stays as it is."""
    return name if not unit or unit in name.split() else f"{name} in {unit}"


_WORDS = ("a text or null", or_null(lambda value: isinstance(value, str)))
_LIST = ("a list of objects", lambda value: isinstance(value, list) and all(isinstance(one, dict) for one in value))
_STATEMENT: Checks = {"kind": ("the name of a field", is_name), "axes": _LIST, "columns": _LIST}
_NAME: Checks = {"name": ("a name", is_name)}
_OPTIONAL: Checks = {
    **dict.fromkeys(("title", "summary", "source", "kind_title", "unit", "meaning"), _WORDS),
    "standing": (f"{JUDGED!r}, {SHOWN!r} or {RECORDED!r}", lambda value: value in (JUDGED, SHOWN, RECORDED)),
    "remarks": _LIST,
    "case": ("the name of a field or null", or_null(is_name)),
    "digits": ("a whole number from 0 to 12 or null", or_null(lambda value: is_count(value) and value <= 12)),
}
_STEADY: Checks = {
    "drift": ("a number above 0", lambda value: is_value(value) and value > 0),
    "turns": ("a number of at least 0", lambda value: is_value(value) and value >= 0),
}


def _check_within(path: str, line: int, place: str, part: Any, checks: Checks, optional: Checks | None = None) -> None:
    """Checks an object inside the provenance."""
    if not isinstance(part, dict):
        raise ResultsError(path, line, f"field '{place}' is not an object", RERUN)
    known = {**checks, **{field: check for field, check in (optional or {}).items() if field in part}}
    placed = {f"{place}.{field}": value for field, value in part.items()}
    check_fields(path, line, placed, {f"{place}.{field}": check for field, check in known.items()})


def check(path: str, line: int, provenance: Record) -> None:
    """Raises the ResultsError of the first fault of a provenance, its statements included."""
    check_provenance(path, line, provenance)
    statements = provenance.get("statements", {})
    _check_within(path, line, "statements", statements, {})
    for benchmark, statement in statements.items():
        place = f"statements.{benchmark}"
        _check_within(path, line, place, statement, _STATEMENT, _OPTIONAL)
        for part in ("axes", "columns", "remarks"):
            for index, one in enumerate(statement.get(part, [])):
                _check_within(path, line, f"{place}.{part}[{index}]", one, _NAME, _OPTIONAL)
    if "steady" in provenance:
        _check_within(path, line, "steady", provenance["steady"], _STEADY)


def statements_of(provenance: Record) -> dict[str, Statement]:
    """The statements of a checked provenance by benchmark."""
    return {benchmark: _statement(said) for benchmark, said in provenance.get("statements", {}).items()}


def _statement(said: Record) -> Statement:
    def words(part: Mapping[str, Any], *fields: str) -> dict[str, str]:
        return {field: part.get(field) or "" for field in fields}

    return Statement(
        **words(said, "title", "summary", "source", "kind_title"),
        kind=said["kind"],
        case=said.get("case"),
        axes=tuple(Axis(one["name"], **words(one, "unit", "meaning")) for one in said["axes"]),
        columns=tuple(
            Quantity(
                one["name"],
                one.get("title") or one["name"],
                **words(one, "unit", "meaning"),
                digits=one.get("digits"),
                standing=one.get("standing", JUDGED),
            )
            for one in said["columns"]
        ),
        remarks=tuple(Remark(one["name"], **words(one, "meaning")) for one in said.get("remarks", [])),
    )


def in_users_order(provenance: Record, kind: str) -> list[str]:
    """The objects of a kind as the user named them; none if the file does not say."""
    objects = provenance.get("objects")
    named = objects.get(kind) if isinstance(objects, dict) else None
    if named is None and kind == LOCK:
        named = provenance.get("locks")
    return [name for name in named if isinstance(name, str)] if isinstance(named, list) else []
