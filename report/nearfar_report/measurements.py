"""All valid samples of the benchmarks of locks as one data frame, with derived quantities and names for the series."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pandas

from .lock_results import FORMAT
from .results import Record, ResultsFile
from .statistics import coefficient_of_variation

# As in bench/results.hpp.
STEADY_DRIFT = 0.1
STEADY_TURNS = 10
# Two series are told apart in their labels only if they meet at the same place.
PLACE = ["benchmark", "world", "nodes", "ranks", "scenario"]


def _share(part: int | None, whole: int) -> float | None:
    return None if part is None else 100.0 * part / whole


def _row(file: str, record: Record) -> dict[str, Any]:
    """One valid sample with its derived quantities; shares and CV in percent, throughput in million per second."""
    is_upb = record["benchmark"] == "upb"
    time = FORMAT.time_ns(record)
    variation = None if is_upb else coefficient_of_variation(record["iterations_per_rank"])
    followed = record.get("followed_other_share")
    return {
        "file": file,
        "benchmark": record["benchmark"],
        "lock": _shown_name(record),
        "parameters": record["parameters"],
        "world": record["world"],
        "machine": record["machine"],
        "nodes": record["nodes"],
        "ranks": record["ranks"],
        "scenario": record["scenario"] if is_upb else "",
        "time_ns": time,
        "million_per_s": 1000.0 / time if time else None,
        "cv_percent": None if variation is None else 100.0 * variation,
        "contention_percent": _share(record["contended"], record["iterations"]),
        "local_percent": _share(record["local_handovers"], record["iterations"]),
        "drift": record.get("drift"),
        "turns": record["iterations"] / record["ranks"],
        "followed_percent": None if followed is None else 100.0 * followed,
    }


def measurements(files: Sequence[ResultsFile]) -> pandas.DataFrame:
    """One row per valid sample, with the columns 'variant' and 'series'.

    Rows are ordered by the lock as the users named them, then by variant and file as they first appear, so
    that bars to compare lie side by side.
    """
    rows = [
        _row(file.label, sample.record)
        for file in files if file.schema == FORMAT.schema
        for sample in file.samples if sample.void_reason is None
    ]  # fmt: skip
    frame = pandas.DataFrame(rows)
    if rows:
        _name_series(frame)
        _mark_unsteady(frame)
        places = pandas.DataFrame({name: pandas.factorize(frame[name])[0] for name in ("variant", "file")})
        order = {name: place for place, name in enumerate(_locks_in_order(files))}
        places["lock"] = frame["lock"].map(order)
        frame = frame.loc[places.sort_values(["lock", "variant", "file"], kind="stable").index].reset_index(drop=True)
    return frame


def _locks_in_order(files: Sequence[ResultsFile]) -> list[str]:
    """As the provenances say; where they do not, by name, which puts each family together."""
    of_locks = [file for file in files if file.schema == FORMAT.schema]
    asked = dict.fromkeys(
        name for file in of_locks for name in file.provenance.get("locks", ()) if isinstance(name, str)
    )
    places = {name: place for place, name in enumerate(asked)}
    measured = {(sample.record["lock"], _shown_name(sample.record)) for file in of_locks for sample in file.samples}
    return [shown for _, _, shown in sorted((places.get(lock, len(places)), lock, shown) for lock, shown in measured)]


def _shown_name(record: Record) -> str:
    """The lock; nobody shall take one that may hang for one that works."""
    return str(record["lock"]) if record.get("sound", True) else f"{record['lock']} (unsound)"


def _name_series(frame: pandas.DataFrame) -> None:
    """Adds the column 'series': the lock, plus parameters and file where these are needed to tell series apart."""
    variants: dict[int, str] = {}
    for _, same_lock in frame.groupby(["benchmark", "lock"], sort=False):
        names = _varying_parameters(same_lock)
        for index, parameters in same_lock["parameters"].items():
            variants[index] = ", ".join(f"{name}={_shown(parameters, name)}" for name in names)
    frame["variant"] = pandas.Series(variants)
    frame["series"] = [
        f"{lock} ({variant})" if variant else lock for lock, variant in zip(frame["lock"], frame["variant"])
    ]
    by_file = []
    for _, same in frame.groupby(["benchmark", "series"], sort=False):
        meets = (same.groupby(PLACE)["file"].nunique() > 1).any()
        differs = same["file"].nunique() > 1 and same["machine"].nunique() > 1
        if meets or differs:
            by_file.extend(same.index)
    frame.loc[by_file, "series"] += " · " + frame.loc[by_file, "file"]


def _mark_unsteady(frame: pandas.DataFrame) -> None:
    """Says in the names of series that they, or some of their points, were measured before the lock had settled."""
    for name, series in frame.groupby("series", sort=False):
        steady = [_is_steady(point) for _, point in series.groupby(PLACE, sort=False)]
        if not all(steady):
            frame.loc[series.index, "series"] = f"{name} ({'partly ' if any(steady) else ''}not steady)"


def _is_steady(repetitions: pandas.DataFrame) -> bool:
    """As ``is_steady`` of bench/results.hpp."""
    known = repetitions[repetitions["drift"].notna()]
    if known.empty:
        return True
    typical = float(known["drift"].median())
    return bool(1 / (1 + STEADY_DRIFT) <= typical <= 1 + STEADY_DRIFT and (known["turns"] >= STEADY_TURNS).all())


def _shown(parameters: Record, name: str) -> str:
    if name not in parameters:
        return "unset"
    value = parameters[name]
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def _varying_parameters(same_lock: pandas.DataFrame) -> list[str]:
    """The parameters of one lock that take several values at one and the same place."""
    varying: dict[str, None] = {}
    for _, group in same_lock.groupby(PLACE, sort=False):
        parameters = list(group["parameters"])
        names = dict.fromkeys(name for one in parameters for name in one)
        for name in names:
            if len({_shown(one, name) for one in parameters}) > 1:
                varying[name] = None
    return list(varying)
