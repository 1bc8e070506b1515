"""Figures and tables of a benchmark's own columns: a panel for each place, over ranks or nodes where these vary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pandas

from .benchmarks import TIME, Benchmark
from .charts import BarPanel, LinePanel
from .panels import Panel, bars, lines, panels
from .pictures import bar_pictures, limits_of, line_picture
from .published import Published, points_of
from .statistics import summarize
from .styles import Look, Picture
from .tables import Table, with_interval, world_name


def pictures(
    benchmark: str, known: Benchmark, frame: pandas.DataFrame, looks: Mapping[str, Look], published: Published
) -> list[Picture]:
    """Line figures for panels with several numbers of ranks or nodes, bar figures for the others."""
    points = points_of(frame, published)
    everything = panels(frame)
    of_bars = [_bars(known, panel, points) for panel in everything if not panel.is_curve]
    head = f"{known.name}: {known.figure}"
    alternative = f"{known.name} bar chart: "
    result = bar_pictures(of_bars, known.columns, looks, f"{benchmark}-bars", head, alternative, known.meaning)
    curves = [panel for panel in everything if panel.is_curve]
    drawn = [_lines(known, panel, points) for panel in curves]
    limits = limits_of(drawn, known.columns)
    for panel, one in zip(curves, drawn):
        head = f"{known.name} over the number of {panel.label} ({panel.title})"
        alternative = f"{known.name} over {panel.label}: {panel.title}"
        name = f"{benchmark}-{panel.slug}"
        result.append(line_picture(one, known.columns, limits, looks, name, head, alternative, known.meaning))
    return result


def _bars(known: Benchmark, panel: Panel, points: Mapping[tuple[str, int, str], float]) -> BarPanel:
    ranks = set(panel.frame["ranks"])
    beside = {(series, TIME.key, ""): point for (series, of, _), point in points.items() if of in ranks}
    return replace(bars(panel, known.columns), points=beside)


def _lines(known: Benchmark, panel: Panel, points: Mapping[tuple[str, int, str], float]) -> LinePanel:
    drawn = lines(panel, known.columns)
    if panel.axis != "ranks":
        return drawn
    beside: dict[tuple[str, str], dict[float, float]] = {}
    for (series, ranks, _), point in points.items():
        if ranks in drawn.scale.values:
            beside.setdefault((series, TIME.key), {})[ranks] = point
    return replace(drawn, points=beside)


def tables(known: Benchmark, name: str, subject: str, frame: pandas.DataFrame) -> list[Table]:
    """The listings of a benchmark: one row per configuration."""
    result = []
    for listing in known.listings:
        heads = [subject, "World", "Nodes", "Ranks", "n", *(column.label for column in listing.columns)]
        table = Table(listing.caption.format(name=name), heads, 2)
        for (world, nodes, ranks), group in frame.groupby(["world", "nodes", "ranks"]):
            for series, part in group.groupby("series", sort=False):
                cells = [with_interval(summarize(part[column.key])) for column in listing.columns]
                table.rows.append([str(series), world_name(world), str(nodes), str(ranks), str(len(part)), *cells])
        result.append(table)
    return result
