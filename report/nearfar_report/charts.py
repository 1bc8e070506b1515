"""The two kinds of charts: bars with one row per series, and lines over ranks, lengths or other settings."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

from .column import Column
from .statistics import Summary
from .styles import FAINT, NOTE, TEXT, Look
from .tables import power_of_ten, short_number, tick_number

WIDTH = 10.0
# Ratio of largest to smallest value beyond which an axis becomes logarithmic; bars want their zero longer than lines.
BARS_LINEAR_UP_TO = 40.0
LINES_LINEAR_UP_TO = 8.0
BANDS_UP_TO = 8  # series; more bands than that hide each other, and whiskers take their place

_PREDICTION_WIDTH = 5.0
PREDICTIONS_UP_TO = 3  # curves with predictions for the real machine; of more, the caption alone speaks

_LEGEND_COLUMNS = 3

Cell = tuple[str, str, str]  # series, column, part


@dataclass(frozen=True)
class BarPanel:
    """One row of axes: a title, the series from top to bottom, and what was measured for them.

    `points` are published values, drawn as crosses.
    """

    title: str
    series: Sequence[str]
    cells: Mapping[Cell, Summary]
    points: Mapping[Cell, float] = field(default_factory=dict)


def _wide_range(summaries: Iterable[Summary], linear_up_to: float) -> bool:
    """Whether the values span so much that small ones would vanish on a linear axis."""
    values = [summary.median for summary in summaries if summary.median > 0]
    return bool(values) and max(values) / min(values) > linear_up_to


def _plain_ticks(axis: Axis) -> None:
    axis.set_major_formatter(FuncFormatter(lambda value, _: tick_number(value)))


def _log_limits(summaries: Sequence[Summary], head_room: float) -> tuple[float, float]:
    """Limits around all intervals, except that an interval which nearly reaches zero may run off the axis."""
    lows = [value for one in summaries for value in (one.reach[0], one.median) if value > 0]
    medians = [one.median for one in summaries if one.median > 0]
    return max(min(lows) / 1.5, min(medians) / 6), max(one.reach[1] for one in summaries) * head_room


# ---------------------------------------------------------------------------------------------------------- bars


def bar_chart(
    panels: Sequence[BarPanel],
    columns: Sequence[Column],
    looks: Mapping[str, Look],
    parts: Mapping[str, str] | None = None,
) -> Figure:
    """One row of axes per panel, one column per quantity; every series is one group of horizontal bars.

    `parts` names the bars inside a group (key to legend text); without it a group is a single bar. A column has the
    same axis in all panels. Columns that span more than BARS_LINEAR_UP_TO become dots on a logarithmic axis, as the
    length of a bar would mean nothing there.
    """
    part_keys = list(parts or {"": ""})
    group = 0.26 if len(part_keys) == 1 else 0.17 * len(part_keys) + 0.08
    heights = [len(panel.series) * group for panel in panels]
    legend_height = 0.3 if parts else 0.0
    height = sum(heights) + 0.62 * len(panels) + 0.55 + legend_height
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.06, h_pad=0.05, rect=(0, 0, 1, 1 - legend_height / height))
    grid = figure.subplots(
        len(panels), len(columns), squeeze=False, sharex="col", gridspec_kw={"height_ratios": heights}
    )
    for index, column in enumerate(columns):
        everything = [s for panel in panels for (_, key, _), s in panel.cells.items() if key == column.key]
        everything += [_just(p) for panel in panels for (_, key, _), p in panel.points.items() if key == column.key]
        logarithmic = _wide_range(everything, BARS_LINEAR_UP_TO)
        for row, panel in enumerate(panels):
            axes = grid[row][index]
            _bar_axes(axes, panel, column.key, looks, part_keys, logarithmic)
            if index == 0:
                axes.set_yticks(range(len(panel.series)), panel.series)
            else:
                axes.set_yticks(range(len(panel.series)), [""] * len(panel.series))
        _value_axis(grid[0][index], everything, logarithmic)
        for row, panel in enumerate(panels):
            axes = grid[row][index]
            axes.tick_params(labelbottom=True)
            if index == 0:
                axes.set_title(panel.title + ("\n" if row == 0 else ""))
            if row == 0:
                axes.annotate(
                    column.title, (0, 1), xytext=(0, 6), xycoords="axes fraction", textcoords="offset points",
                    fontsize=9.5, color=TEXT,
                )  # fmt: skip
        grid[-1][index].set_xlabel(column.label + (" (log)" if logarithmic else ""))
    if parts:
        shades = [Patch(facecolor=_shade(None, i, len(part_keys)), label=parts[k]) for i, k in enumerate(part_keys)]
        figure.legend(handles=shades, loc="upper right", ncols=len(shades))
    return figure


def _shade(look: Look | None, index: int, count: int) -> str:
    """The colour of one bar in a group: full for the first, lighter for the others (grey in the legend)."""
    base = look or Look("#555555", "o", "-", False)
    return base.lightened(0.0 if count == 1 else 0.62 * index / (count - 1))


def _bar_axes(
    axes: Axes, panel: BarPanel, key: str, looks: Mapping[str, Look], parts: Sequence[str], logarithmic: bool
) -> None:
    thickness = (0.72 if len(parts) == 1 else 0.86) / len(parts)
    for row, series in enumerate(panel.series):
        look = looks[series]
        for index, part in enumerate(parts):
            y = row + (index - (len(parts) - 1) / 2) * thickness
            summary = panel.cells.get((series, key, part))
            if summary is None:
                axes.annotate(
                    "not measured", (0, y), xytext=(4, 0), xycoords=axes.get_yaxis_transform(),
                    textcoords="offset points", va="center", fontsize=7, color=FAINT,
                )  # fmt: skip
                continue
            colour = _shade(look, index, len(parts))
            _bar(axes, y, thickness, summary, look, colour, logarithmic)
            if (series, key, part) in panel.points:
                _cross(axes, panel.points[series, key, part], y)
    axes.set_ylim(len(panel.series) - 0.45, -0.55)
    axes.grid(False, axis="y")
    axes.tick_params(axis="y", length=0)


def _just(value: float) -> Summary:
    return Summary(value, value, value, 1, False)


def _cross(axes: Axes, x: float, y: float, colour: str = TEXT) -> None:
    axes.plot(x, y, marker="x", color=colour, markersize=6, markeredgewidth=1.4, linestyle="none", zorder=5)


def _bar(axes: Axes, y: float, thickness: float, summary: Summary, look: Look, colour: str, logarithmic: bool) -> None:
    """One median with whisker and number: a bar from zero, or a dot where the axis is logarithmic."""
    if not logarithmic:
        axes.barh(y, summary.median, height=thickness * 0.94, color=colour, edgecolor="white", linewidth=0.4)
    elif summary.median > 0:
        axes.axhline(y, color="#E6E6E6", linewidth=0.8, zorder=0.5)
        axes.plot(
            summary.median, y, marker=look.marker, markersize=5.5, markeredgecolor=look.colour,
            markerfacecolor="white" if look.hollow else colour, linestyle="none", zorder=3,
        )  # fmt: skip
    if summary.predicted:
        axes.hlines(y, *summary.predicted, color=TEXT, linewidth=_PREDICTION_WIDTH, alpha=0.18, zorder=2)
    if summary.n > 1 and summary.high > summary.low:
        axes.errorbar(
            summary.median, y, xerr=[[summary.median - summary.low], [summary.high - summary.median]],
            fmt="none", ecolor=TEXT, elinewidth=0.9, capsize=min(2.5, 14 * thickness), capthick=0.9, zorder=4,
        )  # fmt: skip
    if logarithmic and summary.median <= 0:
        position, transform = (0.0, y), axes.get_yaxis_transform()
    else:
        position, transform = (summary.high, y), axes.transData
    axes.annotate(
        short_number(summary.median), position, xytext=(5, 0), xycoords=transform,
        textcoords="offset points", va="center", fontsize=7.5 if thickness > 0.4 else 6.5, color=TEXT,
    )  # fmt: skip


def _value_axis(axes: Axes, summaries: Sequence[Summary], logarithmic: bool) -> None:
    """Limits and ticks of a column, with room on the right for the numbers."""
    if logarithmic:
        axes.set_xscale("log")
        low, high = _log_limits(summaries, 1.0)
        axes.set_xlim(low, high * (high / low) ** 0.28)
        axes.xaxis.set_major_locator(LogLocator(numticks=6))
        axes.xaxis.set_minor_locator(NullLocator())
    else:
        highest = max((summary.reach[1] for summary in summaries), default=0.0)
        axes.set_xlim(0, highest * 1.28 or 1.0)
        axes.xaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 5, 10]))
    _plain_ticks(axes.xaxis)


# --------------------------------------------------------------------------------------------------------- lines


@dataclass(frozen=True)
class Scale:
    """The horizontal axis of a line chart: what it counts, and the values that were measured, ascending.

    `names` makes it an axis of categories, each with its text; `decades` one with powers of ten; `marks` are dotted
    lines with a text.
    """

    label: str
    values: Sequence[float]
    names: Sequence[str] = ()
    decades: bool = False
    marks: Sequence[tuple[float, str]] = ()

    @property
    def is_logarithmic(self) -> bool:
        """Whether the values span much; categories never do."""
        return not self.names and self.values[0] > 0 and self.values[-1] / self.values[0] >= 4


@dataclass(frozen=True)
class LinePanel:
    """Measurements along a scale: (series, quantity) to summaries by the scale's values.

    `points` are published values, drawn as crosses.
    """

    title: str
    series: Sequence[str]
    curves: Mapping[tuple[str, str], Mapping[float, Summary]]
    scale: Scale
    notes: Sequence[str] = ()
    points: Mapping[tuple[str, str], Mapping[float, float]] = field(default_factory=dict)

    @property
    def has_bands(self) -> bool:
        """Whether intervals are bands along the curves; else they are whiskers."""
        return len(self.series) <= BANDS_UP_TO and not self.scale.names

    @property
    def has_predictions(self) -> bool:
        """Whether few enough curves leave room for predictions."""
        return len(self.series) <= PREDICTIONS_UP_TO

    def drawn(self, summaries: Sequence[Summary]) -> list[Summary]:
        """The summaries with the predictions that the axes have room for: all or none."""
        return list(summaries) if self.has_predictions else [replace(one, predicted=None) for one in summaries]


def line_chart(
    panel: LinePanel,
    columns: Sequence[Column],
    limits: Mapping[str, Sequence[Summary]],
    looks: Mapping[str, Look],
) -> Figure:
    """Up to three quantities along one scale in quadrants, the legend in the last.

    `limits` holds for each quantity the summaries of all panels, so that figures of one report share their axes.
    """
    figure = Figure(figsize=(WIDTH, 6.6), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.08, h_pad=0.08)
    figure.suptitle(panel.title, x=0.008, horizontalalignment="left", fontsize=10.5, fontweight="bold")
    quadrants = list(figure.subplots(2, 2).flat)
    for axes, column in zip(quadrants, columns):
        for series in panel.series:
            _curve(axes, panel.curves.get((series, column.key), {}), looks[series], panel.has_bands, panel.has_predictions)
            for place, value in panel.points.get((series, column.key), {}).items():
                _cross(axes, place, value, looks[series].colour)
        _horizontal_axis(axes, panel.scale)
        points = [_just(p) for (_, key), of in panel.points.items() if key == column.key for p in of.values()]
        _quantity_axis(axes, panel.drawn([*limits[column.key], *points]), column)
    for unused in quadrants[len(columns) :]:
        unused.set_axis_off()
    handles = [_legend_entry(series, looks[series]) for series in panel.series]
    columns_of_legend = 1 if len(handles) <= 14 and max(map(len, panel.series)) > 22 or len(handles) <= 8 else 2
    size = 9 if len(handles) <= 28 else 7
    legend = quadrants[len(columns)]
    legend.legend(handles=handles, loc="upper left", ncols=columns_of_legend, fontsize=size, handlelength=3.4)
    return figure


def curve_chart(panel: LinePanel, column: Column, looks: Mapping[str, Look]) -> Figure:
    """One quantity along a scale, with the panel's notes under the title and the legend below."""
    notes = [line for note in panel.notes for line in textwrap.wrap(note, 125)]
    rows_of_legend = -(-len(panel.series) // _LEGEND_COLUMNS)
    height = 4.4 + 0.21 * (len(notes) + rows_of_legend)
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    below, above = (0.3 + 0.21 * rows_of_legend) / height, (0.42 + 0.2 * len(notes)) / height
    figure.get_layout_engine().set(w_pad=0.08, h_pad=0.06, rect=(0, below, 1, 1 - below - above))
    figure.text(0.008, 1 - 0.1 / height, panel.title, va="top", fontsize=10.5, fontweight="bold")
    figure.text(0.008, 1 - 0.38 / height, "\n".join(notes), va="top", fontsize=8.5, color=NOTE, linespacing=1.35)
    axes = figure.subplots()
    for series in panel.series:
        _curve(axes, panel.curves.get((series, column.key), {}), looks[series], panel.has_bands, panel.has_predictions)
    _horizontal_axis(axes, panel.scale)
    _quantity_axis(axes, panel.drawn([s for curve in panel.curves.values() for s in curve.values()]), column)
    handles = [_legend_entry(series, looks[series]) for series in panel.series]
    figure.legend(
        handles=handles, loc="lower left", bbox_to_anchor=(0.04, 0.0), ncols=min(_LEGEND_COLUMNS, len(handles)),
        fontsize=8.5, handlelength=3.4,
    )  # fmt: skip
    return figure


def _curve(axes: Axes, curve: Mapping[float, Summary], look: Look, band: bool, predicts: bool) -> None:
    """One series with its intervals, as a band or as whiskers, and with a pale, wide line for each prediction."""
    if not curve:
        return
    for place, one in curve.items() if predicts else ():
        if one.predicted:
            axes.vlines(place, *one.predicted, color=look.colour, linewidth=_PREDICTION_WIDTH, alpha=0.25)
    places = sorted(curve)
    lows, highs = [curve[p].low for p in places], [curve[p].high for p in places]
    if band:
        axes.fill_between(places, lows, highs, color=look.colour, alpha=0.16, linewidth=0)
    if not band or len(places) == 1:
        axes.vlines(places, lows, highs, color=look.colour, linewidth=1, alpha=0.6)
    axes.plot(
        places, [curve[p].median for p in places], color=look.colour, linestyle=look.dashes, linewidth=1.5,
        marker=look.marker, markersize=4.8, markerfacecolor="white" if look.hollow else look.colour,
    )  # fmt: skip


def _legend_entry(series: str, look: Look) -> Line2D:
    return Line2D(
        [], [], color=look.colour, linestyle=look.dashes, linewidth=1.5, marker=look.marker, markersize=4.8,
        markerfacecolor="white" if look.hollow else look.colour, label=series,
    )  # fmt: skip


def _horizontal_axis(axes: Axes, scale: Scale) -> None:
    """Ticks at what was measured, or at powers of ten, and a dotted line at each mark."""
    logarithmic = scale.is_logarithmic
    axes.xaxis.set_minor_locator(NullLocator())
    if scale.names:
        axes.set_xticks(scale.values, scale.names)
        if sum(map(len, scale.names)) > 70:
            axes.tick_params(axis="x", rotation=60)
    elif logarithmic and scale.decades:
        axes.set_xscale("log", base=10)
        low, high = math.floor(math.log10(scale.values[0])), math.ceil(math.log10(scale.values[-1]))
        axes.set_xticks([10.0**e for e in range(low, high + 1)], [power_of_ten(e) for e in range(low, high + 1)])
        axes.xaxis.set_minor_locator(NullLocator())
    else:
        if logarithmic:
            axes.set_xscale("log", base=2)
            axes.xaxis.set_minor_locator(NullLocator())
        ticks = _thinned(scale.values, logarithmic)
        axes.set_xticks(ticks, [tick_number(tick) for tick in ticks])
    axes.set_xlabel(scale.label + (" (log)" if logarithmic else ""))
    for position, text in scale.marks:
        axes.axvline(position, color=FAINT, linestyle=":", linewidth=1)
        axes.annotate(
            text, (position, 1), xytext=(2, 1), xycoords=axes.get_xaxis_transform(),
            textcoords="offset points", fontsize=7.5, color=FAINT, va="bottom", ha="center",
        )  # fmt: skip


def _thinned(values: Sequence[float], logarithmic: bool) -> list[float]:
    """The values that get a tick label: all, or those far enough from the one before."""
    first, last = values[0], values[-1]
    kept = [first]
    for value in values[1:]:
        near = value / kept[-1] < (last / first) ** 0.06 if logarithmic else value - kept[-1] < (last - first) * 0.06
        if not near:
            kept.append(value)
    return kept


def _quantity_axis(axes: Axes, summaries: Sequence[Summary], column: Column) -> None:
    logarithmic = _wide_range(summaries, LINES_LINEAR_UP_TO)
    if logarithmic:
        axes.set_yscale("log", nonpositive="clip")
        axes.set_ylim(*_log_limits(summaries, 1.5))
        axes.yaxis.set_major_locator(LogLocator(numticks=7))
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        axes.set_ylim(0, max((summary.reach[1] for summary in summaries), default=0.0) * 1.08 or 1.0)
    _plain_ticks(axes.yaxis)
    axes.set_ylabel(column.label + (" (log)" if logarithmic else ""))
    axes.set_title(column.title, pad=14, fontsize=9.5, fontweight="normal")
