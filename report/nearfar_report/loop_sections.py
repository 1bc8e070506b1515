"""The sections of the page that are about loops over containers: one a benchmark, one a figure of a publication."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas

from . import styles
from .benchmarks import LOOPS, RATIO, Column, Loop, loop_of
from .charts import LinePanel, Scale
from .loops import CONTAINERS, PLACE, in_order, measurements, name_series, size_text
from .page import Section
from .panels import Panel, bars, lines
from .pictures import bar_picture, curve_picture, limits_of, line_picture
from .results import Record, ResultsFile
from .statistics import summarize
from .styles import Look
from .tables import MISSING, Table, counted, number, with_interval

CURVE_FROM = 3  # values from which a curve says something
AXIS_LABELS = {
    "length": "elements of each vector", "chunk": "chunk of the static schedule in elements",
    "segments": "segments of each vector", "threads": "threads", "pinning": "CPUs of the threads",
}  # fmt: skip
ONE_BLOCK = "none"  # the schedule without a chunk, beside the chunks

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
    for benchmark in in_order([*LOOPS, *sorted(rest["benchmark"].unique())]):
        part = rest[rest["benchmark"] == benchmark]
        if not part.empty:
            result.append(_benchmark(part))
    return result


# ------------------------------------------------------------------------------------------------------ benchmarks


def _benchmark(frame: pandas.DataFrame) -> Section:
    """Curves along whatever took several values, else bars."""
    benchmark = str(frame["benchmark"].iloc[0])
    loop = loop_of(benchmark)
    axis = _axis(frame)
    frame = frame.assign(series=name_series(frame, axis))
    looks = _looks(frame)
    panels = _panels(frame, axis)
    shown = [column for column in loop.columns if any(panel.frame[column.key].notna().any() for panel in panels)]
    remarks = [RATIO_MEANING] if RATIO in shown else []
    if axis:
        drawn = [_lines(panel, loop.columns) for panel in panels]
        limits = limits_of(drawn, shown)
        pictures = [
            line_picture(
                panel, shown, limits, looks, f"{benchmark}-{_slug(panel.title)}", f"{loop.title}: {panel.title}",
                _alternative(panel, loop.title), remarks,
            )
            for panel in drawn
        ]  # fmt: skip
    else:
        titles = "; ".join(panel.title for panel in panels)
        of_bars = [bars(panel, loop.columns) for panel in panels]
        alternative = f"{loop.title}, bar chart: {titles}"
        pictures = [bar_picture(of_bars, shown, looks, f"{benchmark}-bars", loop.title, alternative, remarks)]
    return Section(loop.title, pictures, [_table(frame, loop, loop.title)], loop.meaning)


def _axis(frame: pandas.DataFrame) -> str:
    """The axis of the curves, or an empty text."""
    for name in ("length", "chunk", "segments", "threads"):
        if frame[name].nunique() >= CURVE_FROM:
            return name
    return ""


def _panels(frame: pandas.DataFrame, axis: str) -> list[Panel]:
    """One panel for each set of axes."""
    places = [name for name in PLACE if name not in ("file", "figure", "benchmark", axis)]
    if axis:
        frame = frame[frame[axis].notna()]
    parts = [part for _, part in frame.groupby(places, dropna=False)]
    return [Panel(_panel_title(part), "", part, axis, AXIS_LABELS.get(axis, "")) for part in parts]


def _panel_title(part: pandas.DataFrame) -> str:
    first = part.iloc[0]
    loop = loop_of(first["benchmark"])
    words = [counted(int(first["threads"]), "thread")] if part["threads"].nunique() == 1 else []
    if all(part[name].nunique() == 1 for name in loop.size_fields):
        words.append(loop.place.format(**{**first, "size": size_text(first)}))
    return ", ".join(words)


def _looks(frame: pandas.DataFrame) -> dict[str, Look]:
    """A colour for each container; where there is only one, for each of its series."""
    names = in_order([*CONTAINERS, *sorted(frame["container"].unique())])
    if frame["container"].nunique() == 1:
        return styles.assign([series] for series in frame["series"].unique())
    return styles.assign(frame.loc[frame["container"] == name, "series"].unique() for name in names)


def _lines(panel: Panel, columns: Sequence[Column]) -> LinePanel:
    """One curve per series and quantity, over categories where the axis holds some."""
    scale, positions = _scale(panel.frame, panel.axis)
    frame = panel.frame.assign(position=panel.frame[panel.axis].map(positions))
    return lines(replace(panel, frame=frame, axis="position"), columns, scale)


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


def _alternative(panel: LinePanel, title: str) -> str:
    """The description of a curve chart for readers who cannot see it."""
    return f"{title}, curves over {panel.scale.label}: {panel.title}; {', '.join(panel.series)}"


def _slug(text: str) -> str:
    """'2 threads, 10 000 elements' as part of a file name."""
    plain = "".join(c if c.isascii() and c.isalnum() else "x" if c == "×" else " " for c in text.replace("\u202f", ""))
    return "-".join(plain.split())


def _table(frame: pandas.DataFrame, loop: Loop, title: str, notes: Sequence[str] = ()) -> Table:
    """Every configuration with all that was measured of it."""
    columns = [column for column in (*loop.columns, *loop.listed) if frame[column.key].notna().any()]
    main = columns[0]
    settings = {
        "decomposition": "Decomposition", "chunk": "Chunk", "segments": "Segments", "pinning": "Pinned to",
    }  # fmt: skip
    extra = [name for name in settings if frame[name].nunique() > 1]
    heads = ["Container", "Initialisation", "Threads", loop.size_head, *(settings[name] for name in extra)]
    heads += ["n", *(column.label for column in columns), f"Best {main.label}"]
    caption = f"{title}. Median [95 % confidence interval] of n repetitions. {' '.join(notes)}".rstrip()
    table = Table(caption, heads, 2)
    keys = ["threads", "length", "rows", "columns", "decomposition", "chunk", "segments", "pinning", "series"]
    for _, group in frame.groupby([*keys, "initialisation"], dropna=False, sort=False):
        row = group.iloc[0]
        cells = [row["series"], row["initialisation"], str(row["threads"]), size_text(row)]
        cells += [_setting(row[name]) for name in extra]
        cells += [str(len(group)), *(with_interval(summarize(group[column.key])) for column in columns)]
        table.rows.append([*cells, number(group[main.key].max())])
    return table


def _setting(value: Any) -> str:
    if pandas.isna(value):
        return MISSING
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
    loop = loop_of(str(frame["benchmark"].iloc[0]))
    column = loop.columns[0]
    panel = replace(_lines(Panel(title, "", frame, axis), [column]), notes=notes)
    alternative = f"{_alternative(panel, title)}. {' '.join(notes)}".rstrip()
    drawn = curve_picture(panel, column, _looks(frame), f"figure-{about['number']}", title, alternative)
    return Section(title, [drawn], [_table(frame, loop, title, notes)], "", notes)
