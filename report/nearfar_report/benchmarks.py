"""The report's own statements about single benchmarks, beside those of the files; no other module names a benchmark."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from .fields import Checks, is_number, or_null


@dataclass(frozen=True)
class Column:
    """One drawn quantity: its column in the data frame, and the text of its axis with the unit."""

    key: str
    label: str
    title: str = ""


TIME = Column("time_ns", "ns per acquisition", "Time")
RATE = Column("million_per_s", "million acquisitions/s", "Throughput")
VARIATION = Column("cv_percent", "CV of progress in %", "Unfairness")
# The head of RATE in tables, which have less room.
SHORT_RATE = Column(RATE.key, "Mio/s")


@dataclass(frozen=True)
class Listing:
    """A table with one row per configuration. `{name}` in the caption is the name of the benchmark."""

    caption: str
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class CaseFigure:
    """A bar figure over cases. `remark` may hold `{matters}`, the sentence on whether parts differ."""

    name: str
    quantity: Column
    what: str
    remark: str
    by_part: bool = False


@dataclass(frozen=True)
class Cases:
    """Cases of two characters: the first selects the part of a group of bars, the second the column of the figure."""

    parts: Mapping[str, str]
    columns: Mapping[str, str]
    part: str  # what a part is, in one word
    figures: tuple[CaseFigure, ...]
    remark: str  # of every figure
    differ: str  # `{series}` names the series whose parts differ
    alike: str
    pooled: str  # captions of the two tables
    single: str


@dataclass(frozen=True)
class Benchmark:
    """The report's own statement about one benchmark. The defaults suit a benchmark that the report does not know."""

    title: str = ""  # if the file states none
    name: str = ""  # how titles and captions write it
    fields: Checks = field(default_factory=dict)  # what its samples hold besides
    time: str | None = None  # the field of a sample with its time in ns; None: the duration over the iterations
    all_progress: bool = False  # the ranks' iterations are all there are
    varies: bool = True  # the variation of the ranks' progress has a meaning
    compares_locks: bool = False  # it answers which lock to take
    figure: str = ""  # what figures of `columns` show
    columns: tuple[Column, ...] = ()
    meaning: tuple[str, ...] = ()
    listings: tuple[Listing, ...] = (
        Listing(
            "{name}: median [95 % confidence interval] of n repetitions. ns per acquisition is the measured time"
            " divided by the acquisitions of all ranks.",
            (TIME, SHORT_RATE, VARIATION),
        ),
    )
    cases: Cases | None = None

    @property
    def has_own_figures(self) -> bool:
        """Whether the report draws more than the first column of the file's statement."""
        return self.cases is not None or bool(self.columns)


_ECSB = Benchmark(
    title="Empty critical section (ECSB)",
    name="ECSB",
    all_progress=True,
    compares_locks=True,
    figure="speed and fairness",
    columns=(TIME, RATE, VARIATION),
    meaning=(
        "All ranks take and release one lock in a loop with nothing inside, for a fixed time; the first 10 % warm up.",
        "Time per acquisition is the measured time divided by the acquisitions of all ranks together, the inverse of"
        " the total throughput: it is how often the lock changes hands, not how long one rank waits for its turn, and"
        " so differs from the per-rank iteration time by the factor of the number of ranks.",
        "Unfairness is the coefficient of variation (CV) of the acquisitions per rank, with Bessel's correction:"
        " 0 % means that all ranks progressed alike. A fast lock with a high CV lets one rank acquire in bursts.",
    ),
    listings=(
        Listing(
            "{name}: speed and fairness. Median [95 % confidence interval] of n repetitions; Mio/s is million"
            " acquisitions per s.",
            (TIME, SHORT_RATE, VARIATION),
        ),
        Listing(
            "{name}: kinds of acquisitions, median [95 % confidence interval]. Contention: had to wait for a"
            " predecessor. Local hand-over: received from a rank of the same node without passing through the far"
            " lock. After another rank: the previous holder was a different rank (near 0 % means bursts of one rank)."
            " – means that this lock cannot tell.",
            (
                Column("contention_percent", "Contention in %"),
                Column("local_percent", "Local hand-over in %"),
                Column("followed_percent", "After another rank in %"),
            ),
        ),
    ),
)

_FREE_TIME = Column(TIME.key, "ns per acquisition and release")

_UPB = Benchmark(
    title="Uncontested performance (UPB)",
    name="UPB",
    fields={
        "scenario": (
            "one of 1a to 3c",
            lambda value: isinstance(value, str) and re.fullmatch("[123][abc]", value) is not None,
        ),
        "ns_per_acquisition": ("a number or null", or_null(is_number)),
    },
    time="ns_per_acquisition",
    varies=False,
    cases=Cases(
        parts={"1": "same process", "2": "same node", "3": "other node"},
        columns={"a": "home process", "b": "same node", "c": "other node"},
        part="predecessor",
        figures=(
            CaseFigure(
                "time",
                _FREE_TIME,
                "time of a free lock",
                "One rank at a time takes and releases many free locks once each; the value of a repetition is the"
                " mean over these locks. Pooled over the kinds of predecessors, so that n is the repetitions of all of"
                " them together. {matters}",
            ),
            CaseFigure(
                "throughput",
                RATE,
                "throughput of free locks",
                "The same measurements as in the figure of times, as acquisitions per second of one rank alone.",
            ),
            CaseFigure(
                "scenarios",
                _FREE_TIME,
                "all nine scenarios",
                "The shade is the rank that held the lock before: 1 the acquiring process itself, 2 another process on"
                " its node, 3 a process on another node.",
                by_part=True,
            ),
        ),
        remark="The columns are where the acquiring rank runs: the lock's home process itself, another process on the"
        " home's node, or a process on another node. Every column has its own scale.",
        differ="The predecessor does make a difference for {series}: see all nine scenarios.",
        alike="No lock shows a clear difference between predecessors.",
        pooled="{name}: free locks, pooled over predecessors. ns per acquisition and release, median"
        " [95 % confidence interval]; below it million acquisitions per s (Mio/s) and the number of values n.",
        single="{name}: all nine scenarios. ns per acquisition and release, median [95 % confidence interval].",
    ),
)

_OF_LOCKS = {"ecsb": _ECSB, "upb": _UPB}


def known(benchmark: str) -> Benchmark:
    """The report's own statement about a benchmark of locks or of other stated objects."""
    return _OF_LOCKS.get(benchmark, Benchmark())


MFLOPS = Column("mflops", "MFlop/s", "Performance")
GBYTES = Column("gbytes_per_s", "GB/s", "Bandwidth")
MBYTES = Column("mbytes_per_s", "MB/s", "Bandwidth, as STREAM counts bytes")
MLUPS = Column("mlups", "MLup/s", "Performance")
RATIO = Column("ratio", "time / time of array", "Compared with the array")
OWNERSHIP = Column("gbytes_per_s_with_rfo", "GB/s with reads for ownership")


@dataclass(frozen=True)
class Loop:
    """The report's own statement about one loop over containers. The defaults suit STREAM and unknown loops."""

    title: str = ""
    meaning: str = "Bytes are counted as STREAM counts them: what the loop names, without reads for ownership."
    columns: tuple[Column, ...] = (MBYTES, RATIO)  # the most telling first
    listed: tuple[Column, ...] = (OWNERSHIP,)  # in the table alone
    size_fields: tuple[str, ...] = ("length",)
    size_head: str = "Length"
    size: str = "{length:,.0f}"  # the size as tables show it
    place: str = "{size} elements"  # the size in titles


LOOPS = {
    "triad": Loop(
        "Vector triad (a = b + c · d)",
        "Two floating-point operations an element. Bandwidth counts the three words that are read and the one that"
        " is written; where the store first reads the line (read for ownership), the memory moves a quarter more.",
        (MFLOPS, GBYTES, RATIO),
    ),
    "copy": Loop("STREAM copy (a = b)"),
    "scale": Loop("STREAM scale (a = s · b)"),
    "add": Loop("STREAM add (a = b + c)"),
    "stream-triad": Loop("STREAM triad (a = b + s · c)"),
    "relax": Loop(
        "Relaxation (four-point Jacobi)",
        "Every inner point becomes the mean of its four neighbours; two grids take turns. MLup/s are million"
        " points updated in a second.",
        (MLUPS, RATIO),
        (),
        ("rows", "columns", "decomposition"),
        "Grid",
        "{rows:.0f} × {columns:.0f}",
        "grid of {size}, {decomposition} decomposition",
    ),
}


def loop_of(benchmark: str) -> Loop:
    """The report's own statement about a loop."""
    return LOOPS.get(benchmark, Loop(f"Benchmark {benchmark}"))
