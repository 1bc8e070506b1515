"""The sections about figures of a publication that were measured anew: one curve chart and one table for each."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas

from . import styles
from .charts import Scale
from .fields import is_value
from .generic import measured_columns, stated_tables
from .measurements import name_series
from .page import Section
from .panels import Panel, lines
from .pictures import curve_picture
from .results import Record, ResultsFile
from .statements import Statement, with_unit

NONE = "none"  # 0 among categories


def sections(
    files: Sequence[ResultsFile], everything: pandas.DataFrame, statements: Mapping[str, Statement]
) -> list[Section]:
    """The figures by their numbers."""
    abouts: dict[str, list[Record]] = {}
    for file in files:
        about = file.provenance.get("figure")
        if about is not None:
            abouts.setdefault(about["number"], []).append(about)
    result = []
    for number in sorted(abouts, key=lambda text: [int(part) for part in text.split(".")]):
        part = everything[everything["figure"] == number]
        if not part.empty:
            result.append(_section(part, abouts[number], statements[part["benchmark"].iloc[0]]))
    return result


def _section(frame: pandas.DataFrame, abouts: Sequence[Record], statement: Statement) -> Section:
    about = abouts[0]
    axis = about["axis"]
    notes = list(dict.fromkeys(note for one in abouts for note in one["notes"]))
    title = f"Figure {about['number']}: {about['title']}"
    columns, frame = measured_columns(statement, frame)
    values = pandas.Series(_values(frame, axis), frame.index, object)
    frame = frame[values.notna()]
    frame = frame.assign(series=name_series(frame, [axis]))
    scale, places = _scale(values[values.notna()], _label(statement, axis))
    drawn = lines(Panel(title, "", frame.assign(place=values.map(places)), "place"), columns[:1], scale)
    alternative = f"{title}, curves over {scale.label}: {', '.join(drawn.series)}. {' '.join(notes)}".rstrip()
    name = f"figure-{about['number']}"
    picture = curve_picture(replace(drawn, notes=notes), columns[0], _looks(frame), name, title, alternative)
    tables = stated_tables(name, replace(statement, title=title), frame)
    tables[0] = replace(tables[0], caption=" ".join([tables[0].caption, *notes]))
    return Section(title, [picture], tables, "", notes)


def _values(frame: pandas.DataFrame, axis: str) -> list[Any]:
    """The values of an axis, or of what the frame has a column of; None where there is none."""
    return list(frame[axis]) if axis in frame else [one.get(axis) for one in frame["axes"]]


def _label(statement: Statement, axis: str) -> str:
    units = {one.name: one.unit for one in statement.axes}
    return with_unit(axis, units.get(axis, ""))


def _scale(values: pandas.Series, label: str) -> tuple[Scale, dict[Any, float]]:
    """The axis, and where on it each value lies. Texts, and numbers with 0 among them, are categories."""
    distinct = list(values.unique())
    numbers = [value for value in distinct if is_value(value)]
    if len(numbers) == len(distinct) and 0 not in numbers:
        ordered = sorted(numbers)
        return Scale(label, ordered, decades=ordered[-1] >= 1000 * ordered[0]), {value: value for value in ordered}
    ordered = sorted(distinct, key=_in_order)
    places = {value: float(index) for index, value in enumerate(ordered)}
    return Scale(label, list(places.values()), [NONE if value == 0 else str(value) for value in ordered]), places


def _in_order(value: Any) -> tuple[float, list[int]]:
    """Numbers ascending, 0 last, which stands for none; texts by the numbers in them."""
    if is_value(value):
        return value or float("inf"), []
    return 0, [int(number) for number in re.findall(r"\d+", value)]


def _looks(frame: pandas.DataFrame) -> dict[str, styles.Look]:
    """A colour for each object; where there is only one, for each of its series."""
    if frame["object"].nunique() == 1:
        return styles.assign([series] for series in frame["series"].unique())
    return styles.looks(frame, frame)
