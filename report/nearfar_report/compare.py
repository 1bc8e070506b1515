"""Command line of the comparison of two results files; see ``nearfar compare --help``."""

from __future__ import annotations

import argparse
import itertools
import json
import math
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .command_line import FAILED, INCOMPLETE, Parser, end, run
from .fields import text_of
from .results import Record, ReportError, ResultsFile, Sample, printable, read_all
from .statements import JUDGED, in_users_order

PROGRAM = "nearfar compare"
SCHEMA = "nearfar.compare/1"
# Fewer repetitions on each side than this: no test tells them apart at this level whatever they are.
LEAST_REPETITIONS = 4
LEVEL = 0.05
RESAMPLES = 2000
TOO_FEW = "too few repetitions"

# A configuration as names and values, benchmark and object first; last the column if several columns hold times.
Point = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Times:
    """The times of one configuration in ns, one of its samples, and the column (empty if there is a single time)."""

    sample: Sample
    column: str
    all: list[float]


@dataclass(frozen=True)
class Verdict:
    """The comparison of one configuration: medians in ns, their ratio with a 95 % interval, and the verdict."""

    before_ns: float
    after_ns: float
    low: float
    high: float
    p: float  # of this test alone
    text: str
    adjusted_p: float = math.nan  # of all tests together

    @property
    def ratio(self) -> float:
        """Time after over time before."""
        return self.after_ns / self.before_ns


def judge(before: Sequence[float], after: Sequence[float], bound: float) -> Verdict:
    """Compares the times of the repetitions, as if there was no other comparison.

    They differ if Mann and Whitney's test says so at the 5 % level and the interval of the ratio of the medians,
    by bootstrap, leaves 1 out. A difference in medians beyond the bound is a regression, or a gain.
    """
    import numpy
    from scipy import stats

    def ratio(one: Any, other: Any, axis: int = -1) -> Any:
        return numpy.median(other, axis=axis) / numpy.median(one, axis=axis)

    medians = float(numpy.median(before)), float(numpy.median(after))
    if min(len(before), len(after)) < LEAST_REPETITIONS:
        return Verdict(*medians, math.nan, math.nan, math.nan, TOO_FEW)
    p = float(stats.mannwhitneyu(before, after).pvalue)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of repetitions that are all alike
        interval = stats.bootstrap(
            (before, after), ratio, n_resamples=RESAMPLES, method="percentile", vectorized=True,
            random_state=numpy.random.default_rng(1),
        ).confidence_interval  # fmt: skip
    low, high = float(interval.low), float(interval.high)
    change = medians[1] / medians[0]
    if p >= LEVEL or low <= 1 <= high:
        text = "same"
    elif change > 1:
        text = "REGRESSION" if change > 1 + bound else "slower within the bound"
    else:
        text = "faster" if change < 1 / (1 + bound) else "faster within the bound"
    return Verdict(*medians, low, high, p, text)


def adjusted(ps: Sequence[float]) -> list[float]:
    """The p of each test where all are made, by Holm: one in twenty families of tests without any effect has one below 5 %."""
    result, largest = [1.0] * len(ps), 0.0
    for rank, index in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        largest = max(largest, min(1.0, (len(ps) - rank) * ps[index]))
        result[index] = largest
    return result


def least_p(one: int, other: int) -> float:
    """The smallest p that this number of repetitions can give: that of two sides that do not overlap."""
    return 2 / math.comb(one + other, one)


def least_repetitions(comparisons: int) -> int:
    """The repetitions on each side that a difference needs to show among all comparisons."""
    return next(count for count in itertools.count(LEAST_REPETITIONS) if least_p(count, count) * comparisons < LEVEL)


def judge_all(old: Mapping[Point, Times], new: Mapping[Point, Times], bound: float) -> dict[Point, Verdict]:
    """The verdicts on all configurations of both, which hold together."""
    verdicts = {point: judge(times.all, new[point].all, bound) for point, times in old.items() if point in new}
    tested = [point for point, one in verdicts.items() if not math.isnan(one.p)]
    for point, p in zip(tested, adjusted([verdicts[point].p for point in tested])):
        one = verdicts[point]
        text = one.text
        if text != "same" and p >= LEVEL:
            sizes = len(old[point].all), len(new[point].all)
            text = TOO_FEW if least_p(*sizes) * len(tested) >= LEVEL else "same"
        verdicts[point] = replace(one, text=text, adjusted_p=p)
    return verdicts


def _settings(sample: Sample) -> tuple[Record, Record]:
    """The settings of the sample's configuration, and its axes."""
    known = sample.configuration
    return known, known.pop("axes", None) or {}


def _texts(settings: Record) -> Point:
    """Names and values, without what there is not."""
    return tuple((name, text) for name, value in settings.items() if value is not None and (text := text_of(value)))


def _point(sample: Sample) -> Point:
    known, axes = _settings(sample)
    return _texts(known) + _texts(dict(sorted(axes.items())))


def _times(sample: Sample) -> dict[str, float | None]:
    """The times that a sample measured, by column if there are several."""
    columns = [
        column.name for column in sample.statement.columns if column.unit == "ns" and column.standing == JUDGED
    ]
    if len(columns) < 2:
        return {"": sample.time_ns}
    measured = sample.record.get("measured", {})
    return {name: measured.get(name) for name in columns}


def _points(file: ResultsFile) -> dict[Point, Times]:
    """The times of the valid samples: benchmarks as they first appear, objects in the user's order."""
    points: dict[Point, Times] = {}
    for sample in file.samples:
        for column, time in _times(sample).items() if sample.void_reason is None else ():
            if time:
                point = _point(sample) + ((("column", column),) if column else ())
                points.setdefault(point, Times(sample, column, [])).all.append(time)

    benchmarks = list(dict.fromkeys(point[0][1] for point in points))

    def place(point: Point) -> tuple[int, int]:
        (_, benchmark), (kind, name) = point[:2]
        named = in_users_order(file.provenance, kind)
        return benchmarks.index(benchmark), named.index(name) if name in named else len(named)

    return {point: points[point] for point in sorted(points, key=place)}


def _labels(points: Sequence[Point]) -> dict[Point, str]:
    """Benchmark and subject, and what tells their configurations apart, in words."""
    labels = {}
    for point in points:
        alike = [dict(other) for other in points if other[:2] == point[:2]]
        varying = [name for name, _ in point[2:] if len({other.get(name) for other in alike}) > 1]
        words = [point[0][1], point[1][1], *(f"{name}={text}" for name, text in point[2:] if name in varying)]
        labels[point] = printable(" ".join(words))
    return labels


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = Parser(
        prog=PROGRAM,
        allow_abbrev=False,
        description="Compares the times of two results files, configuration by configuration: the ratio of the medians"
        " (after / before), its 95 % interval by bootstrap, and the verdict of Mann and Whitney's test.",
        epilog="Exit status: 0 no regression; 1 a configuration became slower by more than the bound; 2 nothing was compared;"
        " 3 no regression, but configurations or samples are missing, or repetitions are too few to tell."
        " docs/results-format.md describes the verdicts.",
    )
    parser.add_argument("before", metavar="BEFORE", help="results file of the reference")
    parser.add_argument("after", metavar="AFTER", help="results file to judge")
    parser.add_argument(
        "--bound", type=float, default=5.0, metavar="PERCENT", help="slowdown above which a change is a regression (default: 5)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object per line instead of a table")
    arguments = parser.parse_args(argv)
    if not 0 <= arguments.bound <= 1000:
        parser.error(f"--bound must be 0 to 1000 percent, not {arguments.bound:g}")
    return arguments


def _warn_of_differences(before: ResultsFile, after: ResultsFile) -> None:
    for field, meaning in [("host", "machines"), ("mpi_library", "MPI libraries"), ("flags", "build flags"),
                           ("oversubscribed", "shares of processors")]:  # fmt: skip
        one, other = (file.provenance.get(field) for file in (before, after))
        if one != other:
            shown = printable(f"{one!s} and {other!s}")
            print(f"{PROGRAM}: the files come from different {meaning}: {shown}", file=sys.stderr)


def _compare(arguments: argparse.Namespace) -> int:
    before, after = read_all([arguments.before, arguments.after])
    for file in (before, after):
        for notice in file.notices:
            print(f"{PROGRAM}: {printable(file.path)}: {notice}", file=sys.stderr)
    _warn_of_differences(before, after)
    old, new = _points(before), _points(after)
    common = [point for point in old if point in new]
    if not common:
        raise ReportError("the files have no configuration in common; name two runs of the same benchmark")
    labels = _labels([*old, *(point for point in new if point not in old)])
    verdicts = judge_all(old, new, arguments.bound / 100)
    if arguments.json:
        _show_json(old, verdicts, arguments.bound)
    else:
        _show_table(labels, verdicts, arguments.bound)
    for points, others, path in [(old, new, arguments.before), (new, old, arguments.after)]:
        for point in points:
            if point not in others:
                print(f"{PROGRAM}: only in {printable(path)}: {labels[point]}", file=sys.stderr)
    texts = {verdict.text for verdict in verdicts.values()}
    if TOO_FEW in texts:
        counted = f"{len(verdicts)} comparison{'' if len(verdicts) == 1 else 's'}"
        needed = f"{least_repetitions(len(verdicts))} repetitions on each side"
        print(f"{PROGRAM}: {counted} can tell a difference from {needed} on", file=sys.stderr)
    if "REGRESSION" in texts:
        return FAILED
    is_incomplete = TOO_FEW in texts or old.keys() != new.keys() or any(file.shortfall for file in (before, after))
    return INCOMPLETE if is_incomplete else 0


def _show_table(labels: dict[Point, str], verdicts: dict[Point, Verdict], bound: float) -> None:
    width = max(len("# configuration"), *(len(labels[point]) for point in verdicts)) + 2
    several = f", corrected by Holm for {len(verdicts)} comparisons" if len(verdicts) > 1 else ""
    print(f"# ns: medians; ratio: after / before, with its 95 % interval by bootstrap; p: of Mann and Whitney's test{several}")
    print(f"# regression: slower by more than {bound:g} %, where test and interval agree that it is slower")
    heads = (("before ns", 12), ("after ns", 12), ("ratio", 8), ("low", 8), ("high", 8), ("p", 8))
    rows = {point: _numbers(one) for point, one in verdicts.items()}
    sizes = [max(size, *(len(row[i]) + 2 for row in rows.values())) for i, (_, size) in enumerate(heads)]

    def aligned(words: Iterable[str]) -> str:
        return "".join(f"{word:>{size}}" for word, size in zip(words, sizes))

    print(f"{'# configuration':<{width}}{aligned(head for head, _ in heads)}  verdict")
    for point, row in rows.items():
        print(f"{labels[point]:<{width}}{aligned(row)}  {verdicts[point].text}")


def _numbers(one: Verdict) -> list[str]:
    """As the table shows them."""
    ratios = ("-" if math.isnan(value) else f"{value:.3f}" for value in (one.ratio, one.low, one.high, one.adjusted_p))
    return [f"{one.before_ns:.1f}", f"{one.after_ns:.1f}", *ratios]


def _recorded(times: Times) -> Record:
    """The settings of a configuration for a record: the axes as an object, all others as text."""
    known, axes = _settings(times.sample)
    column = {"column": times.column} if times.column else {}
    return {**dict(_texts(known)), **({"axes": axes} if axes else {}), **column}


def _show_json(times: dict[Point, Times], verdicts: dict[Point, Verdict], bound: float) -> None:
    for point, one in verdicts.items():
        known = {"low": one.low, "high": one.high, "p": one.p, "p_adjusted": one.adjusted_p}
        record = {
            "schema": SCHEMA, "record": "comparison", **_recorded(times[point]),
            "before_ns": one.before_ns, "after_ns": one.after_ns, "ratio": one.ratio,
            **{name: None if math.isnan(value) else value for name, value in known.items()},
            "bound": bound / 100, "verdict": one.text,
        }  # fmt: skip
        print(json.dumps(record))


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit status."""
    arguments = _arguments(argv)
    return run(PROGRAM, lambda: _compare(arguments))


if __name__ == "__main__":
    end(main)
