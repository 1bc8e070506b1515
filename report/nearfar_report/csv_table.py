"""Samples as comma-separated values: a line for each, a column for each field that any of them has."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .results import ResultsFile

FILE = "file"  # the column that says which file a sample is of


def csv_text(files: Sequence[ResultsFile]) -> str:
    """The table of all samples of all files; fields inside of fields are called as axes.duration."""
    rows = [{FILE: file.path, **dict(_cells("", sample.record))} for file in files for sample in file.samples]
    columns = dict.fromkeys(name for row in rows for name in row)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(columns), restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _cells(prefix: str, record: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in record.items():
        if isinstance(value, dict):
            yield from _cells(f"{prefix}{name}.", value)
        else:
            yield prefix + name, _cell(value)


def _cell(value: Any) -> str:
    """Nothing for null; as JSON writes it, but for texts, and lists, whose items are divided by blanks."""
    if value is None:
        return ""
    if isinstance(value, list):
        return " ".join(map(_cell, value))
    return value if isinstance(value, str) else json.dumps(value)
