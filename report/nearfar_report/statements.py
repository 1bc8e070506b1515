"""The statements of benchmarks in the provenance: title, kind of object, axes, columns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .fields import (
    RERUN, Checks, Record, ResultsError, check_fields, check_provenance, is_count, is_integer, is_name, is_value, or_null,
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
class Relation:
    """The reference of a ratio of times: a sample of `object` in the same repetition and at the same place.

    Among several, the reference is the one that agrees in most of the settings `alike`, the first of which counts most.
    """

    object: str
    alike: tuple[str, ...] = ()


@dataclass(frozen=True)
class Quantity:
    """A column of the benchmark's table: what a sample's 'measured' holds under this name.

    If `relative` is given, the report computes the value: the sample's time divided by that of the reference.
    """

    name: str
    title: str
    unit: str = ""
    meaning: str = ""
    digits: int | None = None  # after the decimal point; None: as many as the value deserves
    standing: str = JUDGED
    relative: Relation | None = None


@dataclass(frozen=True)
class Cases:
    """Cases of two characters: the first selects the part of a group of bars, the second the column of the figure.

    `part` and `column` say in words what the characters stand for.
    """

    part: str
    column: str
    parts: Mapping[str, str]
    columns: Mapping[str, str]

    def has(self, case: Any) -> bool:
        """Whether this is one of them."""
        return isinstance(case, str) and len(case) == 2 and case[0] in self.parts and case[1] in self.columns


@dataclass(frozen=True)
class Remark:
    """A count of a sample under this name. The page mentions it if it is above 0."""

    name: str
    meaning: str = ""


@dataclass(frozen=True)
class Statement:
    """The statement of one benchmark.

    `kind` is the sort of object that is measured, and the name of the field of a sample that names it; `kind_title`
    says it in words. `case` is the field that tells several samples of one repetition apart. `figure` names the columns
    that share the picture, by default the first that was measured; `notes` are sentences below it. If `choice` is true,
    objects are chosen by the time and by the variation of progress.
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
    figure: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    cases: Cases | None = None
    choice: bool = False

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


TIME = "time"
# The statement of files that are older than statements.
UNSTATED = Statement(
    case="scenario",
    columns=(Quantity(TIME, "Time", "ns", "the measured time divided by the iterations of all ranks"),),
)


def is_coordinate(value: Any) -> bool:
    """Whether this may be the value of an axis."""
    return is_name(value) or is_value(value)


def with_unit(name: str, unit: str) -> str:
    """'wait in ns'; a name that holds the unit already stays as it is."""
    return name if not unit or unit in name.split() else f"{name} in {unit}"


_WORDS = ("a text or null", or_null(lambda value: isinstance(value, str)))
_LIST = ("a list of objects", lambda value: isinstance(value, list) and all(isinstance(one, dict) for one in value))
_NAMES = ("a list of texts", lambda value: isinstance(value, list) and all(map(is_name, value)))
_WORDED = (
    "an object of texts",
    lambda value: isinstance(value, dict) and all(is_name(one) for pair in value.items() for one in pair),
)
_STATEMENT: Checks = {"kind": ("the name of a field", is_name), "axes": _LIST, "columns": _LIST}
_NAME: Checks = {"name": ("a name", is_name)}
_RELATION: Checks = {"object": ("the name of an object", is_name)}
_CASES: Checks = {
    "part": ("a name", is_name), "column": ("a name", is_name), "parts": _WORDED, "columns": _WORDED,
}  # fmt: skip
_OPTIONAL: Checks = {
    **dict.fromkeys(("title", "summary", "source", "kind_title", "unit", "meaning"), _WORDS),
    "standing": (f"{JUDGED!r}, {SHOWN!r} or {RECORDED!r}", lambda value: value in (JUDGED, SHOWN, RECORDED)),
    "remarks": _LIST,
    "figure": _NAMES,
    "notes": _NAMES,
    "alike": _NAMES,
    "choice": ("true or false", lambda value: isinstance(value, bool)),
    "case": ("the name of a field or null", or_null(is_name)),
    "digits": ("a whole number from 0 to 12 or null", or_null(lambda value: is_count(value) and value <= 12)),
}
_FIGURE: Checks = {
    "number": ("a number such as 2.7", lambda value: isinstance(value, str) and bool(re.fullmatch(r"\d+\.\d+", value))),
    "title": ("a title", is_name),
    "axis": ("the name of an axis", is_name),
    "notes": _NAMES,
}
_STEADY: Checks = {
    "drift": ("a number above 0", lambda value: is_value(value) and value > 0),
    "turns": ("a number of at least 0", lambda value: is_value(value) and value >= 0),
}
_STEADY_SINCE: Checks = {"share": ("a number of at least 0", lambda value: is_value(value) and value >= 0)}


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
                if one.get("relative") is not None:
                    of = f"{place}.{part}[{index}].relative"
                    _check_within(path, line, of, one["relative"], _RELATION, _OPTIONAL)
        if statement.get("cases") is not None:
            _check_within(path, line, f"{place}.cases", statement["cases"], _CASES)
    if provenance.get("figure") is not None:
        _check_within(path, line, "figure", provenance["figure"], _FIGURE)
    if "steady" in provenance:
        _check_within(path, line, "steady", provenance["steady"], _STEADY, _STEADY_SINCE)


def statements_of(provenance: Record) -> dict[str, Statement]:
    """The statements of a checked provenance by benchmark."""
    return {benchmark: _statement(said) for benchmark, said in provenance.get("statements", {}).items()}


def _relation(said: Record | None) -> Relation | None:
    return None if said is None else Relation(said["object"], tuple(said.get("alike", ())))


def _cases(said: Record | None) -> Cases | None:
    return None if said is None else Cases(said["part"], said["column"], said["parts"], said["columns"])


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
                relative=_relation(one.get("relative")),
            )
            for one in said["columns"]
        ),
        remarks=tuple(Remark(one["name"], **words(one, "meaning")) for one in said.get("remarks", [])),
        figure=tuple(said.get("figure", ())),
        notes=tuple(said.get("notes", ())),
        cases=_cases(said.get("cases")),
        choice=said.get("choice", False),
    )


def in_users_order(provenance: Record, kind: str) -> list[str]:
    """The objects of a kind as the user named them; none if the file does not say."""
    objects = provenance.get("objects")
    named = objects.get(kind) if isinstance(objects, dict) else None
    if named is None and kind == LOCK:
        named = provenance.get("locks")
    return [name for name in named if isinstance(name, str)] if isinstance(named, list) else []
