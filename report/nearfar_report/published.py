"""Published medians beside which a simulation is drawn: a file of JSON Lines that ``nearfar figures`` writes."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pandas

from .fields import ReportError, printable

# By benchmark, lock, ranks and scenario; ns from one acquisition to the next.
Published = Mapping[tuple[str, str, int, str], float]

NOTE = "Crosses are published medians of measurements."
UNSOUND = " (unsound)"


def read(path: str) -> Published:
    """Every point of the file; raises ``ReportError`` if it is none."""
    points = {}
    try:
        with open(path, encoding="utf-8") as file:
            for line in file:
                one = json.loads(line)
                points[one["benchmark"], one["lock"], int(one["ranks"]), one["scenario"]] = float(one["ns"])
    except OSError as error:
        raise ReportError(f"{printable(path)}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError):
        raise ReportError(f"{printable(path)}: holds no published points; remove it and run nearfar figures again") from None
    return points


def points_of(frame: pandas.DataFrame, published: Published) -> dict[tuple[str, int, str], float]:
    """Those of a benchmark's series, by series, ranks and scenario."""
    result = {}
    for (benchmark, series, shown, ranks, case), _ in frame.groupby(["benchmark", "series", "object", "ranks", "case"]):
        point = published.get((benchmark, shown.removesuffix(UNSOUND), ranks, case))
        if point is not None:
            result[series, ranks, case] = point
    return result
