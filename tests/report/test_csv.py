"""Samples as CSV: results for a spreadsheet or another program."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

from report_builders import Outcome, ecsb, loop

Report = Callable[..., Outcome]
Write = Callable[..., Path]


def rows_of(outcome: Outcome) -> list[dict[str, str]]:
    assert not outcome.directory.exists()
    return list(csv.DictReader(io.StringIO(outcome.out), strict=True))


def test_a_line_for_each_sample_with_all_that_it_has(report: Report, write: Write) -> None:
    first = {**ecsb(), "axes": {"work": 2, "far": True}, "parameters": {"name": 'a, "b"\nc'}}
    second = {**ecsb(repetition=1), "parameters": {"other": 0.5}}
    outcome = report("--csv", write("a.jsonl", [first, second]))
    assert (outcome.status, outcome.err) == (0, "")
    one, two = rows_of(outcome)
    assert one["file"].endswith("a.jsonl")
    assert (one["schema"], one["record"], one["benchmark"]) == ("nearfar.results/1", "sample", "ecsb")
    assert (one["axes.work"], one["axes.far"], one["parameters.name"]) == ("2", "true", 'a, "b"\nc')
    assert (two["axes.work"], two["parameters.name"], two["parameters.other"]) == ("", "", "0.5")
    assert (two["repetition"], two["iterations_per_rank"]) == ("1", " ".join(map(str, second["iterations_per_rank"])))
    for name, value in first.items():
        if not isinstance(value, (dict, list)) and value is not None:
            assert one[name] == (str(value).lower() if isinstance(value, bool) else str(value)), name


def test_several_files_and_kinds_are_one_table(report: Report, write: Write) -> None:
    outcome = report("--csv", write("a.jsonl", [ecsb()]), write("b.jsonl", [loop()]))
    assert outcome.status == 0
    one, two = rows_of(outcome)
    assert (one["lock"], one["container"]) == (ecsb()["lock"], "")
    assert (two["lock"], two["container"]) == ("", loop()["container"])


def test_void_samples_are_there_and_say_so(report: Report, write: Write) -> None:
    outcome = report("--csv", write("a.jsonl", [ecsb(verified=False)]))
    assert (outcome.status, outcome.err) == (0, "")
    assert [row["verified"] for row in rows_of(outcome)] == ["false"]


def test_a_run_that_ended_early_says_so(report: Report, write: Write) -> None:
    outcome = report("--csv", write("a.jsonl", [ecsb()], records_expected=2))
    assert outcome.status == 3 and "a.jsonl: the run ended after 1 of 2 samples" in outcome.err
    assert len(rows_of(outcome)) == 1


def test_one_form_at_a_time(report: Report, write: Write) -> None:
    outcome = report("--csv", "--text", write("a.jsonl", [ecsb()]))
    assert outcome.status == 2 and outcome.out == ""
