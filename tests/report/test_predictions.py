"""Predictions for the real machine beside simulated times."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from report_builders import Outcome, ecsb, upb_samples
from test_report import UPB_TIMES, eight

Report = Callable[..., Outcome]
Write = Callable[..., Path]

SENTENCE = "Simulated: in 90 of 100 cases the real machine&#x27;s time lies "
LINES, FACTORS = SENTENCE + "on the pale lines.", SENTENCE + "between 0.50 and 3.00 times the simulated time."
ON_NODES = SENTENCE + (
    "between 0.50 and 3.00 or 0.80 and 4.00 times the simulated time, depending on the machine and its number of nodes."
)


def predicted(samples: list[dict], low: float = 0.5, high: float = 3) -> list[dict]:
    """The samples, each with an interval between these multiples of its time."""
    return [
        {**one, "predicted_low": one["measured"]["time"] * low, "predicted_high": one["measured"]["time"] * high}
        for one in samples
    ]  # fmt: skip


def curves(locks: int, of_three: tuple[float, float] = (0.5, 3)) -> list[dict]:
    """Locks with 2 and 3 ranks. `of_three`: the interval's factors with 3 ranks."""
    return [
        sample for i in range(locks) for ranks, factors in ((2, (0.5, 3)), (3, of_three))
        for sample in predicted([ecsb(f"lock{i}", r, [500 + r] * ranks) for r in range(8)], *factors)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("samples", "sentence"),
    [
        (predicted(eight("cohort")), LINES),
        (predicted(upb_samples("cohort", UPB_TIMES)), LINES),
        (curves(3), LINES),
        (curves(4), FACTORS),
        (curves(4, (0.8, 4)), ON_NODES),
        (eight("cohort"), None),
    ],
)
def test_captions_say_where(report: Report, write: Write, samples: list[dict], sentence: str | None) -> None:
    outcome = report(write("r.jsonl", samples))
    assert outcome.status == 0, outcome.err
    assert ("Simulated: in 90 of 100" in outcome.page) == (sentence is not None)
    assert sentence is None or sentence in outcome.page


def test_the_time_alone_has_one(write: Write) -> None:
    from nearfar_report.column import Column
    from nearfar_report.generic import measured_columns
    from nearfar_report.measurements import measurements
    from nearfar_report.panels import bars, panels
    from nearfar_report.results import read_all

    (file,) = read_all([str(write("r.jsonl", predicted(eight("cohort"))))])
    statement = file.samples[0].statement
    columns, frame = measured_columns(statement, measurements([file]))
    (panel,) = panels(frame)
    drawn = bars(panel, [*columns, Column("cv_percent", "")])
    for (_, key, _), summary in drawn.cells.items():
        if key == "measured time":
            assert summary.predicted == pytest.approx((summary.median / 2, summary.median * 3))
            assert summary.reach == summary.predicted
        else:
            assert summary.predicted is None
            assert summary.reach == (summary.low, summary.high)


def test_axes_have_room_for_what_is_drawn(write: Write) -> None:
    from nearfar_report.charts import curve_chart
    from nearfar_report.column import Column, key_of
    from nearfar_report.generic import measured_columns
    from nearfar_report.measurements import measurements
    from nearfar_report.panels import lines, panels
    from nearfar_report.results import read_all
    from nearfar_report.styles import looks

    tops = []
    for locks in (3, 4):
        (file,) = read_all([str(write("r.jsonl", curves(locks)))])
        _, frame = measured_columns(file.samples[0].statement, measurements([file]))
        (panel,) = panels(frame)
        column = Column(key_of("time"), "ns")
        drawn = lines(panel, [column])
        figure = curve_chart(drawn, column, looks(frame, frame))
        highest = max(one.median for curve in drawn.curves.values() for one in curve.values())
        tops.append(figure.axes[0].get_ylim()[1] / highest)
    assert tops[0] > 3 > tops[1]


def test_work_and_waits_have_no_factor(report: Report, write: Write) -> None:
    samples = curves(4)
    for one in samples:
        half = one["measured"]["time"] / 2
        one |= {"optimum_ns": half, "predicted_low": half + half * 0.5, "predicted_high": half + half * 3}
    outcome = report(write("r.jsonl", samples))
    assert outcome.status == 0, outcome.err
    assert (
        "the real machine&#x27;s time beyond work and waits lies between 0.50 and 3.00 times the simulated time beyond "
        "work and waits."
    ) in outcome.page
    below = [{**one, "optimum_ns": one["predicted_low"] + 1} for one in curves(4)]
    assert "in 90 of 100" not in report(write("below.jsonl", below)).page


def test_captions_name_the_curves_without_one(report: Report, write: Write) -> None:
    without = [ecsb("tas", r, [500 + r] * ranks) for r in range(8) for ranks in (2, 3)]
    outcome = report(write("r.jsonl", [*curves(3), *without]))
    assert outcome.status == 0, outcome.err
    captions = [part.partition("</figcaption>")[0] for part in outcome.page.split("<figcaption>")[1:]]
    assert sum(f"{FACTORS} No such interval is known for tas." in caption for caption in captions) == 2
    assert outcome.page.count("No such interval") == 2
    measured = [
        {**ecsb(f"other{i}", r, [500 + r] * ranks), "world": "threads"} for i in range(4) for r in range(8) for ranks in (2, 3)
    ]  # fmt: skip
    assert "No such interval" not in report(write("of_both.jsonl", [*curves(4), *measured])).page
    partly = [{**one, "predicted_low": None} if one["lock"] == "lock1" and one["ranks"] == 3 else one for one in curves(4)]
    for lacking, named in ([], "some points of lock1"), (without, "tas and some points of lock1"):
        page = report(write("partly.jsonl", [*partly, *lacking])).page
        assert f"{FACTORS} No such interval is known for {named}." in page


def test_all_repetitions_have_one_or_none(report: Report, write: Write) -> None:
    samples = predicted(eight("cohort"))
    samples[0] |= {"predicted_low": None, "predicted_high": None}
    outcome = report(write("r.jsonl", samples))
    assert outcome.status == 0, outcome.err
    assert "in 90 of 100" not in outcome.page


def test_a_prediction_begins_before_it_ends(report: Report, write: Write) -> None:
    outcome = report(write("r.jsonl", predicted(eight("cohort"), 3, 2)))
    assert outcome.status == 2
    assert "r.jsonl:2: 'predicted_low' is " in outcome.err


@pytest.mark.parametrize("low", ["x", [1], -1, True, 10**400])
def test_a_prediction_is_a_number(report: Report, write: Write, low: object) -> None:
    outcome = report(write("r.jsonl", [{**one, "predicted_low": low} for one in predicted(eight("cohort"))]))
    assert outcome.status == 2
    assert "field 'predicted_low' is" in outcome.err


def test_a_prediction_is_finite(report: Report, write: Write) -> None:
    file = write("r.jsonl", predicted(eight("cohort")))
    file.write_text(re.sub(r'("predicted_high": *)[0-9.]+', r"\g<1>1e999", file.read_text()))
    outcome = report(file)
    assert outcome.status == 2
    assert "field 'predicted_high' is" in outcome.err


def test_the_choice_of_a_lock_has_one(report: Report, write: Write) -> None:
    outcome = report(write("r.jsonl", curves(4)))
    assert outcome.status == 0, outcome.err
    caption = outcome.page[outcome.page.index("Speed beside fairness.") :]
    assert FACTORS in caption[: caption.index("</figcaption>")]
