"""Published points beside simulated ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from report_builders import Outcome, ecsb, upb_samples
from test_report import UPB_TIMES, eight, table_rows

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
    from nearfar_report import generic
    from nearfar_report.column import Column
    from nearfar_report.measurements import measurements
    from nearfar_report.panels import lines, panels
    from nearfar_report.results import read_all

    samples = [*eight("cohort"), *eight("cohort", ranks=3, iterations_per_rank=[1, 2, 3], iterations=6)]
    (panel,) = panels(measurements(read_all([str(write("r.jsonl", samples))])))
    known = {("cohort", 3, ""): 5.0, ("cohort", 4, ""): 6.0}
    drawn = generic._with_curve_crosses(lines(panel, [Column("time_ns", "")]), panel, known)
    assert drawn.points == {("cohort", "measured time"): {3: 5.0}}


@pytest.mark.parametrize("text", ["{}\n", "no\n", '{"benchmark": 1}\n'])
def test_other_files_are_refused(report: Report, write: Write, tmp_path: Path, text: str) -> None:
    (tmp_path / "other").write_text(text)
    outcome = report("--published", tmp_path / "other", write("e.jsonl", eight("cohort")))
    assert (outcome.status, "holds no published points" in outcome.err) == (2, True)


def test_claims_of_one_repetition_are_not_judged(report: Report, write: Write, tmp_path: Path) -> None:
    """And the page says at its top that it is of a trial."""
    claims = [(True, "a is fast", "2 to 1"), (None, "b is slow", "3 to 1"), (None, "c is fair", "")]
    path = tmp_path / "claims.jsonl"
    path.write_text("".join(json.dumps({"holds": h, "claim": c, "found": f}) + "\n" for h, c, f in claims))
    page = report(write("a.jsonl", [ecsb("cohort")]), "--claims", path, "--notice", "This is a trial.").page
    assert page.index('<div class="notice">This is a trial.</div>') < page.index("<nav>")
    assert "Of 3 claims: 1 holds, 1 not measured, 1 not judged." in page
    rows = [row for row in table_rows(page) if row[1:2] in (["a is fast"], ["b is slow"], ["c is fair"])]
    assert [row[0] for row in rows] == ["holds", "not judged", "not measured"]
    assert "Not judged: each point has one repetition" in page
