"""Figures and tables of the uncontested performance benchmark (UPB)."""

from __future__ import annotations

from collections.abc import Mapping

import pandas

from .charts import BarPanel, Column, bar_chart
from .panels import place_title, rank_noun
from .published import NOTE, Published, points_of
from .statistics import Summary, summarize
from .styles import Look, Picture, picture
from .tables import Table, counted, interval_note, number, with_interval, world_name

LETTERS = {"a": "home process", "b": "same node", "c": "other node"}
PREDECESSORS = {"1": "same process", "2": "same node", "3": "other node"}
NOTABLE_RATIO = 1.1

MEANING = (
    "One rank at a time takes and releases many free locks once each; the value of a repetition is the mean over these"
    " locks."
)
COLUMNS_MEANING = (
    "The columns are where the acquiring rank runs: the lock's home process itself, another process on the home's"
    " node, or a process on another node. Every column has its own scale."
)


def _panels(frame: pandas.DataFrame) -> list[tuple[str, pandas.DataFrame]]:
    """One panel per world, number of nodes and number of ranks."""
    result = []
    for (world, nodes, ranks), part in frame.groupby(["world", "nodes", "ranks"]):
        title = place_title(frame, str(world), nodes)
        result.append((f"{title}, {counted(ranks, rank_noun(str(world)))}", part))
    return result


def _columns(frame: pandas.DataFrame, unit: str) -> list[Column]:
    present = sorted(frame["case"].str[1].unique())
    return [Column(letter, unit, f"{letter}: {LETTERS[letter]}") for letter in present]


def _cells(frame: pandas.DataFrame, quantity: str, by_predecessor: bool) -> dict[tuple[str, str, str], Summary]:
    predecessor = frame["case"].str[0] if by_predecessor else pandas.Series("", index=frame.index)
    cells = {}
    for (series, letter, part), group in frame.groupby(["series", frame["case"].str[1], predecessor], sort=False):
        summary = summarize(group[quantity])
        if summary:
            cells[(series, letter, part)] = summary
    return cells


def predecessor_matters(frame: pandas.DataFrame) -> list[str]:
    """'lock (letters)' wherever two predecessors lead to clearly different times, so that pooling hides something."""
    result = []
    panels = _panels(frame)
    for title, part in panels:
        place = f"; {title}" if len(panels) > 1 else ""
        cells = _cells(part, "time_ns", by_predecessor=True)
        for series in part["series"].unique():
            letters = []
            for letter in LETTERS:
                found = [cells[(series, letter, p)] for p in PREDECESSORS if (series, letter, p) in cells]
                if any(_clearly_differ(one, other) for one in found for other in found):
                    letters.append(letter)
            if letters:
                result.append(f"{series} ({', '.join(letters)}{place})")
    return result


def _clearly_differ(one: Summary, other: Summary) -> bool:
    return one.excludes(other) and one.median > NOTABLE_RATIO * other.median


def pictures(frame: pandas.DataFrame, looks: Mapping[str, Look], published: Published | None = None) -> list[Picture]:
    """Time and throughput pooled over the predecessors, then the time in all nine scenarios."""
    matters = predecessor_matters(frame)
    pooled = "Pooled over the kinds of predecessors, so that n is the repetitions of all of them together."
    if matters:
        pooled += " The predecessor does make a difference for " + ", ".join(matters) + ": see all nine scenarios."
    else:
        pooled += " No lock shows a clear difference between predecessors."
    inverse = "The same measurements as in the figure of times, as acquisitions per second of one rank alone."
    kinds = (
        ("upb-time", "time_ns", "ns per acquisition and release", "time of a free lock", f"{MEANING} {pooled}", False),
        ("upb-throughput", "million_per_s", "million acquisitions/s", "throughput of free locks", inverse, False),
        (
            "upb-scenarios", "time_ns", "ns per acquisition and release", "all nine scenarios",
            "The shade is the rank that held the lock before: 1 the acquiring process itself, 2 another process on its"
            " node, 3 a process on another node.", True,
        ),
    )  # fmt: skip
    result = []
    for name, quantity, unit, what, remark, by_predecessor in kinds:
        known = points_of(frame, published or {}) if by_predecessor else {}
        points = {(series, case[1], case[0]): point for (series, _, case), point in known.items()}
        drawn = [
            BarPanel(title, list(part["series"].unique()), _cells(part, quantity, by_predecessor), points)
            for title, part in _panels(frame)
        ]
        parts = {key: f"{key}: predecessor {text}" for key, text in PREDECESSORS.items()} if by_predecessor else None
        figure = bar_chart(drawn, _columns(frame, unit), looks, parts)
        summaries = [summary for panel in drawn for summary in panel.cells.values()]
        caption = [
            f"UPB: {what}. Bars (dots on logarithmic axes) are medians, whiskers {interval_note(summaries)}.",
            remark,
            *([NOTE] if points else []),
            COLUMNS_MEANING,
        ]
        result.append(picture(figure, name, caption, f"UPB bar chart: {what}"))
    return result


def tables(frame: pandas.DataFrame) -> list[Table]:
    """Pooled times and throughputs, and the times of all nine scenarios."""
    letters = [f"{letter}: {text}" for letter, text in LETTERS.items()]
    place = ["Lock", "World", "Nodes", "Ranks"]
    pooled = Table(
        "UPB: free locks, pooled over predecessors. ns per acquisition and release, median"
        " [95 % confidence interval]; below it million acquisitions per s (Mio/s) and the number of values n.",
        [*place, *letters],
        2,
    )
    scenarios = Table(
        "UPB: all nine scenarios. ns per acquisition and release, median [95 % confidence interval].",
        [*place[:2], "Predecessor", *place[2:], *letters],
        3,
    )
    for (world, nodes, ranks), part in frame.groupby(["world", "nodes", "ranks"]):
        times = _cells(part, "time_ns", by_predecessor=False)
        rates = _cells(part, "million_per_s", by_predecessor=False)
        single = _cells(part, "time_ns", by_predecessor=True)
        for series in part["series"].unique():
            counts = [str(nodes), str(ranks)]
            row = [series, world_name(world), *counts]
            for letter in LETTERS:
                time, rate = times.get((series, letter, "")), rates.get((series, letter, ""))
                second = f"\n{number(rate.median)} Mio/s, n = {rate.n}" if rate else ""
                row.append(with_interval(time) + second)
            pooled.rows.append(row)
            for digit, text in PREDECESSORS.items():
                cells = [single.get((series, letter, digit)) for letter in LETTERS]
                if any(cells):
                    head = [series, world_name(world), f"{digit}: {text}", *counts]
                    scenarios.rows.append(head + [with_interval(cell) for cell in cells])
    return [pooled, scenarios]
