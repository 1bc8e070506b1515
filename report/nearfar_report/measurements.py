"""All valid samples of one schema's benchmarks as one data frame, with derived quantities and names for the series."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import pandas

from .benchmarks import known
from .fields import text_of
from .lock_results import FORMAT
from .results import Record, ResultsFile, Sample
from .statements import in_users_order, is_value
from .statistics import coefficient_of_variation

# As in bench/results.hpp; for files that do not say which bounds they were measured with.
STEADY = {"drift": 0.1, "turns": 10}
# Two series are told apart in their labels only if they meet at the same place.
PLACE = ["benchmark", "world", "nodes", "ranks", "case", "point"]


def _share(part: int | None, whole: int) -> float | None:
    return None if part is None else 100.0 * part / whole


def _row(file: ResultsFile, sample: Sample) -> dict[str, Any]:
    """One valid sample with its derived quantities; shares and CV in percent, throughput in million per second."""
    record, statement = sample.record, sample.statement
    time = sample.time_ns
    varies = known(record["benchmark"]).varies
    variation = coefficient_of_variation(record["iterations_per_rank"]) if varies else None
    followed = record.get("followed_other_share")
    case = statement.case_of(record)
    steady = {**STEADY, **file.provenance.get("steady", {})}
    return {
        "file": file.label,
        "benchmark": record["benchmark"],
        "kind": statement.kind,
        "object": _shown_name(sample),
        "parameters": record["parameters"],
        # A figure must not take truth values for numbers of its axis.
        "axes": {
            name: str(value).lower() if isinstance(value, bool) else value
            for name, value in record.get("axes", {}).items()
        },
        "world": record["world"],
        "machine": record["machine"],
        "nodes": record["nodes"],
        "ranks": record["ranks"],
        "case": "" if case is None else text_of(case),
        "measured": record.get("measured", {}),
        "time_ns": time,
        "million_per_s": 1000.0 / time if time else None,
        "cv_percent": None if variation is None else 100.0 * variation,
        "contention_percent": _share(record.get("contended"), record["iterations"]),
        "local_percent": _share(record.get("local_handovers"), record["iterations"]),
        "drift": record.get("drift"),
        "turns": record["iterations"] / record["ranks"],
        "steady_drift": steady["drift"],
        "steady_turns": steady["turns"],
        "followed_percent": None if followed is None else 100.0 * followed,
    }


def measurements(files: Sequence[ResultsFile]) -> pandas.DataFrame:
    """One row per valid sample, with the columns 'point', 'variant' and 'series'.

    Rows are ordered by the object as the users named them, then by variant, point and file, so that bars to compare
    lie side by side. 'point' is the place of the sample's axes among those of all samples, in ascending order.
    """
    of_schema = [file for file in files if file.schema == FORMAT.schema]
    rows = [_row(file, sample) for file in of_schema for sample in file.samples if sample.void_reason is None]
    frame = pandas.DataFrame(rows)
    if rows:
        frame["point"] = _points(frame["axes"])
        frame["variant"] = _variants(frame)
        frame["series"] = name_series(frame)
        places = pandas.DataFrame({name: pandas.factorize(frame[name])[0] for name in ("variant", "file")})
        order = {name: place for place, name in enumerate(_objects_in_order(of_schema))}
        places["object"] = [order[one] for one in zip(frame["kind"], frame["object"])]
        places["point"] = frame["point"]
        by = ["object", "variant", "point", "file"]
        frame = frame.loc[places.sort_values(by, kind="stable").index].reset_index(drop=True)
    return frame


def _objects_in_order(files: Sequence[ResultsFile]) -> list[tuple[str, str]]:
    """Kind and shown name, as the provenances say; where they do not, by name, which puts each family together."""
    measured = {
        (sample.statement.kind, sample.statement.object_of(sample.record), _shown_name(sample))
        for file in files for sample in file.samples
    }  # fmt: skip
    places = {}
    for kind in {kind for kind, _, _ in measured}:
        asked = dict.fromkeys(name for file in files for name in in_users_order(file.provenance, kind))
        places[kind] = {name: place for place, name in enumerate(asked)}
    last = max(map(len, places.values()))
    ordered = sorted((kind, places[kind].get(name, last), name, shown) for kind, name, shown in measured)
    return [(kind, shown) for kind, _, _, shown in ordered]


def _shown_name(sample: Sample) -> str:
    """The name of the object. A mark keeps readers from taking a lock that may hang for a sound one."""
    name = sample.statement.object_of(sample.record)
    return name if sample.record.get("sound", True) else f"{name} (unsound)"


def _points(axes: pandas.Series) -> list[int]:
    """For each sample the place of its axes among all there are, numbers before texts."""
    keys = [tuple((name, not is_value(one[name]), one[name]) for name in sorted(one)) for one in axes]
    places = {key: place for place, key in enumerate(sorted(set(keys)))}
    return [places[key] for key in keys]


def axis_values(frame: pandas.DataFrame, axis: str) -> list[Any]:
    """The value of an axis in each row; None where there is none."""
    return [one.get(axis) for one in frame["axes"]]


def varying_axes(frame: pandas.DataFrame) -> list[str]:
    """The axes that take several values, or are not everywhere.

    Wherever they meet or not: figures must not connect what was measured at different values of an axis that they do
    not show.
    """
    names = dict.fromkeys(name for one in frame["axes"] for name in one)
    return [name for name in names if len(set(axis_values(frame, name))) > 1]


def name_series(frame: pandas.DataFrame, apart_from: Collection[str] = ()) -> pandas.Series:
    """The names of the series: the object, plus parameters, axes and file where these are needed to tell series apart.

    Axes in `apart_from` are told apart by other means: a figure runs along them, or a table has a column of them. Names
    say of series that they, or some of their points, were measured before the object had settled.
    """
    labels = []
    for _, of_benchmark in frame.groupby("benchmark", sort=False):
        axes = [name for name in varying_axes(of_benchmark) if name not in apart_from]
        for shown, variant, values in zip(of_benchmark["object"], of_benchmark["variant"], of_benchmark["axes"]):
            parts = [*([variant] if variant else []), *(f"{name}={_shown(values, name)}" for name in axes)]
            labels.append(f"{shown} ({', '.join(parts)})" if parts else shown)
    by_benchmark = [index for _, part in frame.groupby("benchmark", sort=False) for index in part.index]
    named = frame.assign(series=pandas.Series(labels, index=by_benchmark))
    by_file = []
    for _, same in named.groupby(["benchmark", "kind", "series"], sort=False):
        meets = (same.groupby(PLACE)["file"].nunique() > 1).any()
        differs = same["file"].nunique() > 1 and same["machine"].nunique() > 1
        if meets or differs:
            by_file.extend(same.index)
    named.loc[by_file, "series"] += " · " + named.loc[by_file, "file"]
    _mark_unsteady(named)
    return named["series"]


def _mark_unsteady(frame: pandas.DataFrame) -> None:
    """Marks the series of which some or all points were measured before the object had settled."""
    for (_, _, name), series in frame.groupby(["benchmark", "kind", "series"], sort=False):
        steady = [_is_steady(point) for _, point in series.groupby(PLACE, sort=False)]
        if not all(steady):
            frame.loc[series.index, "series"] = f"{name} ({'partly ' if any(steady) else ''}not steady)"


def _is_steady(repetitions: pandas.DataFrame) -> bool:
    """As ``is_steady`` of bench/results.hpp, with the bounds of the file."""
    known = repetitions[repetitions["drift"].notna()]
    if known.empty:
        return True
    typical = float(known["drift"].median())
    most = 1 + float(known["steady_drift"].iloc[0])
    return bool(1 / most <= typical <= most and (known["turns"] >= known["steady_turns"]).all())


def _shown(settings: Record, name: str) -> str:
    return text_of(settings[name]) if name in settings else "unset"


def _variants(frame: pandas.DataFrame) -> pandas.Series:
    """The parameters that tell the series of one object apart, in words."""
    variants: dict[Any, str] = {}
    for _, same_object in frame.groupby(["benchmark", "kind", "object"], sort=False):
        names = _varying_parameters(same_object)
        for index, parameters in same_object["parameters"].items():
            variants[index] = ", ".join(f"{name}={_shown(parameters, name)}" for name in names)
    return pandas.Series(variants)


def _varying_parameters(same_object: pandas.DataFrame) -> list[str]:
    """The parameters of one object that take several values at one and the same place."""
    varying: dict[str, None] = {}
    for _, group in same_object.groupby(PLACE, sort=False):
        parameters = list(group["parameters"])
        names = dict.fromkeys(name for one in parameters for name in one)
        for name in names:
            if len({_shown(one, name) for one in parameters}) > 1:
                varying[name] = None
    return list(varying)
