"""The first section: which lock is to be taken, by speed and fairness together."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from report_builders import Outcome, ecsb
from test_report import table_rows

Report = Callable[..., Outcome]
Write = Callable[..., Path]


def runs(lock: str, progress: tuple[int, int], **changes: object) -> list[dict]:
    return [ecsb(lock, repetition, progress, **changes) for repetition in range(8)]


def test_lock_that_is_fast_by_bursts_does_not_look_best(report: Report, write: Write) -> None:
    samples = [*runs("cohort", (400, 400)), *runs("tas", (2000, 100)), *runs("mcs", (500, 500)), *runs("slow", (50, 40))]
    outcome = report(write("ecsb.jsonl", samples))
    assert (outcome.status, outcome.err) == (0, "")
    page = outcome.page
    assert page.index("Which lock for me?") < page.index("Empty critical section")
    assert {"which-lock.png", "which-lock.svg"} <= outcome.names
    assert "the fastest with which ranks got on alike (a variation of progress of at most 5 %) was mcs, 100 ns" in page
    assert "the default, cohort, took 1.25 times as long, with 0 %" in page
    rows = {row[0]: row[3] for row in table_rows(page) if len(row) == 4 and row[0] in ("tas", "mcs", "cohort", "slow")}
    assert list(rows) == ["tas", "mcs", "cohort", "slow"]  # the fastest first
    assert rows == {"tas": "–", "mcs": "–", "cohort": "mcs", "slow": "mcs"}


def test_small_variations_do_not_count(report: Report, write: Write) -> None:
    outcome = report(write("ecsb.jsonl", [*runs("a", (510, 500)), *runs("b", (400, 400)), *runs("c", (1000, 1))]))
    rows = {row[0]: row[3] for row in table_rows(outcome.page) if len(row) == 4 and row[0] in ("a", "b", "c")}
    assert rows == {"a": "–", "c": "a", "b": "a"}


def test_no_lock_is_even(report: Report, write: Write) -> None:
    outcome = report(write("ecsb.jsonl", [*runs("a", (900, 100)), *runs("b", (800, 100)), *runs("c", (1000, 1))]))
    assert "with no lock did all ranks get on alike" in outcome.page


def test_two_locks_or_one_rank_are_no_choice(report: Report, write: Write) -> None:
    two = report(write("two.jsonl", [*runs("a", (500, 500)), *runs("b", (400, 400))]))
    assert "Which lock" not in two.page
    alone = report(write("one.jsonl", [sample for lock in "abc" for sample in runs(lock, (500,))]))
    assert "Which lock" not in alone.page


def test_largest_number_of_ranks_counts(report: Report, write: Write) -> None:
    samples = [sample for lock in ("a", "b", "c") for progress in [(500, 500), (200,) * 4] for sample in runs(lock, progress)]
    outcome = report(write("ecsb.jsonl", samples))
    assert "4 ranks: the fastest first" in outcome.page and "2 ranks: the fastest first" not in outcome.page
