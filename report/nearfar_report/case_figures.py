"""Figures and tables of a benchmark with cases of two characters: one for a part of each group, one for a column."""

from __future__ import annotations

from collections.abc import Mapping

import pandas

from .benchmarks import RATE, TIME, Benchmark, Cases, Column
from .charts import BarPanel
from .panels import full_title
from .pictures import bar_picture
from .published import NOTE, Published, points_of
from .statistics import Summary, summarize
from .styles import Look, Picture
from .tables import Table, number, with_interval, world_name

NOTABLE_RATIO = 1.1


def _panels(frame: pandas.DataFrame) -> list[tuple[str, pandas.DataFrame]]:
    """One panel per world, number of nodes and number of ranks."""
    return [(full_title(frame, *place), part) for place, part in frame.groupby(["world", "nodes", "ranks"])]


def _cells(frame: pandas.DataFrame, quantity: str, by_part: bool) -> dict[tuple[str, str, str], Summary]:
    parts = frame["case"].str[0] if by_part else pandas.Series("", index=frame.index)
    cells = {}
    for (series, column, part), group in frame.groupby(["series", frame["case"].str[1], parts], sort=False):
        summary = summarize(group[quantity])
        if summary:
            cells[(series, column, part)] = summary
    return cells


def parts_that_matter(cases: Cases, frame: pandas.DataFrame) -> list[str]:
    """'lock (columns)' wherever two parts have clearly different times, so that pooling hides something."""
    result = []
    panels = _panels(frame)
    for title, of_panel in panels:
        place = f"; {title}" if len(panels) > 1 else ""
        cells = _cells(of_panel, TIME.key, by_part=True)
        for series in of_panel["series"].unique():
            columns = []
            for column in cases.columns:
                found = [cells[(series, column, part)] for part in cases.parts if (series, column, part) in cells]
                if any(_clearly_differ(one, other) for one in found for other in found):
                    columns.append(column)
            if columns:
                result.append(f"{series} ({', '.join(columns)}{place})")
    return result


def _clearly_differ(one: Summary, other: Summary) -> bool:
    return one.excludes(other) and one.median > NOTABLE_RATIO * other.median


def pictures(
    benchmark: str, known: Benchmark, cases: Cases, frame: pandas.DataFrame, looks: Mapping[str, Look],
    published: Published,
) -> list[Picture]:  # fmt: skip
    """The figures that the benchmark states, each with a column of axes for each column of cases."""
    series = ", ".join(parts_that_matter(cases, frame))
    matters = cases.differ.format(series=series) if series else cases.alike
    present = sorted(frame["case"].str[1].unique())
    panels = _panels(frame)
    result = []
    for figure in cases.figures:
        beside = points_of(frame, published) if figure.by_part else {}
        points = {(name, case[1], case[0]): point for (name, _, case), point in beside.items()}
        drawn = [
            BarPanel(title, list(part["series"].unique()), _cells(part, figure.quantity.key, figure.by_part), points)
            for title, part in panels
        ]
        columns = [Column(one, figure.quantity.label, f"{one}: {cases.columns[one]}") for one in present]
        parts = {key: f"{key}: {cases.part} {text}" for key, text in cases.parts.items()} if figure.by_part else None
        remarks = [figure.remark.format(matters=matters), *([NOTE] if points else []), cases.remark]
        head, alternative = f"{known.name}: {figure.what}", f"{known.name} bar chart: {figure.what}"
        name = f"{benchmark}-{figure.name}"
        result.append(bar_picture(drawn, columns, looks, name, head, alternative, remarks, parts))
    return result


def tables(known: Benchmark, cases: Cases, subject: str, frame: pandas.DataFrame) -> list[Table]:
    """Times and throughputs pooled over parts, and the times of all cases."""
    columns = [f"{column}: {text}" for column, text in cases.columns.items()]
    pooled = Table(cases.pooled.format(name=known.name), [subject, "World", "Nodes", "Ranks", *columns], 2)
    heads = [subject, "World", cases.part.capitalize(), "Nodes", "Ranks", *columns]
    single = Table(cases.single.format(name=known.name), heads, 3)
    for (world, nodes, ranks), of_place in frame.groupby(["world", "nodes", "ranks"]):
        times = _cells(of_place, TIME.key, by_part=False)
        rates = _cells(of_place, RATE.key, by_part=False)
        apart = _cells(of_place, TIME.key, by_part=True)
        counts = [str(nodes), str(ranks)]
        for series in of_place["series"].unique():
            row = [series, world_name(world), *counts]
            for column in cases.columns:
                rate = rates.get((series, column, ""))
                second = f"\n{number(rate.median)} Mio/s, n = {rate.n}" if rate else ""
                row.append(with_interval(times.get((series, column, ""))) + second)
            pooled.rows.append(row)
            for part, text in cases.parts.items():
                cells = [apart.get((series, column, part)) for column in cases.columns]
                if any(cells):
                    head = [series, world_name(world), f"{part}: {text}", *counts]
                    single.rows.append(head + [with_interval(cell) for cell in cells])
    return [pooled, single]
