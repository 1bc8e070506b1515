"""Files of earlier versions: what their statements lack, and loops over containers, which had a schema of their own.

No other module names a benchmark.
"""

from __future__ import annotations

from typing import Any

from .fields import (
    RERUN, Checks, Record, ResultsError, check_fields, is_count, is_name, is_number, is_positive, or_null,
)  # fmt: skip

LOOPS = "nearfar.loops/1"

# Members that statements did not have.
_LACKING: dict[str, Record] = {
    "ecsb": {
        "figure": ["time", "throughput", "cv"],
        "choice": True,
        "notes": [
            "Time per acquisition is the measured time divided by the acquisitions of all ranks together: it tells how"
            " often the lock changes hands, not how long one rank waits for its turn.",
            "Variation of progress is the coefficient of variation of the acquisitions per rank, with Bessel's"
            " correction: 0 means that all ranks progressed alike. A fast lock with a high variation lets one rank"
            " acquire in bursts.",
        ],
    },
    "upb": {
        "figure": ["time", "throughput"],
        "cases": {
            "part": "last holder",
            "column": "home of the lock",
            "parts": {"1": "the same rank", "2": "another rank of its node", "3": "a rank of another node"},
            "columns": {"a": "the acquiring rank", "b": "another rank of its node", "c": "a rank of another node"},
        },
        "notes": [
            "One rank at a time acquires and releases many free locks once each; the value of a repetition is the mean"
            " over these locks."
        ],
    },
}

_PINNING: Record = {"name": "pinning", "unit": "", "meaning": "Pinning of the threads"}
_VECTORS: list[Record] = [
    {"name": "length", "unit": "", "meaning": "Elements of each vector"},
    {"name": "chunk", "unit": "", "meaning": "Elements that a thread takes at a time, 0 for one block per thread"},
    {"name": "segments", "unit": "", "meaning": "Segments of each segmented array"},
    _PINNING,
]


def _rate(name: str, title: str, unit: str, meaning: str, digits: int = 1, **more: Any) -> Record:
    return {"name": name, "title": title, "unit": unit, "meaning": meaning, "digits": digits, **more}


_GBYTES = _rate("gbytes_per_s", "Bandwidth", "GB/s", "bytes that the loop reads and writes", 2)
_OWNERSHIP = _rate(
    "gbytes_per_s_with_rfo", "Bandwidth with reads for ownership", "GB/s", "with the reads of what is overwritten", 2,
    standing="recorded",
)  # fmt: skip


def _ratio(*alike: str) -> Record:
    return _rate(
        "ratio", "Time / time of array", "", "time divided by that of the plain array in the same repetition", 3,
        relative={"object": "array", "alike": list(alike)},
    )  # fmt: skip


def _loop(title: str, summary: str, axes: list[Record], columns: list[Record]) -> Record:
    figure = [column["name"] for column in columns if column.get("standing") != "recorded"]
    return {
        "title": title, "summary": summary, "source": "", "kind": "container", "kind_title": "container", "case": None,
        "axes": axes, "columns": columns, "figure": figure,
    }  # fmt: skip


_OF_VECTORS = _ratio("stores", "chunk", "placement")
_LOOPS = {
    "triad": _loop(
        "Vector triad", "a = b + c * d over arrays and containers, from cache to memory", _VECTORS,
        [_rate("mflops", "Performance", "MFlop/s", "million floating-point operations a second"), _GBYTES,
         _OF_VECTORS, _OWNERSHIP],
    ),
    "stream": _loop(
        "STREAM", "copy, scale, add and triad (a = b + s * c) as STREAM names and counts them",
        [{"name": "loop", "unit": "", "meaning": "The loop"}, *_VECTORS],
        [_rate("mbytes_per_s", "Bandwidth", "MB/s", "million bytes a second that the loop reads and writes", 0),
         _OF_VECTORS, _OWNERSHIP],
    ),
    "relax": _loop(
        "Relaxation", "sweeps of the four-point mean over a grid of rows",
        [{"name": "rows", "unit": "", "meaning": "Rows of the grid"},
         {"name": "columns", "unit": "", "meaning": "Columns of the grid"},
         {"name": "decomposition", "unit": "", "meaning": "Division of the grid among threads"}, _PINNING],
        [_rate("mlups", "Performance", "MLup/s", "million points updated a second"), _ratio()],
    ),
}  # fmt: skip
_OF_STREAM = ("copy", "scale", "add", "stream-triad")
_CONTAINERS = [
    "array", "object-array", "vector", "vector-numa", "numa_vector", "numa_vector-expression", "segmented",
    "segmented-iterator", "padded", "padded-iterator", "padded-pieces",
]  # fmt: skip
_WITHOUT_PLACEMENT = ("object-array", "vector")

_COUNT = "a whole number of at least 0"
_POSITIVE = "a whole number of at least 1"
_RATE = ("a number or null", or_null(is_number))
_LOOP: Checks = {
    "benchmark": ("a benchmark name", is_name),
    "container": ("a container name", is_name),
    "initialisation": ("the name of an initialisation", is_name),
    "placement": ("the name of a placement", is_name),
    "threads": (_POSITIVE, is_positive),
    "pinning": ("the name of a pinning", is_name),
    "chunk": (f"{_COUNT} or null", or_null(is_count)),
    "segments": (f"{_POSITIVE} or null", or_null(is_positive)),
    "padding": (f"{_COUNT} or null", or_null(is_count)),
    "stores": ("a kind of stores or null", or_null(is_name)),
    "length": (f"{_POSITIVE} or null", or_null(is_positive)),
    "rows": (f"{_POSITIVE} or null", or_null(is_positive)),
    "columns": (f"{_POSITIVE} or null", or_null(is_positive)),
    "decomposition": ("a decomposition or null", or_null(is_name)),
    "sweeps": (f"{_COUNT} or null", or_null(is_count)),
    "repetition": (_COUNT, is_count),
    "iterations": (_POSITIVE, is_positive),
    "duration_ns": (_POSITIVE, is_positive),
    **dict.fromkeys(("mflops", "gbytes_per_s", "gbytes_per_s_with_rfo", "mlups"), _RATE),
    "verified": ("true or false", lambda value: isinstance(value, bool)),
}


def completed(provenance: Record) -> Record:
    """The provenance with the statements that today's version writes."""
    if provenance["schema"] != LOOPS:
        said = provenance.get("statements", {})
        return {**provenance, "statements": {name: {**_LACKING.get(name, {}), **one} for name, one in said.items()}}
    about = provenance.get("figure")
    if about is not None and about["axis"] == "threads":
        about = {**about, "axis": "ranks"}
    return {**provenance, "statements": _LOOPS, "objects": {"container": _CONTAINERS}, "figure": about}


def sample_of_loop(path: str, line: int, record: Record) -> Record:
    """A sample of a loop as today's version writes it. Raises the ResultsError of its first fault."""
    check_fields(path, line, record, _LOOP)
    is_grid = record["length"] is None
    if is_grid and None in (record["rows"], record["columns"], record["decomposition"]):
        raise ResultsError(path, line, f"'length' is null in a sample of {record['benchmark']}", RERUN)
    benchmark = record["benchmark"]
    axes = {"loop": benchmark} if benchmark in _OF_STREAM else {}
    names = ("rows", "columns", "decomposition", "pinning") if is_grid else ("length", "chunk", "segments", "pinning")
    axes.update({name: record[name] for name in names if record[name] is not None})
    if record["segments"] == record["threads"] and "figure" not in record:
        axes.pop("segments", None)  # the default
    parameters = {"initialisation": record["initialisation"]}
    if record["container"] not in _WITHOUT_PLACEMENT:
        parameters["placement"] = record["placement"]
    parameters.update({name: record[name] for name in ("padding", "stores") if record[name] is not None})
    rate = record["gbytes_per_s"]
    rates = {name: record[name] for name in ("mflops", "gbytes_per_s", "gbytes_per_s_with_rfo", "mlups")}
    return {
        **record, "benchmark": "stream" if benchmark in _OF_STREAM else benchmark, "parameters": parameters,
        "axes": axes, "world": "team", "machine": "", "nodes": 1, "ranks": record["threads"],
        "iterations_per_rank": [], "measured": {**rates, "mbytes_per_s": None if rate is None else 1000.0 * rate},
    }  # fmt: skip
