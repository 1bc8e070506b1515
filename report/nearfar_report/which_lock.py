"""The section "Which lock for me?": speed beside fairness in one picture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from . import styles
from .charts import WIDTH
from .column import with_prediction
from .measurements import measurements
from .page import Section
from .panels import full_title
from .pictures import prediction_note
from .results import ResultsFile
from .statements import LOCK
from .statistics import Summary, summarize
from .styles import TEXT, Look, Picture, picture
from .tables import MISSING, Table, capitalised, interval_note, short_number, tick_number, with_interval

TITLE = "Which lock for me?"
DEFAULT = "cohort"
FROM = 3  # locks: two are compared by themselves
# The column of a statement with the share of acquisitions that followed another rank's, in percent.
FOLLOWED = "other"
# A lock counts as fair up to this variation of progress in percent, at the upper end of its interval, ...
EVEN = 10.0
# ... and if its holder changes at least this often, compared with a random order.
CHANGES = 0.5
BEATEN = "#BBBBBB"

_ADVICE = (
    "Take cohort (nearfar::default_cohort_lock) unless you have a reason: nodes get it first come, first served, and an uncontended lock stays"
    " where it was used last. This section compares locks in one situation, which is not your program: all ranks want the lock all the time, and"
    " do nothing inside. A lock is fast, too, if one rank takes it in bursts while the others wait, so a comparison counts only between locks that"
    f" are equally fair. Here a lock is fair if the upper end of its unfairness (CV of progress) is at most {EVEN:g} %, and if the holder"
    " changes at least half as often as in a random order."
)


@dataclass(frozen=True)
class _Place:
    """The locks that were measured on one number of ranks: time in ns and variation of progress in percent of each."""

    title: str
    time: Mapping[str, Summary]
    variation: Mapping[str, Summary]
    bursts: frozenset[str]  # the locks that one rank has again and again
    default: str | None
    curves: Mapping[str, Sequence[str]]  # the series of a lock with several values of a parameter, in their order

    def unfairness(self, series: str) -> tuple[bool, float]:
        """Larger is less fair; all fair locks are alike."""
        return series in self.bursts, max(self.variation[series].high, EVEN)

    def is_fair(self, series: str) -> bool:
        return self.unfairness(series) <= (False, EVEN)

    def fastest(self, among: Iterable[str]) -> str | None:
        return min(among, key=lambda series: self.time[series].median, default=None)

    def better(self, series: str) -> str | None:
        """The fastest lock that is both faster and no less fair, or None."""
        return self.fastest(
            other for other in self.time
            if self.time[other].median < self.time[series].median
            and self.unfairness(other) <= self.unfairness(series)
        )  # fmt: skip


def sections(files: Sequence[ResultsFile]) -> list[Section]:
    """One section if three locks or more were compared in the empty critical section, else none."""
    frame = measurements(files)
    if frame.empty:
        return []
    part = frame[frame["choice"] & (frame["kind"] == LOCK)]
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
        time, variation, bursts, default = {}, {}, set(), None
        of_lock: dict[str, list[str]] = {}
        for series, rows in group.groupby("series", sort=False):
            measured = with_prediction(summarize(rows["time_ns"]), rows), summarize(rows["cv_percent"])
            if measured[0] and measured[1] and ranks > 1:
                time[str(series)], variation[str(series)] = measured[0], measured[1]
                changes = summarize([one.get(FOLLOWED) for one in rows["measured"]])
                if changes and changes.median < CHANGES * 100 * (ranks - 1) / ranks:
                    bursts.add(str(series))
                of_lock.setdefault(str(rows["object"].iloc[0]), []).append(str(series))
                if rows["object"].iloc[0] == DEFAULT:
                    default = default or str(series)
        if len(time) >= FROM:
            title = capitalised(full_title(frame, str(world), int(nodes), ranks))
            curves = {name: sorted(members, key=_in_order) for name, members in of_lock.items() if len(members) >= FROM}
            result.append(_Place(title, time, variation, frozenset(bursts), default, curves))
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
    fastest = place.fastest(series for series in place.time if place.is_fair(series))
    if fastest is None:
        return f"{place.title}: no lock was fair."
    text = f"{place.title}: the fastest fair lock was {fastest}, {short_number(place.time[fastest].median)} ns per acquisition."
    if place.default is not None and fastest != place.default:
        if place.is_fair(place.default):
            ratio = place.time[place.default].median / place.time[fastest].median
            text += f" The default, {place.default}, took {ratio:.2f} times as long."
        else:
            text += f" The default, {place.default}, was not fair in this run, so their times do not compare."
    first = place.fastest(place.time)
    if first is not None and first != fastest:
        text += f" {first} was faster, {short_number(place.time[first].median)} ns, but not fair: {_why_unfair(place, first)}."
    return text


def _why_unfair(place: _Place, series: str) -> str:
    if series in place.bursts:
        return "one rank took it in bursts"
    return f"its unfairness reached {short_number(place.variation[series].high)} %"


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
            shown = label[series] + (" (bursts)" if series in place.bursts else "")
            axes.annotate(shown, (time.median, variation.median), xytext=(6, 5), textcoords="offset points", color=TEXT)
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
        axes.set_ylabel("Unfairness (CV of progress) in %")
    summaries = [summary for place in places for summary in place.time.values()]
    # Not those of other worlds.
    predicted = [place.time for place in places if any(one.factors for one in place.time.values())]
    caption = [
        f"Speed beside fairness. Medians; whiskers: {interval_note(summaries)}. A grey lock is beaten: another one is faster and no less fair.",
        *prediction_note([pair for time in predicted for pair in time.items()], False),
        *(["Lines join a lock's settings."] if any(place.curves for place in places) else []),
    ]
    return picture(figure, "which-lock", caption, "Time per acquisition against variation of progress, one marker for each lock")


def _table(place: _Place) -> Table:
    table = Table(
        f"{place.title}: the fastest first. Median [95 % confidence interval].",
        ["Lock", "Fair", "Beaten by", "ns per acquisition", "CV of progress in %"],
        3,
        notes=["CV of progress: the unfairness.", "Beaten by: the fastest lock that is both faster and no less fair. All fair locks are equally fair."],
    )
    for series in sorted(place.time, key=lambda each: place.time[each].median):
        fair = "yes" if place.is_fair(series) else "bursts" if series in place.bursts else "no"
        numbers = [with_interval(place.time[series]), with_interval(place.variation[series])]
        table.rows.append([series, fair, place.better(series) or MISSING, *numbers])
    return table
