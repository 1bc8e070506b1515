"""Samples as comma-separated values: a line for each, a column for each field that any of them has."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from .fields import Record

if TYPE_CHECKING:
    from .results import ResultsFile

FILE = "file"  # the column that says which file a sample is of


def rows(files: Sequence[ResultsFile]) -> list[Record]:
    """The samples of all files, a flat record each; fields inside of fields are called as axes.duration."""
    return [{FILE: file.path, **dict(_flat("", sample.record))} for file in files for sample in file.samples]


def csv_text(files: Sequence[ResultsFile]) -> str:
    """The table of all samples of all files."""
    lines = [{name: _cell(value) for name, value in row.items()} for row in rows(files)]
    columns = dict.fromkeys(name for line in lines for name in line)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(columns), restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return text.getvalue()


def _flat(prefix: str, record: Record) -> Iterator[tuple[str, Any]]:
    for name, value in record.items():
        if isinstance(value, dict):
            yield from _flat(f"{prefix}{name}.", value)
        else:
            yield prefix + name, value


def _cell(value: Any) -> str:
    """Nothing for null; as JSON writes it, but for texts, and lists, whose items are divided by blanks."""
    if value is None:
        return ""
    if isinstance(value, list):
        return " ".join(map(_cell, value))
    return value if isinstance(value, str) else json.dumps(value)
