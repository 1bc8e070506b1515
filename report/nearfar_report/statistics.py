"""The statistics of the report: medians with order-statistic intervals, and fairness as CV of progress."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

CONFIDENCE = Fraction(95, 100)


@dataclass(frozen=True)
class Summary:
    """Median of n values with an interval: the CI of the median, or the range when n is too small for one."""

    median: float
    low: float
    high: float
    n: int
    is_confidence_interval: bool
    predicted: tuple[float, float] | None = None  # of a simulated time: the real machine's, in 90 of 100 cases
    factors: tuple[float, float] | None = None  # by which these were found from the simulated time
    beyond_optimum: bool = False  # whether the factors are of the time beyond work and waits alone

    @property
    def reach(self) -> tuple[float, float]:
        """From the lowest to the highest value that a picture shows of it."""
        low, high = self.predicted or (self.low, self.high)
        return min(self.low, low), max(self.high, high)

    def excludes(self, other: Summary) -> bool:
        """Whether the two intervals have no point in common."""
        return self.high < other.low or other.high < self.low


def interval_rank(n: int, confidence: Fraction = CONFIDENCE) -> int | None:
    """The largest k for which the k-th smallest and k-th largest of n values enclose the median often enough.

    The coverage of that interval is 1 - 2 P(Binomial(n, 1/2) < k), whatever the distribution. None when even
    the smallest and the largest value do not reach the confidence (n < 6 for 95 %).
    """
    allowed_below = (1 - confidence) / 2 * 2**n
    below = 0
    rank = 0
    while rank < n:
        below += math.comb(n, rank)
        if below > allowed_below:
            break
        rank += 1
    return rank or None


def coverage(n: int, rank: int) -> float:
    """The probability that the interval from the rank-th smallest to the rank-th largest holds the median."""
    return float(1 - Fraction(2 * sum(math.comb(n, i) for i in range(rank)), 2**n))


def median(ordered: Sequence[float]) -> float:
    """The median of ascending values."""
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2


def summarize(values: Iterable[float | None]) -> Summary | None:
    """Median and interval of the values that were measured; None when there is none."""
    ordered = sorted(float(value) for value in values if value is not None and not math.isnan(value))
    if not ordered:
        return None
    rank = interval_rank(len(ordered))
    k = rank or 1
    return Summary(median(ordered), ordered[k - 1], ordered[-k], len(ordered), rank is not None)


def coefficient_of_variation(progress: Sequence[int]) -> float | None:
    """Sample standard deviation (Bessel) over mean; None when undefined (fewer than two ranks, no progress)."""
    if len(progress) < 2 or sum(progress) == 0:
        return None
    mean = sum(progress) / len(progress)
    variance = sum((value - mean) ** 2 for value in progress) / (len(progress) - 1)
    return math.sqrt(variance) / mean
