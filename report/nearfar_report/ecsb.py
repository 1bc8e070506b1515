"""Figures and tables of the empty critical section benchmark (ECSB)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas

from .charts import BarPanel, Column, LinePanel, bar_chart, line_chart
from .panels import Panel, bars, chunks, lines, panels
from .published import NOTE, Published, points_of
from .statistics import summarize
from .styles import Look, Picture, picture
from .tables import Table, interval_note, with_interval, world_name

TIME = "time_ns"
COLUMNS = (
    Column(TIME, "ns per acquisition", "Time"),
    Column("million_per_s", "million acquisitions/s", "Throughput"),
    Column("cv_percent", "CV of progress in %", "Unfairness"),
)

MEANING = (
    "All ranks take and release one lock in a loop with nothing inside, for a fixed time; the first 10 % warm up.",
    "Time per acquisition is the measured time divided by the acquisitions of all ranks together, the inverse of the"
    " total throughput: it is how often the lock changes hands, not how long one rank waits for its turn, and so"
    " differs from the per-rank iteration time by the factor of the number of ranks.",
    "Unfairness is the coefficient of variation (CV) of the acquisitions per rank, with Bessel's correction:"
    " 0 % means that all ranks progressed alike. A fast lock with a high CV lets one rank acquire in bursts.",
)


def pictures(frame: pandas.DataFrame, looks: Mapping[str, Look], published: Published | None = None) -> list[Picture]:
    """Line figures for panels with several numbers of ranks or nodes, bar figures for the others."""
    known = points_of(frame, published or {})
    everything = panels(frame)
    curves = [panel for panel in everything if panel.is_curve]
    others = [_with_bar_points(bars(panel, COLUMNS), panel, known) for panel in everything if not panel.is_curve]
    return [*_bar_pictures(others, looks), *_line_pictures(curves, looks, known)]


def _with_bar_points(drawn: BarPanel, panel: Panel, known: Mapping[tuple[str, int, str], float]) -> BarPanel:
    ranks = set(panel.frame["ranks"])
    return replace(drawn, points={(series, TIME, ""): point for (series, of, _), point in known.items() if of in ranks})


def _with_line_points(drawn: LinePanel, panel: Panel, known: Mapping[tuple[str, int, str], float]) -> LinePanel:
    if panel.axis != "ranks":
        return drawn
    points: dict[tuple[str, str], dict[float, float]] = {}
    for (series, ranks, _), point in known.items():
        if ranks in drawn.scale.values:
            points.setdefault((series, TIME), {})[ranks] = point
    return replace(drawn, points=points)


def _bar_pictures(drawn: Sequence[BarPanel], looks: Mapping[str, Look]) -> list[Picture]:
    result = []
    parts = chunks(drawn)
    for index, chunk in enumerate(parts, start=1):
        name = "ecsb-bars" if len(parts) == 1 else f"ecsb-bars-{index}"
        summaries = [summary for panel in chunk for summary in panel.cells.values()]
        titles = "; ".join(panel.title for panel in chunk)
        caption = [
            f"ECSB: speed and fairness ({titles}). Bars (dots on logarithmic axes) are medians,",
            f"whiskers {interval_note(summaries)}.",
            *([NOTE] if any(panel.points for panel in chunk) else []),
            *MEANING,
        ]
        result.append(picture(bar_chart(chunk, COLUMNS, looks), name, caption, f"ECSB bar chart: {titles}"))
    return result


def _line_pictures(
    curves: Sequence[Panel], looks: Mapping[str, Look], known: Mapping[tuple[str, int, str], float]
) -> list[Picture]:
    drawn = [_with_line_points(lines(panel, COLUMNS), panel, known) for panel in curves]
    limits = {
        column.key: [
            summary for one in drawn for (_, key), curve in one.curves.items() if key == column.key
            for summary in curve.values()
        ]
        for column in COLUMNS
    }  # fmt: skip
    result = []
    for panel, one in zip(curves, drawn):
        figure = line_chart(one, COLUMNS, limits, looks)
        summaries = [summary for curve in one.curves.values() for summary in curve.values()]
        caption = [
            f"ECSB over the number of {panel.label} ({panel.title}). Markers are medians,",
            f"bands or whiskers {interval_note(summaries)}.",
            *([NOTE] if one.points else []),
            *MEANING,
        ]
        result.append(picture(figure, f"ecsb-{panel.slug}", caption, f"ECSB over {panel.label}: {panel.title}"))
    return result


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
