"""nearfar compare: verdicts, statuses, and points without a match."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from forked import run_module
from report_builders import Outcome, Record, ecsb, loop, stated, statement, upb

Write = Callable[..., Path]
NOISE = (0.98, 1.0, 1.01, 0.99, 1.02, 1.0, 0.97, 1.03)


def repetitions(lock: str, ns: float, noise: Sequence[float] = NOISE) -> list[Record]:
    """Samples of 1000 acquisitions each."""
    return [ecsb(lock, r, (600, 400), duration_ns=round(1000 * ns * factor)) for r, factor in enumerate(noise)]


def compare(*arguments: str | Path) -> Outcome:
    return run_module("nearfar_report.compare", *arguments, cwd=Path.cwd())


def verdicts(*arguments: str | Path) -> dict[str, Record]:
    ended = compare(*arguments, "--json")
    assert ended.status in (0, 1, 3), ended.err
    return {record["lock"]: record for record in map(json.loads, ended.out.splitlines())}


@pytest.mark.parametrize(
    ("after", "bound", "verdict", "status"),
    [
        (100, "5", "same", 0),
        (101, "5", "same", 0),
        (130, "5", "REGRESSION", 1),
        (130, "50", "slower within the bound", 0),
        (70, "5", "faster", 0),
        (90, "50", "faster within the bound", 0),
    ],
)
def test_verdicts(write: Write, after: float, bound: str, verdict: str, status: int) -> None:
    one, other = write("a.jsonl", repetitions("mcs", 100)), write("b.jsonl", repetitions("mcs", after))
    ended = compare(one, other, "--bound", bound)
    assert (ended.status, ended.err) == (status, "")
    line = ended.out.splitlines()[-1]
    assert line.startswith("ecsb mcs ") and line.endswith(f"  {verdict}")
    record = verdicts(one, other, "--bound", bound)["mcs"]
    assert record["verdict"] == verdict
    assert record["low"] <= record["ratio"] <= record["high"]
    assert record["ratio"] == pytest.approx(after / 100, rel=1e-3)


def test_noise_is_no_regression(write: Write) -> None:
    """The medians differ by 20 %, but so do the repetitions among themselves."""
    one = write("a.jsonl", repetitions("mcs", 100, (0.5, 0.7, 0.9, 1.0, 1.0, 1.3, 1.6, 1.9)))
    other = write("b.jsonl", repetitions("mcs", 120, (0.5, 0.7, 0.9, 1.0, 1.0, 1.3, 1.6, 1.9)))
    assert verdicts(one, other)["mcs"]["verdict"] == "same"


def test_the_same_files_give_the_same_words(write: Write) -> None:
    one, other = write("a.jsonl", repetitions("mcs", 100)), write("b.jsonl", repetitions("mcs", 103))
    assert compare(one, other).out == compare(one, other).out


def test_numbers_keep_apart_however_large(write: Write) -> None:
    one = write("a.jsonl", repetitions("mcs", 1, (0.001, 0.002, 0.5, 1, 1, 2000, 30_000, 90_000_000)))
    other = write("b.jsonl", repetitions("mcs", 1, (0.001, 0.002, 400, 500, 70_000, 2000, 3_000_000, 90_000_000)))
    head, row = compare(one, other).out.splitlines()[-2:]
    assert [len(line.split("  ")[-1]) for line in (head, row)] == [len("verdict"), len("same")]
    (record,) = verdicts(one, other).values()
    assert record["high"] > 10_000, "which takes all the room of its column"
    shown = [f"{record[name]:.1f}" for name in ("before_ns", "after_ns")]
    shown += [f"{record[name]:.3f}" for name in ("ratio", "low", "high", "p")]
    assert row.split() == ["ecsb", "mcs", *shown, "same"]
    ends = [re.search(rf" {name}(?= )", head) for name in ("ratio", "low", "high", "p")]
    assert all(end and row[end.end() - 1].isdigit() and row[end.end()] == " " for end in ends), "columns are aligned"


def test_few_repetitions_decide_nothing(write: Write) -> None:
    one, other = write("a.jsonl", repetitions("mcs", 100)[:3]), write("b.jsonl", repetitions("mcs", 900)[:3])
    record = verdicts(one, other)["mcs"]
    assert (record["verdict"], record["p"]) == ("too few repetitions", None)
    ended = compare(one, other)
    assert (ended.status, ended.err) == (
        3, "nearfar compare: 1 comparison can tell a difference from 4 repetitions on each side on\n",
    )  # fmt: skip


def many(noise: Sequence[float], slow: str = "", count: int = 12) -> list[Record]:
    """Samples of several locks, of which one may be slow."""
    names = [f"lock{number}" for number in range(count)]
    return [one for name in names for one in repetitions(name, 200 if name == slow else 100, noise)]


def test_many_comparisons_are_corrected(write: Write) -> None:
    """One of twelve differs as it would once in a hundred comparisons without any effect."""
    chance = repetitions("lock0", 110, (0.95, 0.99, 0.9, 0.93, 0.94, 1.0, 1.02, 0.98))
    one = write("a.jsonl", many(NOISE))
    other = write("b.jsonl", [*chance, *many(NOISE)[8:]])
    record = verdicts(one, other)["lock0"]
    assert record["p"] < 0.05 < record["p_adjusted"]
    assert record["verdict"] == "same"
    assert compare(one, other).status == 0
    alone = verdicts(write("c.jsonl", repetitions("lock0", 100)), write("d.jsonl", chance))["lock0"]
    assert alone["verdict"] == "REGRESSION"


def test_an_effect_shows_among_many(write: Write) -> None:
    one, other = write("a.jsonl", many(NOISE)), write("b.jsonl", many(NOISE, slow="lock3"))
    assert compare(one, other).status == 1
    assert [name for name, record in verdicts(one, other).items() if record["verdict"] != "same"] == ["lock3"]
    few = NOISE[:5]
    one, other = write("e.jsonl", many(few)), write("f.jsonl", many(few, slow="lock3"))
    ended = compare(one, other)
    assert (ended.status, verdicts(one, other)["lock3"]["verdict"]) == (3, "too few repetitions")
    assert ended.err == "nearfar compare: 12 comparisons can tell a difference from 6 repetitions on each side on\n"


def test_missing_samples_are_no_success(write: Write) -> None:
    one = write("a.jsonl", repetitions("mcs", 100))
    assert compare(one, write("b.jsonl", repetitions("mcs", 100)[:-1], records_expected=8)).status == 3
    assert compare(one, write("c.jsonl", repetitions("mcs", 300)[:-1], records_expected=8)).status == 1


def test_void_samples_do_not_count(write: Write) -> None:
    bad = [{**one, "verified": False, "repetition": 9} for one in repetitions("mcs", 1)]
    one, other = write("a.jsonl", repetitions("mcs", 100)), write("b.jsonl", repetitions("mcs", 100) + bad)
    assert verdicts(one, other)["mcs"]["verdict"] == "same"


def test_what_is_in_one_file_only_is_named(write: Write) -> None:
    one = write("a.jsonl", repetitions("mcs", 100) + repetitions("tas", 50))
    other = write("b.jsonl", repetitions("mcs", 100) + repetitions("dash", 50), locks=["mcs", "dash"])
    ended = compare(one, other)
    assert ended.status == 3
    assert [line.split(": ")[-1] for line in ended.err.splitlines()] == ["ecsb tas", "ecsb dash"]


def test_scenarios_and_ranks_are_configurations(write: Write) -> None:
    def samples(time: float) -> list[Record]:
        return [upb("mcs", scenario, r, time + r) for scenario in ("1a", "2b") for r in range(8)]

    ended = compare(write("a.jsonl", samples(100)), write("b.jsonl", samples(200)))
    assert ended.status == 1
    rows = [line for line in ended.out.splitlines() if not line.startswith("#")]
    assert [row.split()[2] for row in rows] == ["scenario=1a", "scenario=2b"]


def test_axes_are_configurations_and_effort_is_not(write: Write) -> None:
    def samples(far: float, **effort: object) -> list[Record]:
        return [
            {**one, "axes": {"far": work, "same": "x"}, "effort": effort}
            for work, time in ((0, 100), (50.0, far)) for one in repetitions("mcs", time)
        ]  # fmt: skip

    one, other = write("a.jsonl", samples(200, duration=1)), write("b.jsonl", samples(300, duration=2))
    ended = compare(one, other)
    assert (ended.status, ended.err) == (1, "")
    rows = [line.split() for line in ended.out.splitlines() if not line.startswith("#")]
    assert [(row[2], row[-1]) for row in rows] == [("far=0", "same"), ("far=50", "REGRESSION")]
    records = list(map(json.loads, compare(one, other, "--json").out.splitlines()))
    assert [record["axes"] for record in records] == [{"far": 0, "same": "x"}, {"far": 50, "same": "x"}]


def test_the_order_and_the_writing_of_axes_do_not_matter(write: Write) -> None:
    one = write("a.jsonl", [{**one, "axes": {"a": 1, "b": 2}} for one in repetitions("mcs", 100)])
    other = write("b.jsonl", [{**one, "axes": {"b": 2.0, "a": 1.0}} for one in repetitions("mcs", 100)])
    assert verdicts(one, other)["mcs"]["verdict"] == "same"


def test_no_axes_are_the_same_as_none(write: Write) -> None:
    """Results from before there were axes."""
    one = write("a.jsonl", repetitions("mcs", 100))
    other = write("b.jsonl", [{**one, "axes": {}} for one in repetitions("mcs", 100)])
    assert "axes" not in verdicts(one, other)["mcs"]


def test_sweeps(write: Write) -> None:
    """Benchmarks of several kinds of objects, with cases of their own, over nodes and ranks."""

    def sweep(name: str, slow: float) -> Path:
        samples = [
            one for nodes, ranks in ((1, 2), (1, 4), (2, 4)) for lock in ("tas", "mcs")
            for one in (ecsb(lock, r, [9] * ranks, nodes=nodes, duration_ns=9 * ranks * (100 + r)) for r in range(8))
        ]  # fmt: skip
        for door in ("in", "out"):
            for tree in ("tree", "line"):
                time = slow if (door, tree) == ("out", "line") else 1
                samples += [stated(tree, r, door=door, duration_ns=round(time * (100_000 + r))) for r in range(8)]
        return write(
            name, samples, benchmark="sweep", statements={"room": statement(case="door")}, locks=["mcs", "tas"],
            objects={"lock": ["mcs", "tas"], "barrier": ["line", "tree"]}, study={"name": "x"},
        )  # fmt: skip

    one, other = sweep("a.jsonl", 1), sweep("b.jsonl", 2)
    ended = compare(one, other)
    assert (ended.status, ended.err) == (1, "")
    rows = [re.split(r"\s{2,}", line) for line in ended.out.splitlines() if not line.startswith("#")]
    places = ("nodes=1 ranks=2", "nodes=1 ranks=4", "nodes=2 ranks=4")
    assert [row[0] for row in rows] == [
        *(f"ecsb {lock} {place}" for lock in ("mcs", "tas") for place in places),
        *(f"room {tree} door={door}" for tree in ("line", "tree") for door in ("in", "out")),
    ]
    assert [row[0] for row in rows if row[-1] != "same"] == ["room line door=out"]
    records = list(map(json.loads, compare(one, other, "--json").out.splitlines()))
    assert records[-1]["barrier"] == "tree" and "lock" not in records[-1]


def test_every_column_of_times_is_judged(write: Write) -> None:
    """Readers became slower, writers did not. Quantities without a value, that are no time, or that are only shown are left out."""

    def samples(reader_ns: float) -> list[Record]:
        return [
            {**one, "benchmark": "rw_lb",
             "measured": {"read_p50": reader_ns + r, "write_p50": 900.0 + r, "write_p99": None, "rate": reader_ns,
                          "read_p999": reader_ns, "read_p90": reader_ns}}
            for r, one in enumerate(repetitions("mcs", 100))
        ]  # fmt: skip

    columns = [{"name": name, "unit": "ns"} for name in ("read_p50", "write_p50", "write_p99")]
    columns.append({"name": "rate", "unit": "million/s"})
    columns.append({"name": "read_p999", "unit": "ns", "standing": "recorded"})
    columns.append({"name": "read_p90", "unit": "ns", "standing": "shown"})
    said = {"rw_lb": statement(kind="lock", columns=columns)}
    one, other = (write(name, samples(ns), statements=said) for name, ns in (("a.jsonl", 200), ("b.jsonl", 300)))
    ended = compare(one, other)
    assert (ended.status, ended.err) == (1, "")
    rows = [line.split() for line in ended.out.splitlines() if not line.startswith("#")]
    assert [(row[2], row[-1]) for row in rows] == [("column=read_p50", "REGRESSION"), ("column=write_p50", "same")]
    records = map(json.loads, compare(one, other, "--json").out.splitlines())
    medians = {record["column"]: record["before_ns"] for record in records}
    assert medians == {"read_p50": 203.5, "write_p50": 903.5}


def test_loops_too(write: Write) -> None:
    one = write("a.jsonl", [loop("array", r, 500 + r) for r in range(8)])
    other = write("b.jsonl", [loop("array", r, 250 + r) for r in range(8)])
    ended = compare(one, other)
    assert ended.status == 1
    assert ended.out.splitlines()[-1].startswith("triad array ")


def test_other_machines_are_pointed_out(write: Write) -> None:
    one, other = write("a.jsonl", repetitions("mcs", 100)), write("b.jsonl", repetitions("mcs", 100), host="beta")
    assert "different machines: alpha and beta" in compare(one, other).err


@pytest.mark.parametrize(
    ("arguments", "saying"),
    [
        (["a.jsonl"], "AFTER"),
        (["a.jsonl", "a.jsonl"], "given twice"),
        (["a.jsonl", "none.jsonl"], "none.jsonl"),
        (["a.jsonl", "loops.jsonl"], "no configuration in common"),
        (["a.jsonl", "tas.jsonl"], "no configuration in common"),
        (["a.jsonl", "tas.jsonl", "--bound", "-1"], "--bound"),
        (["a.jsonl", "tas.jsonl", "--bound", "nan"], "--bound"),
    ],
)
def test_bad_input(write: Write, tmp_path: Path, arguments: list[str], saying: str) -> None:
    write("a.jsonl", repetitions("mcs", 100))
    write("tas.jsonl", repetitions("tas", 100))
    write("loops.jsonl", [loop()])
    ended = compare(*(tmp_path / one if one.endswith(".jsonl") else one for one in arguments))
    assert (ended.status, ended.out) == (2, "")
    assert len(ended.err.splitlines()) == 1
    assert saying in ended.err
