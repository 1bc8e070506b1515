"""The sections of the page that are about loops over containers: one a benchmark, one a figure of a publication."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pandas

from . import styles
from .charts import BarPanel, Column, LinePanel, Scale, bar_chart, curve_chart, line_chart
from .loops import CONTAINERS, PLACE, RATIO, TITLES, in_order, measurements, name_series, quantities, size_text
from .page import Section
from .results import Record, ResultsFile
from .statistics import Summary, summarize
from .styles import Look, Picture, picture
from .tables import Table, counted, interval_note, number, with_interval

CURVE_FROM = 3  # values from which a curve says something
AXIS_LABELS = {
    "length": "elements of each vector", "chunk": "chunk of the static schedule in elements",
    "segments": "segments of each vector", "threads": "threads", "pinning": "CPUs of the threads",
}  # fmt: skip
ONE_BLOCK = "none"  # the schedule without a chunk, beside the chunks

MEANINGS = {
    "triad": "Two floating-point operations an element. Bandwidth counts the three words that are read and the one that"
    " is written; where the store first reads the line (read for ownership), the memory moves a quarter more.",
    "relax": "Every inner point becomes the mean of its four neighbours; two grids take turns. MLup/s are million"
    " points updated in a second.",
}
STREAM_MEANING = "Bytes are counted as STREAM counts them: what the loop names, without reads for ownership."
RATIO_MEANING = (
    "The comparison is with the plain array in the same repetition: 1 means that the container costs nothing, 1.5 that"
    " the loop takes half as long again."
)


def sections(files: Sequence[ResultsFile]) -> list[Section]:
    """First the figures by number, then the benchmarks."""
    frame = measurements(files)
    if frame.empty:
        return []
    figures: dict[str, list[Record]] = {}
    for file in files:
        about = file.provenance.get("figure")
        if about is not None:
            figures.setdefault(about["number"], []).append(about)
    result = []
    for key in sorted(figures, key=lambda text: [int(part) for part in text.split(".")]):
        part = frame[frame["figure"] == key]
        if not part.empty:
            result.append(_figure(part, figures[key]))
    rest = frame[~frame["figure"].isin(list(figures))]
    for benchmark in in_order([*TITLES, *sorted(rest["benchmark"].unique())]):
        part = rest[rest["benchmark"] == benchmark]
        if not part.empty:
            result.append(_benchmark(part))
    return result


# ------------------------------------------------------------------------------------------------------ benchmarks


def _benchmark(frame: pandas.DataFrame) -> Section:
    """Curves along whatever took several values, else bars."""
    benchmark = str(frame["benchmark"].iloc[0])
    title = TITLES.get(benchmark, f"Benchmark {benchmark}")
    axis = _axis(frame)
    frame = frame.assign(series=name_series(frame, axis))
    looks = _looks(frame)
    columns = quantities(benchmark)
    panels = [(_panel_title(part), part) for part in _panels(frame, axis)]
    if axis:
        pictures = _curves(panels, axis, columns, looks, title)
    else:
        pictures = [_bars(panels, columns, looks, title)]
    return Section(title, pictures, [_table(frame, title)], MEANINGS.get(benchmark, STREAM_MEANING))


def _axis(frame: pandas.DataFrame) -> str:
    """What curves can be drawn over, or nothing."""
    for name in ("length", "chunk", "segments", "threads"):
        if frame[name].nunique() >= CURVE_FROM:
            return name
    return ""


def _panels(frame: pandas.DataFrame, axis: str) -> list[pandas.DataFrame]:
    """The rows that belong into one set of axes."""
    places = [name for name in PLACE if name not in ("file", "figure", "benchmark", axis)]
    if axis:
        frame = frame[frame[axis].notna()]
    return [part for _, part in frame.groupby(places, dropna=False)]


def _panel_title(part: pandas.DataFrame) -> str:
    first = part.iloc[0]
    words = [counted(int(first["threads"]), "thread")] if part["threads"].nunique() == 1 else []
    if first["benchmark"] == "relax":
        words.append(f"grid of {size_text(first)}")
        words.append(f"{first['decomposition']} decomposition")
    elif part["length"].nunique() == 1:
        words.append(f"{size_text(first)} elements")
    return ", ".join(words)


def _looks(frame: pandas.DataFrame) -> dict[str, Look]:
    """A colour for each container; where there is only one, for each of its series."""
    names = in_order([*CONTAINERS, *sorted(frame["container"].unique())])
    if frame["container"].nunique() == 1:
        return styles.assign([series] for series in frame["series"].unique())
    return styles.assign(frame.loc[frame["container"] == name, "series"].unique() for name in names)


def _curves(
    panels: Sequence[tuple[str, pandas.DataFrame]],
    axis: str,
    columns: Sequence[Column],
    looks: Mapping[str, Look],
    title: str,
) -> list[Picture]:
    drawn = [_line_panel(name, part, axis, columns) for name, part in panels]
    limits = {
        column.key: [
            summary for panel in drawn for (_, key), curve in panel.curves.items() if key == column.key
            for summary in curve.values()
        ]
        for column in columns
    }  # fmt: skip
    result = []
    for (name, part), panel in zip(panels, drawn):
        shown = [column for column in columns if limits[column.key]]
        caption = [
            f"{title}: {name}. Markers are medians, bands or whiskers {_interval_note(panel)}.",
            RATIO_MEANING if RATIO in shown else "",
        ]
        slug = f"{part['benchmark'].iloc[0]}-{_slug(name)}"
        result.append(picture(line_chart(panel, shown, limits, looks), slug, caption, _alternative(panel, axis, title)))
    return result


def _bars(
    panels: Sequence[tuple[str, pandas.DataFrame]], columns: Sequence[Column], looks: Mapping[str, Look], title: str
) -> Picture:
    bars = []
    for name, part in panels:
        cells = {}
        for series, group in part.groupby("series", sort=False):
            for column in columns:
                summary = summarize(group[column.key])
                if summary:
                    cells[(str(series), column.key, "")] = summary
        bars.append(BarPanel(name, list(part["series"].unique()), cells))
    summaries = [summary for panel in bars for summary in panel.cells.values()]
    shown = [column for column in columns if any(key == column.key for bar in bars for _, key, _ in bar.cells)]
    caption = [
        f"{title}. Bars (dots on logarithmic axes) are medians, whiskers {interval_note(summaries)}.",
        RATIO_MEANING if RATIO in shown else "",
    ]
    names = "; ".join(name for name, _ in panels)
    benchmark = str(panels[0][1]["benchmark"].iloc[0])
    return picture(bar_chart(bars, shown, looks), f"{benchmark}-bars", caption, f"{title}, bar chart: {names}")


def _line_panel(
    title: str, frame: pandas.DataFrame, axis: str, columns: Sequence[Column], notes: Sequence[str] = ()
) -> LinePanel:
    scale, positions = _scale(frame, axis)
    curves: dict[tuple[str, str], dict[float, Summary]] = {}
    for (series, value), group in frame.groupby(["series", axis], sort=False):
        for column in columns:
            summary = summarize(group[column.key])
            if summary:
                curves.setdefault((str(series), column.key), {})[positions[value]] = summary
    return LinePanel(title, list(frame["series"].unique()), curves, scale, notes)


def _scale(frame: pandas.DataFrame, axis: str) -> tuple[Scale, dict[Any, float]]:
    """The axis, and where on it each value lies."""
    values = sorted(frame[axis].unique(), key=_cpu_numbers if axis == "pinning" else None)
    if axis == "chunk":
        values.sort(key=lambda chunk: chunk or float("inf"))  # 0 is one block a thread, the largest of all
    if axis in ("pinning", "chunk"):
        names = [ONE_BLOCK if value == 0 else f"{value:g}" if axis == "chunk" else str(value) for value in values]
        places = {value: float(index) for index, value in enumerate(values)}
        return Scale(AXIS_LABELS[axis], list(places.values()), names), places
    return Scale(AXIS_LABELS[axis], values, decades=axis == "length"), {value: value for value in values}


def _cpu_numbers(pinning: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", pinning)]


def _interval_note(panel: LinePanel) -> str:
    return interval_note([summary for curve in panel.curves.values() for summary in curve.values()])


def _alternative(panel: LinePanel, axis: str, title: str) -> str:
    """What a curve chart shows, for readers who cannot see it."""
    return f"{title}, curves over {AXIS_LABELS[axis]}: {panel.title}; {', '.join(panel.series)}"


def _slug(text: str) -> str:
    """'2 threads, 10 000 elements' as part of a file name."""
    plain = "".join(c if c.isascii() and c.isalnum() else "x" if c == "×" else " " for c in text.replace("\u202f", ""))
    return "-".join(plain.split())


def _table(frame: pandas.DataFrame, title: str, notes: Sequence[str] = ()) -> Table:
    """Every configuration with all that was measured of it."""
    benchmark = str(frame["benchmark"].iloc[0])
    columns = [column for column in quantities(benchmark) if frame[column.key].notna().any()]
    main = columns[0]
    settings = {
        "decomposition": "Decomposition", "chunk": "Chunk", "segments": "Segments", "pinning": "Pinned to",
    }  # fmt: skip
    extra = [name for name in settings if frame[name].nunique() > 1]
    with_rfo = bool(frame["gbytes_per_s_with_rfo"].notna().any()) and benchmark != "relax"
    heads = ["Container", "Initialisation", "Threads", "Grid" if benchmark == "relax" else "Length"]
    heads += [*(settings[name] for name in extra), "n", *(column.label for column in columns)]
    heads += [*(["GB/s with reads for ownership"] if with_rfo else []), f"Best {main.label}"]
    caption = f"{title}. Median [95 % confidence interval] of n repetitions. {' '.join(notes)}".rstrip()
    table = Table(caption, heads, 2)
    keys = ["threads", "length", "rows", "columns", "decomposition", "chunk", "segments", "pinning", "series"]
    for _, group in frame.groupby([*keys, "initialisation"], dropna=False, sort=False):
        row = group.iloc[0]
        cells = [row["series"], row["initialisation"], str(row["threads"]), size_text(row)]
        cells += [_setting(row[name]) for name in extra]
        cells += [str(len(group)), *(with_interval(summarize(group[column.key])) for column in columns)]
        if with_rfo:
            cells.append(with_interval(summarize(group["gbytes_per_s_with_rfo"])))
        table.rows.append([*cells, number(group[main.key].max())])
    return table


def _setting(value: Any) -> str:
    if pandas.isna(value):
        return "–"
    return value if isinstance(value, str) else f"{value:g}"


# --------------------------------------------------------------------------------------------------------- figures


def _figure(frame: pandas.DataFrame, abouts: Sequence[Record]) -> Section:
    """One figure of a publication, measured anew: a picture and a table."""
    about = abouts[0]
    axis = about["axis"]
    notes = in_order(note for one in abouts for note in one["notes"])
    title = f"Figure {about['number']}: {about['title']}"
    frame = frame[frame[axis].notna()]
    frame = frame.assign(series=name_series(frame, axis))
    column = quantities(str(frame["benchmark"].iloc[0]))[0]
    panel = _line_panel(title, frame, axis, [column], notes)
    caption = [f"{title}. Markers are medians, bands or whiskers {_interval_note(panel)}."]
    figure = curve_chart(panel, column, _looks(frame))
    name = f"figure-{about['number']}"
    drawn = picture(figure, name, caption, f"{_alternative(panel, axis, title)}. {' '.join(notes)}".rstrip())
    return Section(title, [drawn], [_table(frame, title, notes)], "", notes)
