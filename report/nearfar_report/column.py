"""One drawn quantity."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pandas

from .statements import TIME
from .statistics import Summary, summarize


@dataclass(frozen=True)
class Column:
    """A column of the data frame, the text of its axis with the unit, and its title."""

    key: str
    label: str
    title: str = ""


def key_of(name: str) -> str:
    """The column of the data frame that holds a measured quantity."""
    return f"measured {name}"


def summary_of(frame: pandas.DataFrame, key: str) -> Summary | None:
    """The median of a column; that of the time with the prediction for the real machine, if the samples have one."""
    summary = summarize(frame[key])
    if summary is None or key != key_of(TIME) or "predicted_low" not in frame:
        return summary
    low, high = summarize(frame["predicted_low"]), summarize(frame["predicted_high"])
    return summary if low is None or high is None else replace(summary, predicted=(low.median, high.median))
