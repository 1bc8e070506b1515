"""All valid samples as one data frame, with derived quantities and names for the series."""

from __future__ import annotations

import statistics
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pandas

from .fields import is_value, text_of
from .results import Record, ResultsFile, Sample
from .statements import TIME, Relation, in_users_order
from .statistics import coefficient_of_variation

# As in bench/results/results.hpp; for files that do not say which bounds they were measured with.
STEADY = {"drift": 0.1, "turns": 10, "share": 0.0}
# Two series are told apart in their labels only if they meet at the same place.
PLACE = ["benchmark", "world", "nodes", "ranks", "case", "point"]


def _row(file: ResultsFile, sample: Sample) -> dict[str, Any]:
    """One valid sample with its time, and the variation of the ranks' progress in percent."""
    record, statement = sample.record, sample.statement
    variation = coefficient_of_variation(record["iterations_per_rank"])
    case = statement.case_of(record)
    steady = {**STEADY, **file.provenance.get("steady", {})}
    return {
        "file": file.label,
        "benchmark": record["benchmark"],
        "kind": statement.kind,
        "choice": statement.choice,
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
        "repetition": record["repetition"],
        "figure": record.get("figure", ""),
        "curve": record.get("series", ""),
        "measured": record.get("measured", {TIME: sample.time_ns}),
        "time_ns": sample.time_ns,
        "predicted_low": record.get("predicted_low"),
        "predicted_high": record.get("predicted_high"),
        "optimum_ns": record.get("optimum_ns"),
        "overhead_ns": record.get("overhead_ns"),
        "cv_percent": None if variation is None else 100.0 * variation,
        "drift": record.get("drift"),
        "turns": _fewest_turns(statement.kind, record),
        "least_share": _least_share(statement.kind, record),
        "steady_drift": steady["drift"],
        "steady_turns": steady["turns"],
        "steady_share": steady["share"],
    }


def _fewest_turns(kind: str, record: Mapping[str, Any]) -> float:
    """Of any rank, or the mean where ranks may have different tasks, as in bench/results/results.cpp."""
    if kind in {"lock", "rw_lock"} and record.get("iterations_per_rank"):
        return float(min(record["iterations_per_rank"]))
    return record["iterations"] / record["ranks"]


def _least_share(kind: str, record: Mapping[str, Any]) -> float:
    """Turns of the rank that had the fewest, as a share of the ranks' median; 1 where ranks may have different tasks."""
    turns = record.get("iterations_per_rank")
    if kind not in {"lock", "rw_lock"} or not turns:
        return 1.0
    typical = statistics.median(turns)
    return min(turns) / typical if typical > 0 else 0.0


def _add_ratios(rows: Sequence[dict[str, Any]], samples: Sequence[Sample]) -> None:
    """Gives each sample the columns that compare its time with that of another object in the same repetition."""
    relations = {
        (sample.statement.kind, sample.record["benchmark"], column.name): column.relative
        for sample in samples for column in sample.statement.columns if column.relative is not None
    }  # fmt: skip
    for (kind, benchmark, name), relation in relations.items():
        mine = [row for row in rows if (row["kind"], row["benchmark"]) == (kind, benchmark)]
        references: dict[Any, list[dict[str, Any]]] = {}
        for row in mine:
            if row["object"] == relation.object:
                references.setdefault(_turn(row), []).append(row)
        for row in mine:
            found = [row] if row["object"] == relation.object else references.get(_turn(row), [])
            found = [one for one in found if _is_comparable(row, one, relation)]
            reference = max(found, key=lambda one: _likeness(row, one, relation), default=None)
            if reference is not None:
                row["measured"] = {**row["measured"], name: row["time_ns"] / reference["time_ns"]}


def _turn(row: dict[str, Any]) -> tuple[Any, ...]:
    """One repetition of the objects at one place."""
    return tuple(row[name] for name in ("file", "figure", "world", "nodes", "ranks", "case", "repetition"))


def _is_comparable(row: dict[str, Any], other: dict[str, Any], relation: Relation) -> bool:
    """Whether both are at the same place on each axis that both have, apart from those that need only be alike."""
    shared = row["axes"].keys() & other["axes"].keys() - set(relation.alike)
    return all(row["axes"][name] == other["axes"][name] for name in shared)


def _likeness(row: dict[str, Any], other: dict[str, Any], relation: Relation) -> tuple[Any, ...]:
    """Greater for a reference that is more like the sample; at a tie for the first in the order of its settings."""
    one, reference = ({**each["axes"], **each["parameters"]} for each in (row, other))
    agreed = tuple(one.get(name, 0) == reference.get(name, 0) for name in relation.alike)
    return (*agreed, [-ord(letter) for letter in text_of(other["parameters"])])


def measurements(files: Sequence[ResultsFile]) -> pandas.DataFrame:
    """One row per valid sample, with the columns 'point', 'variant' and 'series'.

    Rows are ordered by the object as the users named them, then by variant, point and file, so that bars to compare
    lie side by side. 'point' is the place of the sample's axes among those of all samples, in ascending order.
    """
    valid = [(file, sample) for file in files for sample in file.samples if sample.void_reason is None]
    rows = [_row(file, sample) for file, sample in valid]
    _add_ratios(rows, [sample for _, sample in valid])
    frame = pandas.DataFrame(rows)
    if rows:
        frame["point"] = _points(frame["axes"])
        frame["variant"] = _variants(frame)
        frame["series"] = name_series(frame)
        places = pandas.DataFrame({name: pandas.factorize(frame[name])[0] for name in ("variant", "file")})
        order = {name: place for place, name in enumerate(_objects_in_order(files))}
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
    """The axes that take several values, or that only some samples of an object have.

    Wherever they meet or not: figures must not connect what was measured at different values of an axis that they do
    not show. An axis that an object does not have says nothing about it.
    """
    names = dict.fromkeys(name for one in frame["axes"] for name in one)
    result = []
    for name in names:
        values = axis_values(frame, name)
        has = [value is not None for value in values]
        of_object = pandas.Series(has).groupby([list(frame["kind"]), list(frame["object"])]).nunique()
        if len(set(values) - {None}) > 1 or (of_object > 1).any():
            result.append(name)
    return result


def name_series(frame: pandas.DataFrame, apart_from: Collection[str] = ()) -> pandas.Series:
    """The names of the series: the object, plus parameters, axes and file where these are needed to tell series apart.

    A name that the measurement gave has precedence. Axes in `apart_from` are told apart by other means: a figure runs
    along them, or a table has a column of them. Names say of series that they, or some of their points, were measured
    before the object had settled.
    """
    labels = []
    for _, of_benchmark in frame.groupby("benchmark", sort=False):
        axes = [name for name in varying_axes(of_benchmark) if name not in apart_from]
        taken: dict[str, set[str]] = {}
        for shown, values in zip(of_benchmark["object"], of_benchmark["axes"]):
            taken.setdefault(shown, set()).update(values)
        columns = (of_benchmark[name] for name in ("object", "variant", "axes", "curve"))
        for shown, variant, values, curve in zip(*columns):
            parts = [variant] if variant else []
            parts += [f"{name}={_shown(values, name)}" for name in axes if name in taken[shown]]
            labels.append(curve or (f"{shown} ({', '.join(parts)})" if parts else shown))
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
    """As ``is_steady`` of bench/results/results.hpp, with the bounds of the file."""
    known = repetitions[repetitions["drift"].notna()]
    if known.empty:
        return True
    typical = float(known["drift"].median())
    most = 1 + float(known["steady_drift"].iloc[0])
    all_have_turns = (known["turns"] >= known["steady_turns"]).all() and (known["least_share"] >= known["steady_share"]).all()
    return bool(1 / most <= typical <= most and all_have_turns)


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
