"""Axes tell configurations apart: names of series, curves over ranks and nodes, and what is steady."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from report_builders import Outcome, Record, ecsb, upb_samples
from test_report import UPB_TIMES, eight, table_rows

Report = Callable[..., Outcome]
Write = Callable[..., Path]


def images(outcome: Outcome) -> set[str]:
    return {name for name in outcome.names if name.endswith(".svg")}


def curves(frame_files: Sequence[Path], benchmark: str = "ecsb") -> dict[str, dict[str, list[float]]]:
    """By panel and series the places of the markers of the first quantity."""
    from nearfar_report.column import Column
    from nearfar_report.measurements import measurements
    from nearfar_report.panels import lines, panels
    from nearfar_report.results import read_all

    frame = measurements(read_all([str(path) for path in frame_files]))
    drawn = [lines(panel, [Column("time_ns", "")]) for panel in panels(frame[frame["benchmark"] == benchmark]) if panel.is_curve]
    return {one.title: {series: sorted(one.curves[series, "time_ns"]) for series in one.series} for one in drawn}


def test_axes_are_shown_where_they_differ(report: Report, write: Write) -> None:
    samples = [s for work in (50, 0) for s in eight("cohort", axes={"work": work, "same": 1})]
    page = report(write("a.jsonl", samples)).page
    rows = [row[:5] for row in table_rows(page) if row[1:2] == ["MPI"]]
    assert rows == [["cohort", "MPI", "1", "2", "0"], ["cohort", "MPI", "1", "2", "50"]]
    assert "same=1" not in page


def test_truth_values_are_names(report: Report, write: Write) -> None:
    samples = [s for progress in (True, False) for s in eight("cohort", axes={"progress": progress})]
    outcome = report(write("a.jsonl", samples))
    rows = [row[:3] for row in table_rows(outcome.page) if row[1:2] == ["MPI"]]
    assert rows == [["cohort", "MPI", "false"], ["cohort", "MPI", "true"]]
    assert images(outcome) == {"ecsb-bars.svg"}


def test_parameters_and_axes_share_the_brackets(write: Write) -> None:
    from nearfar_report.measurements import measurements
    from nearfar_report.results import read_all

    samples = [
        s for passes in (50, 10) for work in ("b", 0)
        for s in eight("tas", axes={"work": work}, parameters={"p": passes})
    ]  # fmt: skip
    names = measurements(read_all([str(write("a.jsonl", samples))]))["series"]
    assert list(names.unique()) == [f"tas (p={passes}, work={work})" for passes in (50, 10) for work in ("0", "b")]


def test_no_curve_connects_values_of_an_axis(write: Write) -> None:
    """Not even where they never meet at one number of ranks."""
    pairs = ((2, 0), (4, 0), (4, 9), (8, 9), (16, 7))
    samples = [s for ranks, work in pairs for s in spread([(1, ranks)], axes={"work": work})]
    assert curves([write("a.jsonl", samples)]) == {
        "MPI world, 1 node": {"mcs (work=0)": [2, 4], "mcs (work=7)": [16], "mcs (work=9)": [4, 8]}
    }


def test_effort_does_not_tell_configurations_apart(report: Report, write: Write) -> None:
    samples = [ecsb("mcs", r, effort={"duration": r}) for r in range(8)]
    rows = [row for row in table_rows(report(write("a.jsonl", samples)).page) if row[1:2] == ["MPI"]]
    assert [row[:5] for row in rows] == [["mcs", "MPI", "1", "2", "8"]]


def spread(pairs: Sequence[tuple[int, int]], **changes: object) -> list[Record]:
    """Samples for each number of nodes and of ranks."""
    return [ecsb("mcs", r, [100 + r] * ranks, nodes=nodes, **changes) for nodes, ranks in pairs for r in range(8)]


def test_sweep_over_nodes_and_ranks(report: Report, write: Write) -> None:
    """Every number of ranks on every number of nodes that can hold them."""
    path = write("a.jsonl", spread([(1, 1), (1, 2), (1, 4), (2, 2), (2, 4), (4, 4)]), benchmark="sweep")
    assert curves([path]) == {"MPI world, 1 node": {"mcs": [1, 2, 4]}, "MPI world, 2 nodes": {"mcs": [2, 4]}}
    outcome = report(path)
    assert images(outcome) == {"ecsb-curves-1.svg", "ecsb-curves-2.svg", "ecsb-bars.svg"}
    assert "(MPI world, 4 nodes, 4 ranks)" in outcome.page


def test_sweep_over_nodes_with_ranks_on_each(write: Write) -> None:
    path = write("a.jsonl", spread([(nodes, nodes * each) for nodes in (1, 2, 4) for each in (1, 2, 4)]))
    assert curves([path]) == {
        "MPI world, 1 node": {"mcs": [1, 2, 4]}, "MPI world, 2 nodes": {"mcs": [2, 4, 8]},
        "MPI world, 4 nodes": {"mcs": [4, 8, 16]},
    }  # fmt: skip


def test_sweep_over_nodes_alone(report: Report, write: Write) -> None:
    path = write("a.jsonl", spread([(1, 4), (2, 4), (4, 4)]))
    assert curves([path]) == {"MPI world, 1 to 4 nodes, 4 ranks": {"mcs": [1, 2, 4]}}
    outcome = report(path)
    assert images(outcome) == {"ecsb-curves.svg"}
    assert " over nodes (MPI world, 1 to 4 nodes, 4 ranks)" in outcome.page


def test_threads_on_several_nodes_have_figures_of_their_own(report: Report, write: Write) -> None:
    pairs = [(1, 2), (1, 4), (2, 2), (2, 4)]
    outcome = report(write("a.jsonl", spread(pairs, world="threads")))
    assert images(outcome) == {"ecsb-curves-1.svg", "ecsb-curves-2.svg"}
    outcome = report(write("b.jsonl", spread(pairs[:2], world="threads")))
    assert "ecsb-curves.svg" in images(outcome)


def test_bounds_of_steadiness_are_those_of_the_file(report: Report, write: Write) -> None:
    samples = [{**one, "drift": 1.15} for one in eight("mcs")]  # 400 turns of the rank with the fewest
    assert "mcs (not steady)" in report(write("a.jsonl", samples)).page
    assert "not steady" not in report(write("b.jsonl", samples, steady={"drift": 0.2, "turns": 10})).page
    assert "not steady" not in report(write("c.jsonl", samples, steady={"drift": 0.2, "turns": 400})).page
    assert "mcs (not steady)" in report(write("d.jsonl", samples, steady={"drift": 0.2, "turns": 401})).page


def test_steadiness_of_one_benchmark_says_nothing_of_another(report: Report, write: Write) -> None:
    samples = [{**one, "drift": 3.0} for one in eight("mcs")] + upb_samples("mcs", UPB_TIMES)
    page = report(write("a.jsonl", samples)).page
    assert "mcs (not steady)" in page and "partly" not in page
    assert any(row[:4] == ["mcs", "MPI", "2", "4"] for row in table_rows(page))
