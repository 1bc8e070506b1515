"""Published points beside simulated ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from report_builders import Outcome, upb_samples
from test_report import UPB_TIMES, eight

Report = Callable[..., Outcome]
Write = Callable[..., Path]

POINT = {"benchmark": "ecsb", "lock": "cohort", "ranks": 2, "scenario": "", "ns": 777.0}


def published_in(folder: Path, *points: dict) -> Path:
    path = folder / "published.jsonl"
    path.write_text("".join(json.dumps(point) + "\n" for point in points))
    return path


def test_points_are_those_of_the_lock_and_ranks(write: Write, tmp_path: Path) -> None:
    from nearfar_report import published
    from nearfar_report.measurements import measurements
    from nearfar_report.results import read_all

    others = [{**POINT, "ranks": 3}, {**POINT, "lock": "mcs"}, {**POINT, "benchmark": "upb", "scenario": "1a"}]
    points = published.read(str(published_in(tmp_path, POINT, *others)))
    frame = measurements(read_all([str(write("r.jsonl", [*eight("cohort"), *eight("tas", sound=False)]))]))
    assert published.points_of(frame, points) == {("cohort", 2, ""): 777.0}
    unsound = {("ecsb", "tas", 2, ""): 5.0}
    assert published.points_of(frame, unsound) == {("tas (unsound)", 2, ""): 5.0}


def test_figures_with_points_say_so(report: Report, write: Write, tmp_path: Path) -> None:
    results = [write("e.jsonl", eight("cohort")), write("u.jsonl", upb_samples("cohort", UPB_TIMES))]
    upb = {**POINT, "benchmark": "upb", "scenario": "1a", "ranks": 4}
    note = "Crosses are published medians"
    for points, count in (((POINT,), 1), ((POINT, upb), 2), (({**POINT, "lock": "mcs"},), 0)):
        outcome = report("--published", published_in(tmp_path, *points), *results)
        assert outcome.status == 0, outcome.err
        assert outcome.page.count(note) == count


def test_curves_have_them_at_their_ranks(write: Write) -> None:
    from nearfar_report import benchmarks, place_figures
    from nearfar_report.measurements import measurements
    from nearfar_report.panels import panels
    from nearfar_report.results import read_all

    samples = [*eight("cohort"), *eight("cohort", ranks=3, iterations_per_rank=[1, 2, 3], iterations=6)]
    (panel,) = panels(measurements(read_all([str(write("r.jsonl", samples))])))
    known = {("cohort", 3, ""): 5.0, ("cohort", 4, ""): 6.0}
    drawn = place_figures._lines(benchmarks.known("ecsb"), panel, known)
    assert drawn.points == {("cohort", "time_ns"): {3: 5.0}}


@pytest.mark.parametrize("text", ["{}\n", "no\n", '{"benchmark": 1}\n'])
def test_other_files_are_refused(report: Report, write: Write, tmp_path: Path, text: str) -> None:
    (tmp_path / "other").write_text(text)
    outcome = report("--published", tmp_path / "other", write("e.jsonl", eight("cohort")))
    assert (outcome.status, "holds no published points" in outcome.err) == (2, True)
