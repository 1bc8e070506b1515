"""Figures and tables of the empty critical section benchmark (ECSB)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pandas

from .charts import BarPanel, Column, LinePanel, Scale, bar_chart, line_chart
from .statistics import Summary, summarize
from .styles import Look, Picture, picture
from .tables import Table, counted, interval_note, with_interval, world_name

COLUMNS = (
    Column("time_ns", "ns per acquisition", "Time"),
    Column("million_per_s", "million acquisitions/s", "Throughput"),
    Column("cv_percent", "CV of progress in %", "Unfairness"),
)
ROWS_PER_FIGURE = 44
COMBINED_FROM = 3  # numbers of ranks from which a curve across nodes says something

MEANING = (
    "All ranks take and release one lock in a loop with nothing inside, for a fixed time; the first 10 % warm up.",
    "Time per acquisition is the measured time divided by the acquisitions of all ranks together, the inverse of the"
    " total throughput: it is how often the lock changes hands, not how long one rank waits for its turn, and so"
    " differs from the per-rank iteration time by the factor of the number of ranks.",
    "Unfairness is the coefficient of variation (CV) of the acquisitions per rank, with Bessel's correction:"
    " 0 % means that all ranks progressed alike. A fast lock with a high CV lets one rank acquire in bursts.",
)


@dataclass(frozen=True)
class Panel:
    """Configurations that belong into one picture: over ranks when there are several, else bars."""

    title: str
    slug: str
    frame: pandas.DataFrame

    @property
    def is_curve(self) -> bool:
        """Whether there is something to draw lines between."""
        return bool(self.frame["ranks"].nunique() > 1)


def panels(frame: pandas.DataFrame) -> list[Panel]:
    """One panel per world and number of nodes.

    Where each of at least three numbers of ranks was run on one number of nodes only (a scaling run that fills node
    after node), the panels of a world are joined to one, as the curve is what is asked for.
    """
    result = []
    for world, of_world in frame.groupby("world"):
        nodes_by_ranks = of_world.groupby("ranks")["nodes"].nunique()
        several = of_world["nodes"].nunique() > 1
        if several and len(nodes_by_ranks) >= COMBINED_FROM and (nodes_by_ranks == 1).all():
            low, high = of_world["nodes"].min(), of_world["nodes"].max()
            result.append(Panel(f"{world_name(world)} world, {low} to {high} nodes", f"{world}", of_world))
            continue
        for nodes, part in of_world.groupby("nodes"):
            title = f"{world_name(world)} world" + ("" if world == "threads" else f", {counted(nodes, 'node')}")
            if part["ranks"].nunique() == 1:
                ranks = int(part["ranks"].iloc[0])
                title += f", {counted(ranks, 'thread' if world == 'threads' else 'rank')}"
            slug = world if world == "threads" else f"{world}-{counted(nodes, 'node').replace(' ', '-')}"
            result.append(Panel(title, slug, part))
    return result


def pictures(frame: pandas.DataFrame, looks: Mapping[str, Look]) -> list[Picture]:
    """Line figures for panels with several numbers of ranks, bar figures for the others."""
    everything = panels(frame)
    curves = [panel for panel in everything if panel.is_curve]
    bars = [_bars(panel) for panel in everything if not panel.is_curve]
    return [*_bar_pictures(bars, looks), *_line_pictures(curves, looks)]


def _bars(panel: Panel) -> BarPanel:
    cells = {}
    for series, group in panel.frame.groupby("series", sort=False):
        for column in COLUMNS:
            summary = summarize(group[column.key])
            if summary:
                cells[(str(series), column.key, "")] = summary
    return BarPanel(panel.title, list(panel.frame["series"].unique()), cells)


def _chunks(bars: Sequence[BarPanel]) -> list[list[BarPanel]]:
    """Panels that share a figure, so that none becomes taller than a page."""
    result: list[list[BarPanel]] = []
    rows = 0
    for panel in bars:
        if not result or rows + len(panel.series) > ROWS_PER_FIGURE:
            result.append([])
            rows = 0
        result[-1].append(panel)
        rows += len(panel.series)
    return result


def _bar_pictures(bars: Sequence[BarPanel], looks: Mapping[str, Look]) -> list[Picture]:
    result = []
    chunks = _chunks(bars)
    for index, chunk in enumerate(chunks, start=1):
        name = "ecsb-bars" if len(chunks) == 1 else f"ecsb-bars-{index}"
        summaries = [summary for panel in chunk for summary in panel.cells.values()]
        titles = "; ".join(panel.title for panel in chunk)
        caption = [
            f"ECSB: speed and fairness ({titles}). Bars (dots on logarithmic axes) are medians,",
            f"whiskers {interval_note(summaries)}.",
            *MEANING,
        ]
        result.append(picture(bar_chart(chunk, COLUMNS, looks), name, caption, f"ECSB bar chart: {titles}"))
    return result


def _line_pictures(curves: Sequence[Panel], looks: Mapping[str, Look]) -> list[Picture]:
    drawn = [_lines(panel) for panel in curves]
    limits = {
        column.key: [
            summary for one in drawn for (_, key), by_ranks in one.curves.items() if key == column.key
            for summary in by_ranks.values()
        ]
        for column in COLUMNS
    }  # fmt: skip
    result = []
    for panel, lines in zip(curves, drawn):
        figure = line_chart(lines, COLUMNS, limits, looks)
        summaries = [summary for by_ranks in lines.curves.values() for summary in by_ranks.values()]
        caption = [
            f"ECSB over the number of ranks ({panel.title}). Markers are medians,",
            f"bands or whiskers {interval_note(summaries)}.",
            *MEANING,
        ]
        result.append(picture(figure, f"ecsb-{panel.slug}", caption, f"ECSB over ranks: {panel.title}"))
    return result


def _lines(panel: Panel) -> LinePanel:
    curves: dict[tuple[str, str], dict[float, Summary]] = {}
    for (series, ranks), group in panel.frame.groupby(["series", "ranks"], sort=False):
        for column in COLUMNS:
            summary = summarize(group[column.key])
            if summary:
                curves.setdefault((series, column.key), {})[ranks] = summary
    nodes = {int(ranks): int(count) for ranks, count in panel.frame.groupby("ranks")["nodes"].first().items()}
    scale = Scale("ranks", sorted(nodes))
    marks = []
    for before, after in zip(scale.values, scale.values[1:]):
        if nodes[after] != nodes[before]:
            middle = (before * after) ** 0.5 if scale.is_logarithmic else (before + after) / 2
            marks.append((middle, f"{nodes[after]} nodes"))
    return LinePanel(panel.title, list(panel.frame["series"].unique()), curves, replace(scale, marks=marks))


def tables(frame: pandas.DataFrame) -> list[Table]:
    """Speed and fairness, and what the acquisitions were like."""
    place = ["Lock", "World", "Nodes", "Ranks", "n"]
    speed = Table(
        "ECSB: speed and fairness. Median [95 % confidence interval] of n repetitions; Mio/s is million acquisitions"
        " per s.",
        [*place, "ns per acquisition", "Mio/s", "CV of progress in %"],
        2,
    )
    character = Table(
        "ECSB: kinds of acquisitions, median [95 % confidence interval]. Contention: had to wait for a predecessor."
        " Local hand-over: received from a rank of the same node without passing through the far lock. After another"
        " rank: the previous holder was a different rank (near 0 % means bursts of one rank). – means that this lock"
        " cannot tell.",
        [*place, "Contention in %", "Local hand-over in %", "After another rank in %"],
        2,
    )
    for (world, nodes, ranks), group in frame.groupby(["world", "nodes", "ranks"]):
        for series, part in group.groupby("series", sort=False):
            head = [str(series), world_name(world), str(nodes), str(ranks), str(len(part))]
            speed.rows.append(head + [with_interval(summarize(part[column.key])) for column in COLUMNS])
            shares = ("contention_percent", "local_percent", "followed_percent")
            character.rows.append(head + [with_interval(summarize(part[share])) for share in shares])
    return [speed, character]
