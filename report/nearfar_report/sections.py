"""The sections of the page: one for each benchmark, and one for each figure of a publication that was measured anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas

from . import case_figures, figures, generic, styles
from .measurements import measurements
from .page import Section
from .published import Published
from .results import ResultsFile
from .statements import UNSTATED, Axis, Quantity, Statement
from .tables import capitalised


def sections(files: Sequence[ResultsFile], published: Published | None = None) -> list[Section]:
    """A section for each benchmark of which there are valid samples, with published points beside it."""
    everything = measurements(files)
    if everything.empty:
        return []
    statements = {name: _statement(files, name) for name in everything["benchmark"].unique()}
    result = figures.sections(files, everything, statements)
    frame = everything[everything["figure"] == ""]
    for benchmark in sorted(frame["benchmark"].unique()):
        part = frame[frame["benchmark"] == benchmark]
        result.append(_section(benchmark, statements[benchmark], part, frame, published or {}))
    return result


def _section(
    benchmark: str, statement: Statement, part: pandas.DataFrame, frame: pandas.DataFrame, published: Published
) -> Section:
    if statement.cases is None:
        pictures = generic.stated_pictures(benchmark, statement, part, frame, published)
        tables = generic.stated_tables(benchmark, statement, part)
    else:
        looks = styles.looks(frame, part)
        pictures = case_figures.pictures(benchmark, statement, statement.cases, part, looks, published)
        tables = case_figures.tables(benchmark, statement, statement.cases, part)
        tables += generic.detail_tables(benchmark, statement, part)
    return Section(_title(benchmark, statement), pictures, tables, _introduction(statement))


def _statement(files: Sequence[ResultsFile], benchmark: str) -> Statement:
    """The joined statements of all files: the texts of the first, and each column and axis of any of them."""
    said = [file.statements[benchmark] for file in files if benchmark in file.statements]
    if not said:
        return UNSTATED
    columns: dict[str, Quantity] = {}
    axes: dict[str, Axis] = {}
    for one in said:
        for column in one.columns:
            columns.setdefault(column.name, column)
        for axis in one.axes:
            axes.setdefault(axis.name, axis)
    return replace(said[0], columns=tuple(columns.values()), axes=tuple(axes.values()))


def _title(benchmark: str, statement: Statement) -> str:
    """The title that was stated, with the name of the benchmark."""
    title = capitalised(statement.title)
    if not title:
        return f"Benchmark {benchmark}"
    return title if benchmark.lower() in title.lower() else f"{title} ({benchmark})"


def _introduction(statement: Statement) -> str:
    """The sentences that hold for all figures of the section."""
    cases = [f"The columns of the figures are the {statement.cases.column}. Every column has its own scale"] if statement.cases else []
    source = f"Source: {statement.source}" if statement.source else ""
    parts = [statement.summary, *statement.notes, *cases, source]
    return " ".join(text if text.endswith(".") else f"{text}." for text in parts if text)
