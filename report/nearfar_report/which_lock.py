"""The section "Which lock for me?": speed beside fairness in one picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from . import styles
from .benchmarks import known
from .charts import WIDTH
from .measurements import measurements
from .page import Section
from .panels import full_title
from .results import ResultsFile
from .statements import LOCK
from .statistics import Summary, summarize
from .styles import TEXT, Look, Picture, picture
from .tables import Table, capitalised, interval_note, short_number, tick_number, with_interval

TITLE = "Which lock for me?"
DEFAULT = "cohort"
FROM = 3  # locks: two are compared by themselves
# The variation of progress up to which ranks are said to get on alike, in percent.
EVEN = 5.0
BEATEN = "#BBBBBB"

_ADVICE = (
    "Take cohort (nearfar::default_cohort_lock) unless you know why not: it is first come, first served between nodes, and for what nobody else wants"
    " it stays where it was used last. What follows is this measurement: a lock that is always wanted, with nothing inside, which is not your"
    " program. Further left is faster; further down, ranks get on alike. A lock that is far left and high up is fast because one rank has it again"
    " and again while the others wait."
)


@dataclass(frozen=True)
class _Place:
    """The locks that were measured on one number of ranks: time in ns and variation of progress in percent of each."""

    title: str
    time: Mapping[str, Summary]
    variation: Mapping[str, Summary]
    default: str | None
    curves: Mapping[str, Sequence[str]]  # the series of a lock with several values of a parameter, in their order

    def better(self, series: str) -> str | None:
        """The fastest lock that is both faster and no less fair, or None. A variation up to EVEN counts as 0."""
        fair = max(self.variation[series].median, EVEN)
        found = [
            other for other in self.time
            if self.time[other].median < self.time[series].median
            and self.variation[other].median <= fair
        ]  # fmt: skip
        return min(found, key=lambda other: self.time[other].median, default=None)


def sections(files: Sequence[ResultsFile]) -> list[Section]:
    """One section if three locks or more were compared in the empty critical section, else none."""
    frame = measurements(files)
    if frame.empty:
        return []
    part = frame[frame["benchmark"].map(lambda name: known(name).compares_locks) & (frame["kind"] == LOCK)]
    places = _places(part) if len(part) else []
    if not places:
        return []
    looks = styles.looks(frame, part)
    return [Section(TITLE, [_picture(places, looks)], [_table(place) for place in places], _ADVICE, [_note(place) for place in places])]


def _places(frame: pandas.DataFrame) -> list[_Place]:
    """Of each world and number of nodes the largest number of ranks."""
    result = []
    for (world, nodes), group in frame.groupby(["world", "nodes"]):
        ranks = int(group["ranks"].max())
        group = group[group["ranks"] == ranks]
        time, variation, default = {}, {}, None
        of_lock: dict[str, list[str]] = {}
        for series, rows in group.groupby("series", sort=False):
            measured = summarize(rows["time_ns"]), summarize(rows["cv_percent"])
            if measured[0] and measured[1] and ranks > 1:
                time[str(series)], variation[str(series)] = measured[0], measured[1]
                of_lock.setdefault(str(rows["object"].iloc[0]), []).append(str(series))
                if rows["object"].iloc[0] == DEFAULT:
                    default = default or str(series)
        if len(time) >= FROM:
            title = capitalised(full_title(frame, str(world), int(nodes), ranks))
            curves = {name: sorted(members, key=_in_order) for name, members in of_lock.items() if len(members) >= FROM}
            result.append(_Place(title, time, variation, default, curves))
    return result


def _value(series: str) -> str:
    """The setting that distinguishes a series from others of its lock: '50' of 'cohort (max_local_passes=50)'."""
    return series.partition("=")[2].removesuffix(")") if series.count("=") == 1 else series


def _in_order(series: str) -> tuple[float, str]:
    """By the number that a setting is, if it is one."""
    try:
        return float(_value(series)), series
    except ValueError:
        return float("inf"), series


def _note(place: _Place) -> str:
    even = [series for series in place.time if place.variation[series].median <= EVEN]
    if not even:
        return f"{place.title}: with no lock did all ranks get on alike (a variation of progress of at most {EVEN:g} %)."
    fastest = min(even, key=lambda series: place.time[series].median)
    text = (
        f"{place.title}: the fastest with which ranks got on alike (a variation of progress of at most {EVEN:g} %) was {fastest},"
        f" {short_number(place.time[fastest].median)} ns per acquisition"
    )
    if place.default is not None and fastest != place.default:
        ratio = place.time[place.default].median / place.time[fastest].median
        variation = place.variation[place.default].median
        text += f"; the default, {place.default}, took {ratio:.2f} times as long, with {short_number(variation)} %"
    return text + "."


def _picture(places: Sequence[_Place], looks: Mapping[str, Look]) -> Picture:
    figure = Figure(figsize=(WIDTH, 4.8 * len(places)), layout="constrained")
    for axes, place in zip(figure.subplots(len(places), 1, squeeze=False)[:, 0], places):
        label = {series: series for series in place.time}
        look_of = dict(looks)
        for members in place.curves.values():
            label.update(zip(members[1:], map(_value, members[1:])))
            look_of.update({series: looks[members[0]] for series in members})
            axes.plot(
                [place.time[series].median for series in members], [place.variation[series].median for series in members],
                color=looks[members[0]].lightened(0.4), linewidth=1.0, zorder=1,
            )  # fmt: skip
        on_curves = {series for members in place.curves.values() for series in members}
        for series in place.time:
            time, variation, look = place.time[series], place.variation[series], look_of[series]
            beaten = place.better(series) is not None
            if beaten and series != place.default and series not in on_curves:
                axes.plot(time.median, variation.median, ".", color=BEATEN, zorder=2)
                continue
            axes.errorbar(
                time.median, variation.median,
                xerr=[[time.median - time.low], [time.high - time.median]],
                yerr=[[variation.median - variation.low], [variation.high - variation.median]],
                fmt=look.marker, color=look.colour, markerfacecolor="white" if look.hollow else None, elinewidth=1.0, zorder=3,
            )  # fmt: skip
            axes.annotate(label[series], (time.median, variation.median), xytext=(6, 5), textcoords="offset points", color=TEXT)
        axes.axhline(EVEN, color=TEXT, linewidth=0.6, linestyle=":")
        axes.set_xscale("log")
        axes.set_yscale("symlog", linthresh=1.0)
        axes.set_ylim(bottom=0)
        medians = [summary.median for summary in place.time.values()]
        axes.set_xlim(min(medians) / 1.5, max(medians) * 2)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(FuncFormatter(lambda value, _: tick_number(value)))
        axes.set_title(place.title)
        axes.set_xlabel("ns per acquisition (log): faster to the left")
        axes.set_ylabel("CV of progress in %: fairer further down")
    summaries = [summary for place in places for summary in place.time.values()]
    caption = [
        f"Speed beside fairness. Markers are medians, whiskers {interval_note(summaries)}. Named are the default, and the locks than which no",
        f"other is both faster and no less fair; grey are the others. Lines join a lock's settings. Below the dotted line, at {EVEN:g} %, all count as fair. Below 1 % the vertical axis is linear.",
    ]
    return picture(figure, "which-lock", caption, "Time per acquisition against variation of progress, one marker for each lock")


def _table(place: _Place) -> Table:
    table = Table(
        f"{place.title}: the fastest first. Median [95 % confidence interval]; 'beaten by' is the fastest lock that is faster and no less fair, for which"
        f" a variation of up to {EVEN:g} % counts as none.",
        ["Lock", "ns per acquisition", "CV of progress in %", "Beaten by"],
        1,
    )
    for series in sorted(place.time, key=lambda each: place.time[each].median):
        row = [series, with_interval(place.time[series]), with_interval(place.variation[series])]
        table.rows.append([*row, place.better(series) or "–"])
    return table
