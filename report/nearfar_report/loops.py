"""Measurements of loops over containers as data frames: derived quantities, ratios to the array, names of series."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pandas

from .benchmarks import loop_of
from .loop_results import FORMAT, time_ns
from .results import Record, ResultsFile
from .tables import NARROW_SPACE

# Containers in the order of their colours, whichever of them a file holds.
CONTAINERS = (
    "array", "object-array", "vector", "vector-numa", "numa_vector", "segmented", "segmented-iterator",
    "numa_vector-expression", "padded", "padded-iterator", "padded-pieces",
)  # fmt: skip

# Two samples with the same values here are measurements of the same place.
PLACE = ["file", "figure", "benchmark", "threads", "length", "rows", "columns", "decomposition"]
# The settings that distinguish series of one container, with their texts.
VARIANTS = {
    "initialisation": "{}", "placement": "{}", "pinning": "pinned {}", "chunk": "chunk {:g}",
    "segments": "{:g} segments", "padding": "padding {:g}", "stores": "{} stores",
}  # fmt: skip


def measurements(files: Sequence[ResultsFile]) -> pandas.DataFrame:
    """One row per valid sample of the loops' schema, ordered by container, with the column 'ratio'."""
    rows = [
        _row(file.label, sample.record)
        for file in files if file.schema == FORMAT.schema
        for sample in file.samples if sample.void_reason is None
    ]  # fmt: skip
    frame = pandas.DataFrame(rows)
    if not rows:
        return frame
    frame["ratio"] = _ratios(rows)
    order = {name: index for index, name in enumerate(in_order([*CONTAINERS, *sorted(frame["container"].unique())]))}
    # The command measures samples in random order; the page must not depend on it.
    place = frame[["figure", "threads", "length", "rows", "columns", "chunk", "segments", "padding", "repetition"]]
    place = place.assign(
        container=frame["container"].map(order), file=pandas.factorize(frame["file"])[0],
        **{name: frame[name].fillna("").astype(str) for name in ("curve", "initialisation", "placement", "stores")},
    )  # fmt: skip
    by = ["figure", "container", "threads", "curve", "initialisation", "placement", "stores", "chunk", "segments",
          "padding", "file", "length", "rows", "columns", "repetition"]  # fmt: skip
    return frame.loc[place.sort_values(by, kind="stable").index].reset_index(drop=True)


def _row(file: str, record: Record) -> dict[str, Any]:
    rate = record["gbytes_per_s"]
    return {
        **{name: value for name, value in record.items() if name not in ("schema", "record")},
        "file": file,
        "figure": record.get("figure", ""),
        "curve": record.get("series"),
        "mbytes_per_s": None if rate is None else 1000.0 * rate,
    }


def _place(row: dict[str, Any]) -> tuple[Any, ...]:
    """The key that a sample shares with the array's sample that it is compared with."""
    return (*(row[name] for name in PLACE), row["repetition"])


def _ratios(rows: Sequence[dict[str, Any]]) -> list[float | None]:
    """Time of each sample over that of the array in the same repetition, as the command's own table has it."""
    arrays: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        if row["container"] == "array":
            arrays.setdefault(_place(row), []).append(row)
    result: list[float | None] = []
    for row in rows:
        candidates = [row] if row["container"] == "array" else arrays.get(_place(row), [])
        base = max(candidates, key=lambda array: _likeness(row, array), default=None)
        result.append(time_ns(row) / time_ns(base) if base else None)
    return result


def _likeness(row: dict[str, Any], array: dict[str, Any]) -> int:
    """How closely an array's sample matches a container's; a tie goes to the array that was initialised in parallel."""
    return (
        8 * (row["stores"] == array["stores"])
        + 4 * ((row["chunk"] or 0) == (array["chunk"] or 0))
        + 2 * (row["placement"] == array["placement"])
        + (array["initialisation"] == "parallel")
    )


def name_series(frame: pandas.DataFrame, axis: str) -> pandas.Series:
    """The container, and what else tells series apart where they meet; a name given by the measurement wins."""
    names = pandas.Series(index=frame.index, dtype=object)
    place = [name for name in PLACE if name not in (axis, "file")]
    for container, rows in frame.groupby("container", sort=False):
        varying = [
            name for name in ("file", *VARIANTS)
            if name != axis and (rows.groupby(place, dropna=False)[name].nunique() > 1).any()
        ]  # fmt: skip
        for index, row in rows.iterrows():
            parts = [VARIANTS[n].format(row[n]) for n in varying if n != "file" and not pandas.isna(row[n])]
            name = f"{container} ({', '.join(parts)})" if parts else str(container)
            names[index] = row["curve"] or (f"{name} · {row['file']}" if "file" in varying else name)
    return names


def size_text(row: pandas.Series) -> str:
    """'10 000' elements, or '500 × 400' of a grid."""
    return loop_of(row["benchmark"]).size.format(**row).replace(",", NARROW_SPACE)


def in_order(values: Iterable[Any]) -> list[Any]:
    """Each value once, as they first appear."""
    return list(dict.fromkeys(values))
