"""Figures and tables of a benchmark with cases of two characters: one for a part of each group, one for a column."""

from __future__ import annotations

from collections.abc import Mapping

import pandas

from .charts import BarPanel
from .column import Column, key_of, summary_of
from .generic import measured_columns
from .panels import full_title
from .pictures import bar_picture
from .published import NOTE, Published, points_of
from .statements import Cases, Statement
from .statistics import Summary
from .styles import Look, Picture
from .tables import Table, capitalised, number, with_interval, world_name

NOTABLE_RATIO = 1.1


def _panels(frame: pandas.DataFrame) -> list[tuple[str, pandas.DataFrame]]:
    """One panel per world, number of nodes and number of ranks."""
    return [(full_title(frame, *place), part) for place, part in frame.groupby(["world", "nodes", "ranks"])]


def _cells(frame: pandas.DataFrame, quantity: str, by_part: bool) -> dict[tuple[str, str, str], Summary]:
    parts = frame["case"].str[0] if by_part else pandas.Series("", index=frame.index)
    cells = {}
    for (series, column, part), group in frame.groupby(["series", frame["case"].str[1], parts], sort=False):
        summary = summary_of(group, quantity)
        if summary:
            cells[(series, column, part)] = summary
    return cells


def parts_that_matter(cases: Cases, column: Column, frame: pandas.DataFrame) -> list[str]:
    """'lock (columns)' wherever two parts have clearly different values, so that pooling hides something."""
    result = []
    panels = _panels(frame)
    for title, of_panel in panels:
        place = f"; {title}" if len(panels) > 1 else ""
        cells = _cells(of_panel, column.key, by_part=True)
        for series in of_panel["series"].unique():
            columns = []
            for one in cases.columns:
                found = [cells[(series, one, part)] for part in cases.parts if (series, one, part) in cells]
                if any(_clearly_differ(first, other) for first in found for other in found):
                    columns.append(one)
            if columns:
                result.append(f"{series} ({', '.join(columns)}{place})")
    return result


def _clearly_differ(one: Summary, other: Summary) -> bool:
    return one.excludes(other) and one.median > NOTABLE_RATIO * other.median


def pictures(
    benchmark: str, statement: Statement, cases: Cases, frame: pandas.DataFrame, looks: Mapping[str, Look],
    published: Published,
) -> list[Picture]:  # fmt: skip
    """A figure for each quantity, pooled over parts, and one of the first quantity with a bar for each part.

    Each has a column of axes for each column of cases.
    """
    quantities, frame = measured_columns(statement, frame)
    if not quantities:
        return []
    matters = parts_that_matter(cases, quantities[0], frame)
    pooled = [
        f"Pooled over the {cases.part}, so that n is the repetitions of all of them together.",
        f"The {cases.part} does make a difference for {', '.join(matters)}: see the figure of all {statement.case}s."
        if matters else f"No {statement.subject} shows a clear difference that depends on the {cases.part}.",
    ]  # fmt: skip
    title = capitalised(statement.title or benchmark)
    present = sorted(frame["case"].str[1].unique())
    beside = {(name, case[1], case[0]): point for (name, _, case), point in points_of(frame, published).items()}
    figures = [(one, False, one.title.lower(), f"{benchmark}-{one.title.lower().replace(' ', '-')}") for one in quantities]
    figures.append((quantities[0], True, f"all {statement.case}s", f"{benchmark}-{statement.case}s"))
    result = []
    for quantity, by_part, what, name in figures:
        points = beside if by_part else {}
        drawn = [
            BarPanel(title, list(part["series"].unique()), _cells(part, quantity.key, by_part), points)
            for title, part in _panels(frame)
        ]
        columns = [Column(one, quantity.label, f"{one}: {cases.columns[one]}") for one in present]
        parts = {key: f"{key}: {text}" for key, text in cases.parts.items()} if by_part else None
        shade = [f"The shade is the {cases.part}."]
        remarks = [*(shade if by_part else pooled), *([NOTE] if points else [])]
        head, alternative = f"{title}: {what}", f"{title}, bar chart: {what}"
        result.append(bar_picture(drawn, columns, looks, name, head, alternative, remarks, parts))
    return result


def tables(benchmark: str, statement: Statement, cases: Cases, frame: pandas.DataFrame) -> list[Table]:
    """The quantities pooled over parts, and the first of them in all cases."""
    quantities, frame = measured_columns(statement, frame)
    if not quantities:
        return []
    first, others = quantities[0], quantities[1:]
    title, subject = capitalised(statement.title or benchmark), capitalised(statement.subject)
    columns = [f"{column}: {text}" for column, text in cases.columns.items()]
    units = {key_of(one.name): one.unit for one in statement.columns}
    below = "".join(f"; below it the {one.title.lower()}" for one in others)
    shown = f"{first.label}, median [95 % confidence interval]"
    pooled = Table(
        f"{title}, pooled over the {cases.part}: {shown}{below}, and the number of values n."
        f" Columns: {cases.column}.",
        [subject, "World", "Nodes", "Ranks", *columns], 2,
    )  # fmt: skip
    single = Table(
        f"{title}, all {statement.case}s: {shown}. Columns: {cases.column}.",
        [subject, "World", capitalised(cases.part), "Nodes", "Ranks", *columns], 3,
    )  # fmt: skip
    for (world, nodes, ranks), of_place in frame.groupby(["world", "nodes", "ranks"]):
        all_cells = {one.label: _cells(of_place, one.key, by_part=False) for one in quantities}
        apart = _cells(of_place, first.key, by_part=True)
        counts = [str(nodes), str(ranks)]
        for series in of_place["series"].unique():
            row = [series, world_name(world), *counts]
            for column in cases.columns:
                of_case = {label: cells.get((series, column, "")) for label, cells in all_cells.items()}
                value = of_case[first.label]
                more = [
                    f"{number(found.median)} {units[one.key]}".rstrip() for one in others
                    if (found := of_case[one.label])
                ]  # fmt: skip
                more += [f"n = {value.n}"] if value else []
                row.append("\n".join([with_interval(value), *([", ".join(more)] if more else [])]))
            pooled.rows.append(row)
            for part, text in cases.parts.items():
                cells = [apart.get((series, column, part)) for column in cases.columns]
                if any(cells):
                    head = [series, world_name(world), f"{part}: {text}", *counts]
                    single.rows.append(head + [with_interval(cell) for cell in cells])
    return [pooled, single]
