"""Medians, their intervals and the CV against numbers computed by hand."""

from __future__ import annotations

import math

import pytest
from nearfar_report.statistics import coefficient_of_variation, coverage, interval_rank, summarize

# P(Binomial(n, 1/2) < k) by hand: n=8, k=1: 1/256; k=2: 9/256 = 3.5 %. n=9, k=2: 10/512 = 1.95 %, k=3: 46/512 = 9 %.
# n=24 (8 repetitions, 3 predecessors): k=7: 190051/2^24 = 1.13 %; k=8: 536155/2^24 = 3.2 %.


@pytest.mark.parametrize(
    ("n", "rank"),
    [(1, None), (2, None), (5, None), (6, 1), (7, 1), (8, 1), (9, 2), (11, 2), (12, 3), (20, 6), (24, 7), (100, 40)],
)
def test_interval_rank(n: int, rank: int | None) -> None:
    assert interval_rank(n) == rank


def test_coverage_is_that_of_the_binomial_distribution() -> None:
    assert coverage(8, 1) == pytest.approx(1 - 2 / 256)
    assert coverage(24, 7) == pytest.approx(1 - 2 * 190051 / 2**24)


def test_interval_is_the_tightest_that_suffices() -> None:
    for n in range(6, 200):
        rank = interval_rank(n)
        assert rank is not None
        assert coverage(n, rank) >= 0.95 > coverage(n, rank + 1)


def test_eight_values_reach_from_the_first_to_the_eighth() -> None:
    summary = summarize([8, 3, 1, 6, 2, 7, 5, 4])
    assert summary is not None
    assert (summary.median, summary.low, summary.high, summary.n) == (4.5, 1, 8, 8)
    assert summary.is_confidence_interval


def test_nine_values_leave_out_the_extremes() -> None:
    summary = summarize([1000, 9, 8, 7, 6, 5, 4, 3, -1000])
    assert summary is not None
    assert (summary.median, summary.low, summary.high) == (6, 3, 9)


def test_few_values_have_a_range_only() -> None:
    summary = summarize([3, 1, 2])
    assert summary is not None
    assert (summary.median, summary.low, summary.high, summary.is_confidence_interval) == (2, 1, 3, False)


def test_unmeasured_values_do_not_count() -> None:
    assert summarize([None, math.nan]) is None
    summary = summarize([None, 4.0, math.nan])
    assert summary is not None
    assert (summary.median, summary.n) == (4, 1)


def test_cv_uses_bessels_correction() -> None:
    # Mean 5, squared deviations 9 + 1 + 1 + 9 = 20, divided by 3 (not 4).
    assert coefficient_of_variation([2, 4, 6, 8]) == pytest.approx(math.sqrt(20 / 3) / 5)
    assert coefficient_of_variation([600, 400]) == pytest.approx(math.sqrt(20000) / 500)
    assert coefficient_of_variation([7, 7, 7]) == 0


@pytest.mark.parametrize("progress", [[], [5], [0, 0]])
def test_cv_undefined(progress: list[int]) -> None:
    assert coefficient_of_variation(progress) is None
