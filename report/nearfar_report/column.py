"""One drawn quantity."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    """A column of the data frame, the text of its axis with the unit, and its title."""

    key: str
    label: str
    title: str = ""
