"""The sections of the page about locks and about other stated objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from . import benchmarks, case_figures, generic, place_figures, styles
from .lock_results import FORMAT
from .measurements import measurements
from .page import Section
from .published import Published
from .results import ResultsFile
from .statements import UNSTATED, Axis, Quantity, Statement
from .tables import capitalised


def sections(files: Sequence[ResultsFile], published: Published | None = None) -> list[Section]:
    """One section for each benchmark of which there are valid samples, with what was published beside it."""
    frame = measurements(files)
    result = []
    for benchmark in [] if frame.empty else sorted(frame["benchmark"].unique()):
        part = frame[frame["benchmark"] == benchmark]
        statement = _statement(files, benchmark)
        title = _title(benchmark, statement)
        known = benchmarks.known(benchmark)
        subject = capitalised(statement.subject)
        if known.has_own_figures:
            looks = styles.looks(frame, part)
            beside = published or {}
            if known.cases:
                pictures = case_figures.pictures(benchmark, known, known.cases, part, looks, beside)
                tables = case_figures.tables(known, known.cases, subject, part)
            else:
                pictures = place_figures.pictures(benchmark, known, part, looks, beside)
                tables = place_figures.tables(known, known.name, subject, part)
            tables += generic.detail_tables(benchmark, statement, part)
            section = Section(title, pictures, tables, statement.summary)
        elif statement.columns:
            pictures = generic.stated_pictures(benchmark, statement, part, frame)
            tables = generic.stated_tables(benchmark, statement, part)
            section = Section(title, pictures, tables, _introduction(statement))
        else:
            note = _introduction(statement) or "This version of the report has no figures for this benchmark."
            section = Section(title, (), place_figures.tables(known, benchmark, subject, part), note)
        result.append(section)
    return result


def _statement(files: Sequence[ResultsFile], benchmark: str) -> Statement:
    """The joined statements of all files: the texts of the first, and each column and axis of any of them."""
    of_schema = [file for file in files if file.schema == FORMAT.schema]
    said = [file.statements[benchmark] for file in of_schema if benchmark in file.statements]
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
    known = benchmarks.known(benchmark)
    if not title:
        return known.title or f"Benchmark {benchmark}"
    if benchmark.lower() in title.lower():
        return title
    return f"{title} ({known.name or benchmark})"


def _introduction(statement: Statement) -> str:
    source = f"Source: {statement.source}" if statement.source else ""
    parts = [text if text.endswith(".") else f"{text}." for text in (statement.summary, source) if text]
    return " ".join(parts)
