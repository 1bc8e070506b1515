"""Plain tables of text cells, and how numbers are written in them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from .statistics import Summary

NARROW_SPACE = "\u202f"
MISSING = "–"


@dataclass(frozen=True)
class Table:
    """A caption, column heads and rows of cells; the first `text_columns` columns are text, the rest numbers.

    Lines of a cell after its first are secondary and shown smaller. `notes` are sentences on what the columns mean.
    """

    caption: str
    heads: Sequence[str]
    text_columns: int
    rows: list[list[str]] = field(default_factory=list)
    notes: Sequence[str] = ()


def markdown(table: Table) -> str:
    """The table as Markdown, caption and notes above it; lines of a cell in a row."""

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", ", ") for cell in cells) + " |\n"

    kinds = ["---" if index < table.text_columns else "---:" for index in range(len(table.heads))]
    return f"{' '.join([table.caption, *table.notes])}\n\n{line(table.heads)}{line(kinds)}{''.join(map(line, table.rows))}"


def number(value: float) -> str:
    """Four significant digits, never in exponent form, thousands set apart by a narrow space."""
    if value == 0:
        return "0"
    decimals = max(0, min(6, 3 - math.floor(math.log10(abs(value)))))
    return f"{value:,.{decimals}f}".replace(",", NARROW_SPACE)


def short_number(value: float) -> str:
    """Three significant digits, for labels inside figures."""
    if value == 0:
        return "0"
    decimals = max(0, min(5, 2 - math.floor(math.log10(abs(value)))))
    return f"{value:,.{decimals}f}".replace(",", NARROW_SPACE)


def tick_number(value: float) -> str:
    """A round number without trailing zeros, for axes."""
    return f"{value:,.10f}".rstrip("0").rstrip(".").replace(",", NARROW_SPACE)


def power_of_ten(exponent: int) -> str:
    """'10³', for axes."""
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def fixed(digits: int | None) -> Callable[[float], str]:
    """A function that writes numbers with this many digits after the decimal point; None: four significant digits."""
    return number if digits is None else lambda value: f"{value:,.{digits}f}".replace(",", NARROW_SPACE)


def with_interval(summary: Summary | None, write: Callable[[float], str] = number) -> str:
    """'median [low, high]' for a confidence interval; a range goes to a second line that says so."""
    if summary is None:
        return MISSING
    median, low, high = write(summary.median), write(summary.low), write(summary.high)
    if summary.is_confidence_interval:
        return f"{median} [{low}, {high}]"
    if summary.n == 1:
        return f"{median}\none value"
    return f"{median}\nrange {low} … {high}"


def enumeration(words: Sequence[str]) -> str:
    """'a, b and c'."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def interval_note(summaries: Sequence[Summary]) -> str:
    """A few words on the whiskers or bands."""
    counts = {True: set[int](), False: set[int]()}
    for summary in summaries:
        counts[summary.is_confidence_interval].add(summary.n)
    parts = []
    if counts[True]:
        parts.append(f"95 % confidence interval (n = {_spread(counts[True])})")
    if counts[False]:
        parts.append(f"range (n = {_spread(counts[False])})")
    return ", ".join(parts)


def _spread(counts: set[int]) -> str:
    low, high = min(counts), max(counts)
    return str(low) if low == high else f"{low} to {high}"


def counted(count: int, noun: str) -> str:
    """'1 rank', '2 ranks'."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def capitalised(text: str) -> str:
    """The text with a capital letter at its start, and otherwise as it is."""
    return text[:1].upper() + text[1:]


def world_name(world: str) -> str:
    """The name of a world in titles."""
    return "MPI" if world == "mpi" else world
