"""Benchmarks that state themselves: their tables, figures, colours and titles."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from report_builders import STATEMENTS, Outcome, Record, ecsb, stated, stated_eight, statement, upb_samples
from test_axes import images
from test_bad_input import without
from test_report import UPB_TIMES, assert_figure, assert_self_contained, eight, table_rows

Report = Callable[..., Outcome]
Write = Callable[..., Path]


@pytest.fixture
def room(write: Write) -> Callable[..., Path]:
    """room(samples, **changes of the statement) -> path of a file that states its benchmark"""

    def write_file(samples: Sequence[Record], name: str = "r.jsonl", **changes: object) -> Path:
        return write(name, samples, statements={"room": statement(**changes)}, objects={"barrier": ["tree", "line"]})

    return write_file


def heads(page: str) -> list[list[str]]:
    return [re.findall(r"<th [^>]*>(.*?)</th>", row) for row in re.findall(r"<thead><tr>(.*?)</tr></thead>", page)]


def test_section_of_a_stated_benchmark(report: Report, room: Callable[..., Path]) -> None:
    outcome = report(room(stated_eight("line") + stated_eight("tree", 1.0)))
    assert (outcome.status, outcome.err) == (0, "")
    assert images(outcome) == {"room-bars.svg"}
    assert_figure(outcome.directory, "room-bars")
    page = outcome.page
    assert_self_contained(page)
    assert "<h2>Waiting room (room)</h2><p>" not in page  # the title has 'room' already
    assert "<h2>Waiting room</h2>\n<p>How long the last one waits. Source: Moe 1999.</p>" in page
    assert ["Barrier", "World", "Nodes", "Ranks", "n", "round in µs", "late ranks"] in heads(page)
    assert "<li>round in µs: from the first to the last.</li><li>late ranks: that came last.</li>" in page
    rows = [row for row in table_rows(page) if row[1:2] == ["MPI"]]
    assert rows == [
        ["tree", "MPI", "1", "2", "8", "1.04 [1.00, 1.07]", "3 [3, 3]"],
        ["line", "MPI", "1", "2", "8", "2.04 [2.00, 2.07]", "3 [3, 3]"],
    ]
    assert "statements" not in page and "no figures for this benchmark" not in page


def test_heads_say_in_words_what_is_measured(report: Report, write: Write) -> None:
    """Files of older versions lack this field."""
    samples = [{**one, "rw_lock": "rma_rw"} for one in stated_eight("tree")]
    for said, head in (({"kind_title": "reader-writer lock"}, "Reader-writer lock"), ({}, "Rw lock")):
        for columns in (statement()["columns"], []):
            path = write("r.jsonl", samples, statements={"room": statement(kind="rw_lock", columns=columns, **said)})
            assert head in [row[0] for row in heads(report(path).page)]


def test_remarks_on_what_was_counted_are_on_the_page(report: Report, room: Callable[..., Path]) -> None:
    remarks = [{"name": "refused", "meaning": "guests found no seat"}, {"name": "asleep", "meaning": "guests slept"}]
    samples = [{**one, "refused": count, "asleep": 0} for count, one in enumerate(stated_eight("tree"))]
    assert "r: room: refused: 28 guests found no seat." in report(room(samples, remarks=remarks)).page
    assert "guests slept" not in report(room(samples, remarks=remarks)).page


def test_numeric_axis_is_what_the_figure_runs_along(report: Report, room: Callable[..., Path]) -> None:
    samples = [
        s for work in (1000, 0, 50.0) for name in ("tree", "line")
        for s in stated_eight(name, 1 + work, axes={"work": work, "place": "near"})
    ]  # fmt: skip
    outcome = report(room(samples))
    assert images(outcome) == {"room-curves.svg"}
    assert_figure(outcome.directory, "room-curves")
    assert "round in µs over work in ns (MPI world, 1 node, 2 ranks)" in outcome.page
    assert ["Barrier", "World", "Nodes", "Ranks", "work in ns", "n", "round in µs", "late ranks"] in heads(outcome.page)
    assert "work in ns: done between two rounds." in outcome.page
    rows = [row[:5] for row in table_rows(outcome.page) if row[1:2] == ["MPI"]]
    assert rows == [[name, "MPI", "1", "2", work] for work in ("0", "50", "1000") for name in ("tree", "line")]


def test_figure_runs_along_what_took_most_values(report: Report, room: Callable[..., Path]) -> None:
    samples = [
        s for ranks in (2, 4, 8) for work in (0, 50) for depth in (1, 2)
        for s in stated_eight("tree", axes={"work": work, "depth": depth}, ranks=ranks)
    ]  # fmt: skip
    page = report(room(samples)).page
    assert "round in µs over ranks (MPI world, 1 node)" in page
    page = report(room([one for one in samples if one["ranks"] < 8])).page
    assert "round in µs over work in ns (MPI world, 1 node, 4 ranks)" in page


def test_sections_of_files_for_themselves(report: Report, room: Callable[..., Path]) -> None:
    one = room([s for ranks in (1, 2, 4) for s in stated_eight("tree", ranks=ranks)], "one.jsonl")
    other = room(stated_eight("line"), "other.jsonl")
    outcome = report("--section", "First of all", "--section", "Then", one, other)
    assert outcome.status == 0, outcome.err
    assert images(outcome) == {"one-room-curves.svg", "other-room-bars.svg"}
    assert re.findall("<h2>(.*?)</h2>", outcome.page)[:2] == ["First of all", "Then"]
    assert "one-room-curves.svg" in outcome.page
    refused = report("--section", "First of all", one, other)
    assert (refused.status, "for each file" in refused.err) == (2, True)


def test_axes_of_words_are_told_in_the_names_of_curves(room: Callable[..., Path]) -> None:
    from nearfar_report import generic
    from nearfar_report.measurements import measurements
    from nearfar_report.results import read_all

    samples = [
        s for work in (0, 50) for place in ("near", "far") for ranks in (2, 4)
        for s in stated_eight("tree", axes={"place": place, "work": work}, ranks=ranks)
    ]  # fmt: skip
    files = read_all([str(room(samples))])
    frame = measurements(files)
    said = files[0].statements["room"]
    assert [table.heads[2] for table in generic.stated_tables("room", said, frame)] == ["place"]
    drawn = generic.stated_pictures("room", said, frame, frame, {})
    assert [one.name for one in drawn] == ["room-curves-1", "room-curves-2"]
    assert "MPI world, 1 node, 4 ranks" in drawn[1].caption
    assert generic._axis(said, frame) == "work"
    series = generic.name_series(frame, ["work"])
    assert set(series) == {"tree (place=far)", "tree (place=near)"}


def test_ranks_and_nodes_are_axes_of_figures(report: Report, room: Callable[..., Path]) -> None:
    outcome = report(room([s for ranks in (1, 2, 4) for s in stated_eight("tree", ranks=ranks)]))
    assert images(outcome) == {"room-curves.svg"}
    assert "over ranks (MPI world, 1 node)" in outcome.page
    outcome = report(room([s for nodes in (1, 2, 4) for s in stated_eight("tree", ranks=4, nodes=nodes)], "n.jsonl"))
    assert "over nodes (MPI world, 1 to 4 nodes, 4 ranks)" in outcome.page


def test_cases_are_told_apart(report: Report, room: Callable[..., Path]) -> None:
    samples = [s for door in ("in", "out") for s in stated_eight("tree", door=door)]
    outcome = report(room(samples, case="door"))
    assert ["Barrier", "World", "Door", "Nodes", "Ranks", "n", "round in µs", "late ranks"] in heads(outcome.page)
    rows = [row[:6] for row in table_rows(outcome.page) if row[1:2] == ["MPI"]]
    assert rows == [["tree", "MPI", door, "1", "2", "8"] for door in ("in", "out")]
    assert "(MPI world, 1 node, 2 ranks, door in; MPI world, 1 node, 2 ranks, door out)" in outcome.page


def test_what_was_not_measured(report: Report, room: Callable[..., Path]) -> None:
    nothing = [stated("tree", r, None) for r in range(8)]
    outcome = report(room(nothing))
    rows = [row for row in table_rows(outcome.page) if row[1:2] == ["MPI"]]
    assert rows == [["tree", "MPI", "1", "2", "8", "–", "3 [3, 3]"]]
    assert "Waiting room: late ranks (MPI world, 1 node, 2 ranks). Medians" in outcome.page
    outcome = report(room([{**one, "measured": {}} for one in nothing], "n.jsonl"), "--output", "other")
    assert outcome.out == "other/index.html\n"
    assert {path.name for path in (outcome.directory.parent / "other").iterdir()} == {"index.html"}


def test_void_samples_of_other_objects(report: Report, room: Callable[..., Path]) -> None:
    samples = stated_eight("tree", axes={"work": 5})
    samples[2]["verified"] = False
    samples[3] = {**samples[3], "iterations": 0, "iterations_per_rank": [0, 0]}
    outcome = report(room(samples))
    assert outcome.status == 1
    lines = outcome.err.splitlines()
    place = "room tree, mpi, nodes 1, ranks 2, work 5"
    assert f"verified is false: the result was wrong ({place}, repetition 2)" in lines[0]
    assert "no iteration at all in the measured time" in lines[1]


def test_other_objects_need_nothing_of_locks(write: Write, room: Callable[..., Path]) -> None:
    from nearfar_report.results import ResultsError, read_all

    read_all([str(room([stated()]))])
    with pytest.raises(ResultsError, match=":2: required field 'barrier' is missing"):
        read_all([str(room([without(stated(), "barrier")]))])
    with pytest.raises(ResultsError, match=":2: required field 'lock' is missing"):  # the record does not name its object
        read_all([str(write("u.jsonl", [stated()]))])
    with pytest.raises(ResultsError, match=":2: required field 'contended' is missing"):
        lock = {**stated(), "lock": "tas"}
        read_all([str(room([lock], kind="lock"))])


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"statements": 3}, "field 'statements' is not an object"),
        ({"statements": {"room": []}}, "field 'statements.room' is not an object"),
        ({"statements": {"room": {}}}, "required field 'statements.room.kind' is missing"),
        ({"statements": {"room": statement(title=3)}}, "field 'statements.room.title' is 3, but must be a text"),
        ({"statements": {"room": statement(case=3)}}, "field 'statements.room.case' is 3"),
        ({"statements": {"room": statement(axes={})}}, "field 'statements.room.axes' is {}, but must be a list"),
        (
            {"statements": {"room": statement(columns=[{"name": "x"}, {}])}},
            "required field 'statements.room.columns[1].name' is missing",
        ),
        (
            {"statements": {"room": statement(columns=[{"name": "x", "digits": -1}])}},
            "field 'statements.room.columns[0].digits' is -1",
        ),
        ({"statements": {"room": statement(figure="round")}}, "field 'statements.room.figure' is \"round\""),
        ({"statements": {"room": statement(choice=1)}}, "field 'statements.room.choice' is 1"),
        ({"statements": {"room": statement(cases=[])}}, "field 'statements.room.cases' is not an object"),
        (
            {"statements": {"room": statement(cases={"part": "a", "column": "b", "parts": {"1": 2}, "columns": {}})}},
            "field 'statements.room.cases.parts' is",
        ),
        (
            {"statements": {"room": statement(columns=[{"name": "x", "relative": {}}])}},
            "required field 'statements.room.columns[0].relative.object' is missing",
        ),
        ({"steady": 3}, "field 'steady' is not an object"),
        ({"steady": {"drift": 0.1}}, "required field 'steady.turns' is missing"),
        ({"steady": {"drift": 0, "turns": 1}}, "field 'steady.drift' is 0"),
    ],
)
def test_wrong_provenance(write: Write, changes: Record, fault: str) -> None:
    from nearfar_report.results import ResultsError, read_all

    with pytest.raises(ResultsError, match=f":1: {re.escape(fault)}"):
        read_all([str(write("a.jsonl", [ecsb()], **changes))])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("axes", []), ("axes", {"work": None}), ("axes", {"work": [1]}), ("axes", {"work": ""}), ("effort", 1),
        ("measured", {"round": "x"}), ("measured", 3), ("barrier", ""),
    ],
)  # fmt: skip
def test_wrong_value(room: Callable[..., Path], field: str, value: object) -> None:
    from nearfar_report.results import ResultsError, read_all

    with pytest.raises(ResultsError, match=f":2: field '{field}' is .*, but must be "):
        read_all([str(room([stated(**{field: value})]))])


def test_titles_have_the_name_of_the_benchmark(report: Report, write: Write) -> None:
    said = statement(kind="lock", title="taking it in turn", summary="All at once.")
    samples = [*eight("cohort"), *upb_samples("cohort", UPB_TIMES)]
    page = report(write("s.jsonl", samples, benchmark="sweep", statements={**STATEMENTS, "ecsb": said}, study={"file": "x"})).page
    assert "<h2>Taking it in turn (ecsb)</h2>\n<p>All at once. Time per acquisition is the measured time" in page
    assert "Source: Moe 1999.</p>" in page
    assert "<h2>Uncontested performance (UPB)</h2>" in page


def test_locks_and_other_objects_keep_their_colours(write: Write, room: Callable[..., Path]) -> None:
    from nearfar_report.measurements import measurements
    from nearfar_report.results import read_all
    from nearfar_report.styles import looks

    alone = measurements(read_all([str(write("e.jsonl", eight("tas") + eight("mcs")))]))
    paths = [room(stated_eight("line") + stated_eight("tree")), write("e.jsonl", eight("tas") + eight("mcs"))]
    both = measurements(read_all([str(path) for path in paths]))
    of_locks = both[both["benchmark"] == "ecsb"]
    assert looks(both, of_locks) == looks(alone, alone)
    of_room = looks(both, both[both["benchmark"] == "room"])
    colours = [looks(alone, alone)[name].colour for name in ("mcs", "tas")]
    assert [of_room[name].colour for name in ("tree", "line")] == colours


def test_what_is_only_recorded_is_in_a_table_of_its_own(report: Report, room: Callable[..., Path]) -> None:
    columns = [
        {"name": "round", "title": "round", "unit": "µs", "standing": "judged"},
        {"name": "late", "title": "late ranks", "standing": "shown"},
        {"name": "worst", "title": "worst rank", "digits": 0, "standing": "recorded"},
        {"name": "none", "title": "never", "standing": "recorded"},
    ]
    samples = [{**one, "measured": {**one["measured"], "worst": 7}} for one in stated_eight("tree")]
    page = report(room(samples, columns=columns)).page
    place = ["Barrier", "World", "Nodes", "Ranks", "n"]
    assert heads(page)[-2:] == [[*place, "round in µs", "late ranks"], [*place, "late ranks", "worst rank"]]
    assert [row for row in table_rows(page) if row[:2] == ["tree", "MPI"]][-1][-1] == "7 [7, 7]"
    assert "Waiting room, in detail: median" in page
    before = report(room(stated_eight("tree"), columns=columns[:1])).page
    assert "in detail" not in before  # no sample has it


def test_latencies_of_locks_are_in_the_details_of_their_sections(report: Report, write: Write) -> None:
    columns = [{"name": "time", "unit": "ns"}, {"name": "acquire_p99", "title": "99th", "unit": "ns", "standing": "shown"}]
    cases = {"ecsb": None, "upb": "scenario"}
    stating = {name: statement(kind="lock", title=name, case=case, columns=columns) for name, case in cases.items()}
    measured = {"measured": {"time": 1, "acquire_p99": 250}}
    paths = [
        write(f"{name}.jsonl", samples, statements=stating)
        for name, samples in [("ecsb", eight("mcs", **measured)), ("upb", upb_samples("mcs", UPB_TIMES, **measured))]
    ]
    outcome = report(*paths)
    assert outcome.err == ""
    page = outcome.page
    assert [row[-1] for row in heads(page)].count("99th in ns") == 3
    assert sum(row[-1].startswith("250") for row in table_rows(page)) >= 2


def test_ratio_to_another_object_in_the_same_repetition(report: Report, room: Callable[..., Path]) -> None:
    """The duration decides; an axis that only one of the two has does not count."""
    ratio = {"name": "ratio", "title": "times of tree", "digits": 2, "relative": {"object": "tree", "alike": ["depth"]}}
    samples = [
        {**stated(name, r, axes={"work": work, **more}), "duration_ns": factor * (1 + r) * 1000 * (1 + work)}
        for name, factor, more in [("tree", 1, {"depth": 1}), ("tree", 5, {"depth": 2}), ("line", 10, {"depth": 2, "way": 1})]
        for work in (0, 9) for r in range(8)
    ]  # fmt: skip
    text = report(room(samples, columns=[*statement()["columns"], ratio], figure=["round", "ratio"]), "--text").out
    rows = [[cell.strip() for cell in line.split("|")] for line in text.splitlines() if "| MPI |" in line]
    assert {(row[1], row[-2]) for row in rows} == {("tree", "1.00 [1.00, 1.00]"), ("line", "2.00 [2.00, 2.00]")}


def test_columns_of_the_figure_share_a_picture(report: Report, room: Callable[..., Path]) -> None:
    outcome = report(room(stated_eight("tree"), figure=["round", "late"], notes=["The last one waits."]))
    assert "Waiting room: round and late ranks (MPI world, 1 node, 2 ranks). Medians; whiskers" in outcome.page
    assert "The last one waits." in outcome.page
