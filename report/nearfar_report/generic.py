"""Figures and tables of a benchmark, as its statement describes it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas

from .charts import BarPanel, LinePanel
from .column import Column, key_of
from .fields import is_value, text_of
from .measurements import PLACE, axis_values, name_series, varying_axes
from .panels import Panel, bars, full_title, lines, panels
from .pictures import bar_pictures, curve_picture, limits_of, line_picture, numbered
from .published import Published, points_of
from .statements import JUDGED, RECORDED, TIME, Quantity, Statement, with_unit
from .statistics import summarize
from .styles import Picture, looks
from .tables import MISSING, Table, capitalised, fixed, with_interval, world_name

X = "x"  # the column of the axis that a figure runs along


# --------------------------------------------------------------------------------------------- stated: the table


def stated_tables(benchmark: str, statement: Statement, frame: pandas.DataFrame) -> list[Table]:
    """One row per configuration, one column for each axis that varies and each that the statement names; what is
    only recorded is in a second table."""
    main = replace(statement, columns=tuple(one for one in statement.columns if one.standing != RECORDED))
    return [_stated_table(benchmark, main, frame), *detail_tables(benchmark, statement, frame)]


def detail_tables(benchmark: str, statement: Statement, frame: pandas.DataFrame) -> list[Table]:
    """The columns that judge no object, such as percentiles; no table if no sample has such a value."""
    columns = tuple(
        one for one in statement.columns if one.standing != JUDGED and summarize(_measured(frame, one)) is not None
    )
    if not columns:
        return []
    title = f"{capitalised(statement.title or benchmark)}, in detail"
    return [_stated_table(benchmark, replace(statement, title=title, columns=columns), frame)]


def _stated_table(benchmark: str, statement: Statement, frame: pandas.DataFrame) -> Table:
    axes = varying_axes(frame)
    settings = _differing_parameters(frame)
    words = [axis for axis in axes if not _is_numeric(frame, axis)]
    numbers = [axis for axis in axes if axis not in words]
    case = [statement.case] if statement.case and (frame["case"] != "").any() else []
    frame = frame.assign(series=name_series(frame, axes))
    table = Table(
        f"{capitalised(statement.title or benchmark)}: median [95 % confidence interval] of n repetitions.",
        [
            capitalised(statement.subject), "World", *map(capitalised, case),
            *map(capitalised, settings), *(_axis_title(statement, one) for one in words),
            "Nodes", "Ranks", *(_axis_title(statement, one) for one in numbers), "n", *map(_title, statement.columns),
        ],
        2 + len(case) + len(settings) + len(words),
        notes=_meanings(statement, axes),
    )  # fmt: skip
    for (_, world, nodes, ranks, name, _), group in frame.groupby(PLACE):
        at = group["axes"].iloc[0]
        for series, part in group.groupby("series", sort=False):
            head = [str(series), world_name(world), *[name or MISSING for _ in case]]
            head += [_shown(part["parameters"].iloc[0], one) for one in settings]
            head += [_shown(at, one) for one in words]
            head += [str(nodes), str(ranks), *(_shown(at, one) for one in numbers), str(len(part))]
            cells = [with_interval(summarize(_measured(part, one)), fixed(one.digits)) for one in statement.columns]
            table.rows.append([*head, *cells])
    return table


def _differing_parameters(frame: pandas.DataFrame) -> list[str]:
    """The parameters that all objects have, that differ among them, and that do not tell series of one object apart."""
    all_of = list(frame["parameters"])
    shared = [name for name in all_of[0] if all(name in one for one in all_of)]
    differing = [name for name in shared if len({text_of(one[name]) for one in all_of}) > 1]
    told = " ".join(frame["variant"].unique())
    return [name for name in differing if f"{name}=" not in told]


def _meanings(statement: Statement, axes: Sequence[str]) -> list[str]:
    """The meaning of each column."""
    meanings = [(_title(one), one.meaning) for one in statement.columns]
    meanings += [(_axis_title(statement, one.name), one.meaning) for one in statement.axes if one.name in axes]
    return [f"{head}: {_sentence(meaning)}" for head, meaning in meanings if meaning]


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _title(column: Quantity) -> str:
    return with_unit(column.title, column.unit)


def _axis_title(statement: Statement, name: str) -> str:
    units = {axis.name: axis.unit for axis in statement.axes}
    return with_unit(name, units.get(name, ""))


def _shown(axes: Mapping[str, Any], name: str) -> str:
    return text_of(axes[name]) if name in axes else MISSING


def _is_numeric(frame: pandas.DataFrame, axis: str) -> bool:
    return all(value is None or is_value(value) for value in axis_values(frame, axis))


def _measured(frame: pandas.DataFrame, column: Quantity) -> list[float | None]:
    return [one.get(column.name) for one in frame["measured"]]


# -------------------------------------------------------------------------------------------- stated: the figure


def measured_columns(statement: Statement, frame: pandas.DataFrame) -> tuple[list[Column], pandas.DataFrame]:
    """The columns that figures show, of those that were measured, and the rows that have one of them."""
    known = {one.name: one for one in statement.columns}
    names = [name for name in statement.figure if name in known] or list(known)
    found = [known[name] for name in names if summarize(_measured(frame, known[name])) is not None]
    columns = [Column(key_of(one.name), _title(one), one.title) for one in (found if statement.figure else found[:1])]
    values = {key_of(one.name): pandas.Series(_measured(frame, one), frame.index, float) for one in found}
    frame = frame.assign(**values)
    return columns, frame[frame[[column.key for column in columns]].notna().any(axis=1)]


def stated_pictures(
    benchmark: str, statement: Statement, frame: pandas.DataFrame, everything: pandas.DataFrame, published: Published
) -> list[Picture]:
    """The columns of the figure along the axis, ranks or nodes, whichever took most values; else bars.

    `everything` holds the rows of all benchmarks, in which objects have their colours.
    """
    columns, frame = measured_columns(statement, frame)
    if not columns:
        return []
    axis = _axis(statement, frame)
    frame = frame.assign(
        series=name_series(frame, [axis] if axis else []),
        **{X: pandas.Series(axis_values(frame, axis), frame.index, float)},
    )
    points = points_of(frame, published)
    drawn = _panels(statement, frame, axis)
    slug = re.sub(r"[^\w.]+", "-", benchmark)
    title = f"{capitalised(statement.title or benchmark)}: {_joined([column.title.lower() for column in columns])}"
    if len(columns) == 1:
        title = f"{capitalised(statement.title or benchmark)}: {columns[0].label}"
    of_bars = [_with_crosses(bars(panel, columns), panel, points) for panel in drawn if not panel.is_curve]
    curves = [panel for panel in drawn if panel.is_curve]
    colours = looks(everything, frame)
    result = bar_pictures(of_bars, columns, colours, f"{slug}-bars", title, f"Bar chart: {title}, ")
    lined = [
        _with_curve_crosses(lines(replace(panel, title=f"{title}, {panel.title}"), columns), panel, points)
        for panel in curves
    ]
    limits = limits_of(lined, columns)
    for index, (panel, one) in enumerate(zip(curves, lined), start=1):
        name = numbered(f"{slug}-curves", index, len(curves))
        head, alternative = f"{title} over {panel.label} ({panel.title})", f"{title} over {panel.label}: {panel.title}"
        if len(columns) == 1:
            result.append(curve_picture(one, replace(columns[0], title=""), colours, name, head, alternative))
        else:
            result.append(line_picture(one, columns, limits, colours, name, head, alternative))
    return result


def _joined(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _with_crosses(of_bars: BarPanel, panel: Panel, points: Mapping[tuple[str, int, str], float]) -> BarPanel:
    ranks = set(panel.frame["ranks"])
    beside = {(series, key_of(TIME), ""): point for (series, of, _), point in points.items() if of in ranks}
    return replace(of_bars, points=beside)


def _with_curve_crosses(
    drawn: LinePanel, panel: Panel, points: Mapping[tuple[str, int, str], float]
) -> LinePanel:
    if panel.axis != "ranks":
        return drawn
    beside: dict[tuple[str, str], dict[float, float]] = {}
    for (series, ranks, _), point in points.items():
        if ranks in drawn.scale.values:
            beside.setdefault((series, key_of(TIME)), {})[ranks] = point
    return replace(drawn, points=beside)


def _axis(statement: Statement, frame: pandas.DataFrame) -> str:
    """The axis of the curves: the numeric axis with most values; at a tie the first in the order of the statement.

    The text is empty if no axis varies, or if there are more numbers of ranks or of nodes than values.
    """
    varying = varying_axes(frame)
    stated = [axis.name for axis in statement.axes if axis.name in varying]
    counts = {
        name: len(set(axis_values(frame, name)) - {None})
        for name in dict.fromkeys([*stated, *varying])
        if _is_numeric(frame, name)
    }
    name = max(counts, key=lambda one: counts[one], default="")
    sizes = max(frame["ranks"].nunique(), frame["nodes"].nunique())
    return name if name and counts[name] > 1 and counts[name] >= sizes else ""


def _panels(statement: Statement, frame: pandas.DataFrame, axis: str) -> list[Panel]:
    """One panel for each set of axes; no curve connects two places or two cases."""
    result = []
    for case, of_case in frame.groupby("case"):
        suffix = f", {statement.case} {case}" if case else ""
        if not axis:
            result += [replace(panel, title=panel.title + suffix) for panel in panels(of_case)]
            continue
        for (world, nodes, ranks), part in of_case.groupby(["world", "nodes", "ranks"]):
            title = full_title(frame, world, nodes, ranks) + suffix
            values = list(part[X].dropna().unique())
            if len(values) > 1:
                part = part[part[X].notna()]
            elif values:
                title += f", {axis}={text_of(float(values[0]))}"
            result.append(Panel(title, "", part, X, _axis_title(statement, axis)))
    return result
