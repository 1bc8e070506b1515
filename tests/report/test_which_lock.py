"""The first section: the choice of a lock by speed and fairness together."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from matplotlib.axes import Axes
from matplotlib.colors import same_color
from matplotlib.figure import Figure
from nearfar_report import which_lock
from nearfar_report.results import read_all
from report_builders import Outcome, ecsb
from test_report import table_rows

Report = Callable[..., Outcome]
Write = Callable[..., Path]


def runs(lock: str, progress: tuple[int, int], **changes: object) -> list[dict]:
    return [ecsb(lock, repetition, progress, **changes) for repetition in range(8)]


def test_lock_that_is_fast_by_bursts_does_not_look_best(report: Report, write: Write) -> None:
    samples = [*runs("cohort", (416, 384)), *runs("tas", (2000, 100)), *runs("mcs", (500, 500)), *runs("slow", (50, 40))]
    outcome = report(write("ecsb.jsonl", samples))
    assert (outcome.status, outcome.err) == (0, "")
    page = outcome.page
    assert page.index("<h2>Which lock for me?") < page.index("<h2>Empty critical section")
    assert {"which-lock.png", "which-lock.svg"} <= outcome.names
    assert "the fastest fair lock was mcs, 100 ns per acquisition. The default, cohort, took 1.25 times as long." in page
    assert "tas was faster, 47.6 ns, but not fair: its unfairness reached 128 %." in page
    rows = {row[0]: row[1:3] for row in table_rows(page) if len(row) == 5 and row[0] in ("tas", "mcs", "cohort", "slow")}
    assert list(rows) == ["tas", "mcs", "cohort", "slow"]  # the fastest first
    assert rows == {"tas": ["no", "–"], "mcs": ["yes", "–"], "cohort": ["yes", "mcs"], "slow": ["no", "mcs"]}


def test_lock_that_one_rank_takes_in_bursts_is_not_fair(report: Report, write: Write) -> None:
    """Even if both ranks get on alike in the end, and if the median hides it: the end of the interval counts."""
    bursts = runs("near_tas", (2000, 2000), followed_other_share=0.2)
    some = [ecsb("tts", r, (1000 + (r > 5) * 200, 1000)) for r in range(8)]
    samples = [*runs("cohort", (400, 400), followed_other_share=None), *bursts, *some]
    page = report(write("ecsb.jsonl", samples)).page
    assert "the fastest fair lock was cohort, 125 ns per acquisition. near_tas was faster, 25.0 ns," in page
    assert "but not fair: one rank took it in bursts." in page
    rows = {row[0]: row[1:3] for row in table_rows(page) if len(row) == 5 and row[0] in ("near_tas", "tts", "cohort")}
    assert rows == {"near_tas": ["bursts", "–"], "tts": ["no", "–"], "cohort": ["yes", "–"]}


def test_default_that_is_not_fair_is_not_compared(report: Report, write: Write) -> None:
    samples = [*runs("cohort", (900, 100)), *runs("a", (400, 400)), *runs("b", (300, 300))]
    page = report(write("ecsb.jsonl", samples)).page
    assert "The default, cohort, was not fair in this run, so their times do not compare." in page
    assert "times as long" not in page


def test_small_variations_do_not_count(report: Report, write: Write) -> None:
    outcome = report(write("ecsb.jsonl", [*runs("a", (510, 500)), *runs("b", (400, 400)), *runs("c", (1000, 1))]))
    rows = {row[0]: row[2] for row in table_rows(outcome.page) if len(row) == 5 and row[0] in ("a", "b", "c")}
    assert rows == {"a": "–", "c": "a", "b": "a"}


def test_no_lock_is_even(report: Report, write: Write) -> None:
    outcome = report(write("ecsb.jsonl", [*runs("a", (900, 100)), *runs("b", (800, 100)), *runs("c", (1000, 1))]))
    assert "2 ranks: no lock was fair." in outcome.page


def test_two_locks_or_one_rank_are_no_choice(report: Report, write: Write) -> None:
    two = report(write("two.jsonl", [*runs("a", (500, 500)), *runs("b", (400, 400))]))
    assert "Which lock" not in two.page
    alone = report(write("one.jsonl", [sample for lock in "abc" for sample in runs(lock, (500,))]))
    assert "Which lock" not in alone.page


def test_largest_number_of_ranks_counts(report: Report, write: Write) -> None:
    samples = [sample for lock in ("a", "b", "c") for progress in [(500, 500), (200,) * 4] for sample in runs(lock, progress)]
    outcome = report(write("ecsb.jsonl", samples))
    assert [float(row[3].split()[0]) for row in table_rows(outcome.page) if len(row) == 5 and row[0] == "a"] == [125]
    assert "4 ranks: the fastest first" in outcome.page and "2 ranks: the fastest first" not in outcome.page


def test_places_are_told_apart(report: Report, write: Write) -> None:
    """By nodes and worlds. Other objects, and results of other benchmarks, are left out."""
    samples = [sample for lock in "abc" for sample in runs(lock, (500, 500))]
    samples += [sample for lock in "abc" for sample in runs(lock, (500,) * 4, nodes=2)]
    samples += runs("d", (900, 900), benchmark="wbab") + runs("e", (900, 900), world="threads")
    page = report(write("ecsb.jsonl", samples)).page
    question = page[page.index("<h2>Which lock for me?") : page.index("<h2>Empty critical section")]
    assert question.count(": the fastest first") == 2
    assert "2 ranks: the fastest first" in question and "4 ranks: the fastest first" in question
    assert ["d" in row or "e" in row for row in table_rows(question)].count(True) == 0


@pytest.fixture
def drawn(write: Write, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Axes, str]]:
    """drawn(samples) -> the axes of the picture, which is not rendered, and the first note"""

    def axes_of(samples: list[dict]) -> tuple[Axes, str]:
        figures: list[Figure] = []
        monkeypatch.setattr(which_lock, "picture", lambda figure, *_: figures.append(figure))
        (section,) = which_lock.sections(read_all([str(write("ecsb.jsonl", samples))]))
        return figures[0].axes[0], section.notes[0]

    return axes_of


def markers(axes: Axes) -> dict[tuple[float, float], str]:
    """Where each marker is, and its colour: 'grey', or 'own'."""
    return {
        (round(float(line.get_xdata()[0]), 1), round(float(line.get_ydata()[0]), 1)):
            "grey" if same_color(line.get_color(), which_lock.BEATEN) else "own"
        for line in axes.lines if len(line.get_xdata()) == 1
    }  # fmt: skip


def names(axes: Axes) -> dict[str, tuple[float, float]]:
    return {text.get_text(): (round(float(text.xy[0]), 1), round(float(text.xy[1]), 1)) for text in axes.texts}


def test_picture_names_what_is_not_beaten_and_the_default(drawn: Callable[..., tuple[Axes, str]]) -> None:
    samples = [*runs("cohort", (400, 400)), *runs("tas", (2000, 100)), *runs("mcs", (500, 500)), *runs("slow", (50, 40))]
    axes, _ = drawn(samples)
    burst = (47.6, 128.0)  # ns, %: of 2000 and 100 in 100 us
    assert names(axes) == {"cohort": (125.0, 0.0), "tas": burst, "mcs": (100.0, 0.0)}
    assert markers(axes) == {(125.0, 0.0): "own", burst: "own", (100.0, 0.0): "own", (1111.1, 15.7): "grey"}
    for at, limits in zip(burst, (axes.get_xlim(), axes.get_ylim())):
        assert limits[0] < at < limits[1]
    assert axes.get_xlim()[0] < 47.6 and axes.get_xlim()[1] > 1111.1
    level = [line for line in axes.lines if list(line.get_ydata()) == [which_lock.EVEN] * 2]
    assert len(level) == 1 and level[0].get_linestyle() == ":"


def test_whiskers_are_the_intervals(drawn: Callable[..., tuple[Axes, str]]) -> None:
    # All of 8 repetitions, of which seven take 100 ns and one 125.
    samples = [*runs("a", (500, 500))[:7], ecsb("a", 7, (400, 400)), *runs("b", (400, 400)), *runs("c", (300, 300))]
    axes, _ = drawn(samples)
    whiskers = [segment for bars in axes.collections for segment in bars.get_segments()]
    assert [[round(float(value), 1) for value in end] for end in whiskers[0]] == [[100.0, 0.0], [125.0, 0.0]]


def test_settings_of_one_lock_are_joined(drawn: Callable[..., tuple[Axes, str]]) -> None:
    """In the order of their numbers, the first with its whole name."""
    samples = [*runs("a", (250, 250)), *runs("b", (1900, 100), parameters={"x": 1})]
    samples += runs("b", (1800, 100), parameters={"x": 2})  # two points are no curve
    for passes, each in [(100, 600), (5, 400), (20, 500)]:
        samples += runs("cohort", (each, each), parameters={"passes": passes})
    axes, note = drawn(samples)
    curves = [[round(float(x), 1) for x in line.get_xdata()] for line in axes.lines if line.get_linestyle() == "-" and len(line.get_xdata()) > 1]
    assert curves == [[125.0, 100.0, 83.3]]
    found = names(axes)
    assert found["cohort (passes=5)"] == (125.0, 0.0)
    assert found["20"] == (100.0, 0.0) and found["100"] == (83.3, 0.0)
    assert {"b (x=1)", "b (x=2)"} <= set(found)
    assert "was cohort (passes=100), 83.3 ns" in note and "the default" not in note  # the first one requested
    assert "b (x=1) was faster, 50.0 ns, but not fair: its unfairness reached 127 %." in note
