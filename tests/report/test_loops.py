"""Loops over containers in their earlier schema: curves, ratios to the array, figures of a publication."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from report_builders import LOOPS_SCHEMA, Outcome, ecsb, figure_of, loop, loop_eight, provenance, relax
from test_bad_input import assert_refused, without
from test_report import assert_figure, assert_self_contained, table_rows

Report = Callable[..., Outcome]
Write = Callable[..., Path]


def split(line: str) -> list[str]:
    return line.split("|")


def over_lengths(container: str, mflops: float = 500.0, **changes: object) -> list[dict]:
    return [s for length in (10, 1000, 100_000) for s in loop_eight(container, mflops, length=length, **changes)]


def test_curves_over_length(report: Report, write: Write) -> None:
    samples = over_lengths("array") + over_lengths("numa_vector", 400.0) + over_lengths("array", threads=1)
    outcome = report(write("t.jsonl", samples))
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.names == {
        "index.html", *(f"triad-curves-{panel}.{kind}" for panel in (1, 2) for kind in ("png", "svg"))
    }  # fmt: skip
    assert_figure(outcome.directory, "triad-curves-2")
    assert_self_contained(outcome.page)
    assert "Vector triad: performance, bandwidth and time / time of array over length (team world, 2 threads)" in outcome.page


def test_numbers_of_the_triad(report: Report, write: Write) -> None:
    samples = loop_eight("array", 100.0, length=10_000) + loop_eight("numa_vector", 50.0, length=10_000)
    rows = table_rows(report(write("t.jsonl", samples)).page)
    # 100..107 MFlop/s, median 103.5; 16 bytes a flop, 20 with reads for ownership; 100/50 to 107/57 of the time.
    place = ["numa_vector", "team", "1", "2", "8"]
    assert [*place, "53.5 [50.0, 57.0]", "0.86 [0.80, 0.91]", "1.935 [1.877, 2.000]"] in rows
    assert [*place, "1.07 [1.00, 1.14]"] in rows


def test_ratio_is_taken_in_the_same_repetition(report: Report, write: Write) -> None:
    # A machine that slows down: the ratio of each repetition is 2, those across repetitions are not.
    samples = [
        loop(name, r, speed * 2.0**-r) for r in range(8) for name, speed in (("array", 1000.0), ("vector-numa", 500.0))
    ]
    rows = table_rows(report(write("t.jsonl", samples)).page)
    assert next(row for row in rows if row[0] == "vector-numa")[-1] == "2.000 [2.000, 2.000]"


def test_ratio_takes_the_array_that_is_most_alike(report: Report, write: Write) -> None:
    samples = loop_eight("array", 100.0, initialisation="serial") + loop_eight("array", 200.0)
    samples += loop_eight("array", 400.0, stores="streaming")
    samples += loop_eight("numa_vector", 200.0, initialisation="allocator")
    samples += loop_eight("segmented", 400.0, stores="streaming")
    page = report(write("t.jsonl", samples), "--text").out
    rows = [row for row in map(split, page.splitlines()) if row[2:3] == [" team "]]
    ratios = {row[1].strip(): row[-2].strip() for row in rows[:5]}  # of the first table
    assert ratios["numa_vector"] == ratios["segmented"] == "1.000 [1.000, 1.000]"
    # An array is compared with itself.
    array = "array (initialisation={}, stores={})"
    assert ratios[array.format("serial", "regular")] == ratios[array.format("parallel", "streaming")]


def test_no_ratio_without_an_array(report: Report, write: Write) -> None:
    page = report(write("t.jsonl", loop_eight("vector"))).page
    assert "performance and bandwidth (team world, 2 threads)" in page
    assert next(row for row in table_rows(page) if row[0] == "vector")[-1] == "–"


def test_stream_and_relaxation(report: Report, write: Write) -> None:
    copy = [loop("array", r, None, benchmark="copy", gbytes_per_s=10.0 + r) for r in range(8)]
    grid = [
        relax(name, r, 100.0 + r, decomposition=d)
        for name in ("array", "segmented") for d in ("horizontal", "vertical") for r in range(8)
    ]  # fmt: skip
    outcome = report(write("c.jsonl", copy), write("r.jsonl", grid))
    assert {"stream-bars.png", "relax-bars.svg"} <= outcome.names
    rows = table_rows(outcome.page)
    copied = ["array", "team", "1", "2", "8", "13\u202f500 [10\u202f000, 17\u202f000]"]
    assert any(row[:6] == copied for row in rows)
    assert any(row[:6] == ["segmented", "team", "vertical", "1", "2", "8"] for row in rows)
    assert "MLup/s" in outcome.page


def test_chunks_are_an_axis(report: Report, write: Write) -> None:
    samples = [s for chunk in (0, 8, 512) for s in loop_eight("array", chunk=chunk)]
    outcome = report(write("t.jsonl", samples))
    assert "triad-curves.svg" in outcome.names
    assert "over chunk (team world, 2 threads)" in outcome.page


def test_locks_and_loops_share_a_page(report: Report, write: Write) -> None:
    locks = write("e.jsonl", [ecsb("cohort", r) for r in range(8)])
    outcome = report(locks, write("t.jsonl", over_lengths("array")))
    assert {"ecsb-bars.png", "triad-curves.png"} <= outcome.names
    assert outcome.page.index("Empty critical section") < outcome.page.index("Vector triad")


def test_void_loops_are_left_out_and_announced(report: Report, write: Write) -> None:
    samples = loop_eight("array")
    samples[2] = loop("array", 2, 1e6, verified=False)
    path = write("t.jsonl", samples)
    outcome = report(path)
    assert outcome.status == 1
    assert outcome.err.startswith(f"nearfar report: {path}:4: verified is false: the result was wrong")
    assert "triad array, team, nodes 1, ranks 2, length 1000, pinning scatter, repetition 2" in outcome.err
    row = next(row for row in table_rows(outcome.page) if row[0] == "array")
    assert row[4] == "7" and row[5] == "504.0 [500.0, 507.0]"


def test_two_files_are_told_apart(report: Report, write: Write) -> None:
    outcome = report(write("before.jsonl", loop_eight("array")), write("after.jsonl", loop_eight("array", 600.0)))
    names = [row[0] for row in table_rows(outcome.page)]
    assert "array · before" in names and "array · after" in names


def test_figures_of_a_publication(report: Report, write: Write) -> None:
    note = "This machine has one NUMA domain: nothing is far."
    far = [
        s for kind in ("local", "far") for length in (10, 1000)
        for s in loop_eight("array", length=length, placement=kind, series=f"{kind} memory", figure="2.2")
    ]  # fmt: skip
    pairs = [s for pair in ("0,1", "1,0") for s in loop_eight("array", pinning=pair, figure="2.6")]
    outcome = report(
        write("b.jsonl", pairs, figure=figure_of("2.6", "pinning")),
        write("a.jsonl", far, figure=figure_of("2.2", "length", note)),
    )
    assert (outcome.status, outcome.err) == (0, "")
    assert {name for name in outcome.names if name.endswith(".svg")} == {"figure-2.2.svg", "figure-2.6.svg"}
    assert_figure(outcome.directory, "figure-2.2")
    page = outcome.page
    assert page.index("Figure 2.2: what figure 2.2 shows") < page.index("Figure 2.6: what")
    # In the notice, in the picture's text for readers who cannot see it, in the table's caption, in the provenance.
    assert page.count(note) == 4
    assert f'<div class="notice">{note}</div>' in page
    assert any(row[0] == "far memory" for row in table_rows(page))
    assert "pinned" not in page  # the axis is no part of a series' name


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("container", ""), ("threads", 0), ("length", 0), ("length", None), ("chunk", -1), ("segments", 0),
        ("stores", 1), ("iterations", 0), ("duration_ns", 1.5), ("mlups", "fast"), ("verified", "yes"), ("series", ""),
    ],
)  # fmt: skip
def test_wrong_value(write: Write, field: str, value: object) -> None:
    from nearfar_report.results import ResultsError, read_all

    with pytest.raises(ResultsError, match=f":2: (field '{field}' is .*, but must be |'{field}' is null)"):
        read_all([str(write("t.jsonl", [loop(**{field: value})]))])


def test_each_required_field(tmp_path: Path) -> None:
    from nearfar_report.results import ResultsError, read_all

    path = tmp_path / "t.jsonl"
    head = json.dumps(provenance("triad", 1, schema=LOOPS_SCHEMA)) + "\n"
    for field in set(loop()) - {"record"}:
        path.write_text(head + json.dumps(without(loop(), field)) + "\n")
        with pytest.raises(ResultsError, match=f":2: required field '{field}' is missing;"):
            read_all([str(path)])


@pytest.mark.parametrize(
    "about",
    ["2.7", {"number": "2.7"}, {**figure_of("2.7", "chunk"), "axis": ""}, {**figure_of("x", "chunk")},
     {**figure_of("2.7", "chunk"), "notes": "one"}],
)  # fmt: skip
def test_wrong_figure(report: Report, write: Write, about: object) -> None:
    path = write("t.jsonl", [loop(figure="2.7")], figure=about)
    assert_refused(report(path), f"{path}:1: ")


def test_other_version_of_loops(report: Report, write: Write) -> None:
    path = write("t.jsonl", [loop()], schema="nearfar.loops/2")
    assert_refused(report(path), f'{path}:1: schema is "nearfar.loops/2"', '"nearfar.loops/1"')


def test_schemas_do_not_mix_in_a_file(report: Report, write: Write) -> None:
    path = write("t.jsonl", [loop(), ecsb()])
    assert_refused(report(path), f'{path}:3: schema is "nearfar.results/1", but line 1 says "nearfar.loops/1"')


def test_order_of_measurement_is_not_seen(report: Report, write: Write) -> None:
    samples = [
        s for name in ("segmented", "array") for length in (1000, 10) for s in loop_eight(name, length=length)
    ]  # fmt: skip
    rows = table_rows(report(write("t.jsonl", samples[::-1])).page)
    shown = [(row[0], row[4]) for row in rows if row[1] == "team"]
    assert shown[:4] == [("array", "10"), ("segmented", "10"), ("array", "1000"), ("segmented", "1000")]
