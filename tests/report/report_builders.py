"""Records of results files for the tests, and the result of a run of the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import Any

SCHEMA = "nearfar.results/1"
LOOPS_SCHEMA = "nearfar.loops/1"

Record = dict[str, Any]


def column(name: str, title: str, unit: str = "", digits: int = 1) -> Record:
    return {"name": name, "title": title, "unit": unit, "meaning": "", "digits": digits, "standing": "judged"}


_SPEED = [column("time", "Time", "ns"), column("throughput", "Throughput", "million/s", 3)]
_OF_LOCKS = {"kind": "lock", "kind_title": "lock", "axes": []}
# As `nearfar bench` states these two.
STATEMENTS: Record = {
    "ecsb": {
        **_OF_LOCKS, "title": "Empty critical section (ECSB)", "case": None, "choice": True,
        "figure": ["time", "throughput", "cv"], "notes": ["Time per acquisition tells how often the lock changes hands."],
        "columns": [
            *_SPEED, column("cv", "Variation of progress", digits=4), column("waited", "Contention", "%"),
            column("local", "Local hand-overs", "%"), column("other", "Followed another rank", "%"),
        ],
    },
    "upb": {
        **_OF_LOCKS, "title": "Uncontested performance (UPB)", "case": "scenario", "figure": ["time", "throughput"],
        "columns": _SPEED,
        "cases": {
            "part": "last holder", "column": "home of the lock",
            "parts": {"1": "same rank", "2": "same node", "3": "other node"},
            "columns": {"a": "this rank", "b": "same node", "c": "other node"},
        },
    },
}  # fmt: skip


def provenance(benchmark: str, expected: int, **changes: Any) -> Record:
    return {
        "schema": SCHEMA, "record": "provenance", "library_version": "0.1.0", "commit": "abcdef", "compiler": "g++ 12",
        "flags": "-O2", "mpi_library": "Open MPI 4.1.4", "mpi_transport": "vader", "host": "alpha", "hardware": "2",
        "topology": "node:1 core:2", "binding": ["0", "1"], "oversubscribed": False, "seed": 1,
        "argv": ["nearfar", "bench", benchmark], "start_time": "2025-01-02T03:04:05Z", "benchmark": benchmark,
        "records_expected": expected, "statements": STATEMENTS, **changes,
    }  # fmt: skip


def ecsb(lock: str = "cohort", repetition: int = 0, progress: Sequence[int] = (600, 400), **changes: Any) -> Record:
    sample = {
        "schema": SCHEMA, "record": "sample", "benchmark": "ecsb", "lock": lock, "parameters": {}, "world": "mpi",
        "machine": "alpha", "nodes": 1, "ranks": len(progress), "repetition": repetition, "duration_ns": 100_000,
        "iterations": sum(progress), "iterations_per_rank": list(progress), "contended": sum(progress) // 2,
        "local_handovers": None, "followed_other_share": 0.75, "verified": True, **changes,
    }  # fmt: skip
    return {"measured": _measured(sample), **sample}


def _measured(sample: Record) -> Record:
    """The columns of a sample of locks; nothing of one that is not as it should be."""
    try:
        count, progress, other = sample["iterations"], sample["iterations_per_rank"], sample["followed_other_share"]
        shares = {"waited": sample["contended"], "local": sample["local_handovers"]}
        time = sample["duration_ns"] / count
        return {
            "time": time, "throughput": 1000 / time,
            "cv": stdev(progress) / mean(progress) if len(progress) > 1 else None,
            **{name: None if share is None else 100 * share / count for name, share in shares.items()},
            "other": None if other is None else 100 * other,
        }  # fmt: skip
    except (TypeError, ZeroDivisionError):
        return {}


def upb(lock: str, scenario: str, repetition: int, time: float | None, **changes: Any) -> Record:
    duration = {} if time is None else {"duration_ns": round(1000 * time)}
    return {
        **ecsb(lock, repetition, (1000, 0, 0, 0)), **duration, "benchmark": "upb", "nodes": 2, "contended": 0,
        "scenario": scenario, "followed_other_share": None,
        "measured": {"time": time, "throughput": time and 1000 / time}, **changes,
    }  # fmt: skip


def upb_samples(lock: str, times: dict[str, float], repetitions: int = 8, **changes: Any) -> list[Record]:
    """All nine scenarios; the times are by letter and grow by 1 ns with each repetition."""
    return [
        upb(lock, digit + letter, repetition, time + repetition, **changes)
        for digit in "123" for letter, time in times.items() for repetition in range(repetitions)
    ]  # fmt: skip


def statement(**changes: Any) -> Record:
    """The statement of the benchmark whose samples `stated` makes."""
    return {
        "title": "waiting room", "summary": "How long the last one waits", "source": "Moe 1999", "kind": "barrier",
        "case": None, "axes": [{"name": "work", "unit": "ns", "meaning": "done between two rounds"}],
        "columns": [
            {"name": "round", "title": "round", "unit": "µs", "meaning": "from the first to the last", "digits": 2},
            {"name": "late", "title": "late ranks", "unit": "", "meaning": "that came last", "digits": 0},
        ], **changes,
    }  # fmt: skip


def stated(name: str = "tree", repetition: int = 0, value: float | None = 2.0, **changes: Any) -> Record:
    """A sample of a benchmark that is not about locks: it names a barrier, and lacks the fields of locks."""
    known = {
        **ecsb("", repetition), "benchmark": "room", "barrier": name, "axes": {}, "effort": {"duration": 0.1},
        "measured": {"round": value, "late": 3},
    }  # fmt: skip
    return {field: known[field] for field in known if field not in ("lock", "contended", "local_handovers")} | changes


def stated_eight(name: str, value: float = 2.0, **changes: Any) -> list[Record]:
    """Repetitions with value, value + 0.01, ... value + 0.07."""
    return [stated(name, r, value + r / 100, **changes) for r in range(8)]


def loop(container: str = "array", repetition: int = 0, mflops: float | None = 500.0, **changes: Any) -> Record:
    """A sample of the triad: 10 passes over 1000 elements."""
    return {
        "schema": LOOPS_SCHEMA, "record": "sample", "benchmark": "triad", "container": container,
        "initialisation": "parallel", "placement": "first_touch", "threads": 2, "pinning": "scatter", "chunk": None,
        "segments": None, "padding": None, "stores": "regular", "length": 1000, "rows": None, "columns": None,
        "decomposition": None, "sweeps": None, "repetition": repetition, "iterations": 10,
        "duration_ns": round(20e6 / (mflops or 500.0)),
        "mflops": mflops, "gbytes_per_s": None if mflops is None else mflops * 0.016,
        "gbytes_per_s_with_rfo": None if mflops is None else mflops * 0.020, "mlups": None, "verified": True, **changes,
    }  # fmt: skip


def relax(container: str, repetition: int, mlups: float, **changes: Any) -> Record:
    return {
        **loop(container, repetition, None), "benchmark": "relax", "length": None, "rows": 500, "columns": 400,
        "decomposition": "horizontal", "sweeps": 10, "stores": None, "mlups": mlups, **changes,
    }  # fmt: skip


def loop_eight(container: str, mflops: float = 500.0, **changes: Any) -> list[Record]:
    """Repetitions at mflops, mflops + 1, ... mflops + 7."""
    return [loop(container, r, mflops + r, **changes) for r in range(8)]


def figure_of(number: str, axis: str, *notes: str) -> Record:
    """The part about a figure in the provenance of its results."""
    return {"number": number, "title": f"what figure {number} shows", "axis": axis, "notes": list(notes)}


@dataclass(frozen=True)
class Outcome:
    status: int
    out: str
    err: str
    directory: Path

    @property
    def page(self) -> str:
        return (self.directory / "index.html").read_text(encoding="utf-8")

    @property
    def names(self) -> set[str]:
        return {path.name for path in self.directory.iterdir()}
