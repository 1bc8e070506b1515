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
    return with_prediction(summary, frame) if key == key_of(TIME) else summary


def with_prediction(time: Summary | None, frame: pandas.DataFrame) -> Summary | None:
    """The summary of a time with the prediction for the real machine, if the samples have one."""
    if time is None or "predicted_low" not in frame:
        return time
    low, high = summarize(frame["predicted_low"]), summarize(frame["predicted_high"])
    return time if low is None or high is None else replace(time, predicted=(low.median, high.median))
