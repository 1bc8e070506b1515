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
    ends = frame[["predicted_low", "predicted_high"]].astype(float)
    # As time_beside_lock of the command.
    optimum = frame["optimum_ns"].astype(float).fillna(0)
    beside = (frame["time_ns"] - frame["overhead_ns"].astype(float)).fillna(optimum)
    of_lock = frame["time_ns"] - beside
    # A prediction of some repetitions is none of their median. Older files have predictions below the work and waits.
    if ends.isna().any(axis=None) or (of_lock <= 0).any() or (ends["predicted_low"] < beside).any():
        return time
    low, high = ends.median()
    factors = ends.sub(beside, axis=0).div(of_lock, axis=0).median()
    return replace(time, predicted=(low, high), factors=tuple(factors), beyond_optimum=bool((optimum > 0).any()))
