"""Runs that ended early, or were resumed: the report uses the samples in their files, and says that the runs are unfinished."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from report_builders import SCHEMA, Outcome, Record, ecsb, loop
from test_bad_input import assert_refused
from test_compare import compare, repetitions
from test_report import table_rows

Report = Callable[..., Outcome]
Write = Callable[..., Path]

STALL = {"schema": SCHEMA, "record": "stall", "what": "lock 'dash'", "why": "rank 0 has waited"}
INTERRUPTED = {"schema": SCHEMA, "record": "interrupted", "why": "SIGTERM came"}
RESUMED = {
    "schema": SCHEMA, "record": "resumed", "argv": ["nearfar", "sweep"], "start_time": "2025-01-03T03:04:05Z",
    "commit": "abcdef", "host": "alpha",
}  # fmt: skip
SILENT = "its file does not say why; it was killed, or is still running"
TORN = "its last line is cut off, as when it is killed or the disk is full"


def end(samples: int) -> Record:
    return {"schema": SCHEMA, "record": "end", "samples": samples}


def samples(count: int, first: int = 0) -> list[Record]:
    return [ecsb(repetition=r) for r in range(first, first + count)]


def assert_unfinished(outcome: Outcome, path: Path, what: str, reached: str) -> None:
    """Status 3, one line on stderr, the same words on the page, and a table."""
    assert (outcome.status, outcome.out) == (3, "nearfar-report/index.html\n"), outcome
    assert outcome.err == f"nearfar report: {path}: the run ended after {reached} samples: {what}\n"
    page = outcome.page.replace("&#x27;", "'")
    assert f'<div class="notice">{path.stem}: the run ended after {reached} samples: {what}.</div>' in page
    assert any(row[-1] == reached for row in table_rows(page))


def assert_complete(outcome: Outcome) -> None:
    assert (outcome.status, outcome.err) == (0, "")
    assert "the run ended" not in outcome.page


def test_fewer_samples_than_announced(report: Report, write: Write) -> None:
    path = write("a.jsonl", samples(3), records_expected=8)
    assert_unfinished(report(path), path, SILENT, "3 of 8")


def test_last_line_cut_off(report: Report, write: Write) -> None:
    path = write("a.jsonl", samples(2))
    path.write_bytes(path.read_bytes()[:-30])
    assert_unfinished(report(path), path, TORN, "1 of 2")


def test_cut_at_any_byte(write: Write) -> None:
    from nearfar_report.results import ResultsError, read_all

    path = write("a.jsonl", [])
    head = json.dumps({**json.loads(path.read_text()), "records_expected": 2}).encode() + b"\n"
    lines = [json.dumps(ecsb("Stoß", r), ensure_ascii=False).encode() for r in range(2)]
    whole = head + b"\n".join(lines) + b"\n"
    one = len(head) + len(lines[0])  # all of the first sample but its newline
    for length in range(one):
        path.write_bytes(whole[:length])
        with pytest.raises(ResultsError):
            read_all([str(path)])
    for length in range(one, len(whole) - 1):  # the final newline alone carries no data
        path.write_bytes(whole[:length])
        file = read_all([str(path)])[0]
        assert [sample.record["lock"] for sample in file.samples] == ["Stoß"]
        why = SILENT if length <= one + 1 else TORN
        assert file.shortfall == f"the run ended after 1 of 2 samples: {why}"
    for complete in (whole[:-1], whole):
        path.write_bytes(complete)
        file = read_all([str(path)])[0]
        assert (len(file.samples), file.shortfall) == (2, None)


def test_stall(report: Report, write: Write) -> None:
    path = write("a.jsonl", [ecsb(), STALL], records_expected=8)
    assert_unfinished(report(path), path, "lock 'dash' stalls: rank 0 has waited", "1 of 8")
    # The note appears even if no sample is missing.
    path = write("b.jsonl", [ecsb(), STALL], records_expected=1)
    assert_unfinished(report(path), path, "lock 'dash' stalls: rank 0 has waited", "1 of 1")


def test_interrupted(report: Report, write: Write) -> None:
    path = write("a.jsonl", [*samples(2), {**INTERRUPTED, "why": "a signal\ncame"}], records_expected=8)
    assert_unfinished(report(path), path, "a signal\\ncame", "2 of 8")


def test_loops_that_ended_early(report: Report, write: Write) -> None:
    path = write("t.jsonl", [loop(repetition=r) for r in range(3)], records_expected=8)
    assert_unfinished(report(path), path, SILENT, "3 of 8")


def test_end_settles_the_number_of_samples(report: Report, write: Write) -> None:
    assert_complete(report(write("less.jsonl", [*samples(3), end(3)], records_expected=8)))
    assert_complete(report(write("more.jsonl", [*samples(3), end(3)], records_expected=2)))


def test_resumed(report: Report, write: Write) -> None:
    went_on = [*samples(2), INTERRUPTED, RESUMED, *samples(1, 2), STALL, RESUMED, *samples(1, 3)]
    assert_complete(report(write("whole.jsonl", went_on, records_expected=4)))
    assert_complete(report(write("ended.jsonl", [*went_on, end(4)], records_expected=8)))
    path = write("again.jsonl", [*went_on, INTERRUPTED], records_expected=8)
    assert_unfinished(report(path), path, "SIGTERM came", "4 of 8")


def test_resumed_where_a_torn_line_was(report: Report, write: Write) -> None:
    """The writer removes the torn line, so no record has the reason why the first run ended. The second may be torn again."""
    path = write("a.jsonl", [*samples(2), RESUMED, *samples(2, 2)], records_expected=4)
    assert_complete(report(path))
    path.write_bytes(path.read_bytes()[:-40])
    assert_unfinished(report(path), path, TORN, "3 of 4")
    path = write("b.jsonl", [*samples(2), RESUMED], records_expected=4)
    assert_unfinished(report(path), path, SILENT, "2 of 4")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"host": "beta"}, "the run was resumed on beta instead of alpha"),
        ({"commit": "123456"}, "the run was resumed with commit 123456 instead of abcdef"),
    ],
)
def test_resumed_elsewhere(report: Report, write: Write, changes: Record, said: str) -> None:
    resumed = {**RESUMED, **changes}
    path = write("a.jsonl", [*samples(2), resumed, resumed, *samples(6, 2)], records_expected=8)
    outcome = report(path)
    assert (outcome.status, outcome.err) == (0, "")
    assert f'<div class="notice">a: {said}.</div>' in outcome.page
    other = write("b.jsonl", samples(8))
    assert compare(path, other).err == f"nearfar compare: {path}: {said}\n"


def test_compare_takes_what_there_is(write: Write) -> None:
    one = write("a.jsonl", repetitions("mcs", 100))
    other = write("b.jsonl", repetitions("mcs", 130), records_expected=9)
    ended = compare(one, other)
    assert ended.status == 1
    assert ended.out.splitlines()[-1].endswith("REGRESSION")
    assert ended.err == f"nearfar compare: {other}: the run ended after 8 of 9 samples: {SILENT}\n"


def test_no_samples_at_all(report: Report, write: Write) -> None:
    assert_refused(report(write("a.jsonl", [], records_expected=8)), ":1: the file holds no samples: its file does not")
    path = write("b.jsonl", samples(1), records_expected=8)
    path.write_bytes(path.read_bytes()[:-9])
    assert_refused(report(path), f"{path}:1: the file holds no samples: its last line is cut off")
    lines = path.read_text().splitlines()[:1]
    path.write_text("\n".join([*lines, json.dumps(INTERRUPTED)]) + "\n")
    assert_refused(report(path), f"{path}:1: the file holds no samples: SIGTERM came; ")


def test_faults_in_the_middle(report: Report, write: Write) -> None:
    path = write("a.jsonl", samples(3))
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:2], lines[2][:-30], lines[3]]) + "\n")
    assert_refused(report(path), f"{path}:3: the line is not JSON")
    path.write_text("\n".join([*lines[:3], lines[3][:-30]]) + "\n")  # a line with its newline was written whole
    assert_refused(report(path), f"{path}:4: the line is not JSON")


@pytest.mark.parametrize(
    ("records", "fault"),
    [
        ([*samples(1), STALL, *samples(1, 1)], ":4: the run had ended in line 3"),
        ([*samples(1), INTERRUPTED, *samples(1, 1)], ":4: the run had ended in line 3"),
        ([*samples(1), end(1), *samples(1, 1)], ":4: the run had ended in line 3"),
        ([*samples(1), INTERRUPTED, STALL], ":4: the run had ended in line 3"),
        ([*samples(2), end(3)], ":4: 'samples' is 3, but the file holds 2"),
        ([*samples(2), end(1)], ":4: 'samples' is 1, but the file holds 2"),
        ([*samples(1), {"schema": SCHEMA, "record": "end"}], ":3: required field 'samples' is missing"),
        ([*samples(1), {"schema": SCHEMA, "record": "stall", "what": "x"}], ":3: required field 'why' is missing"),
        ([*samples(1), {"schema": SCHEMA, "record": "resumed"}], ":3: required field 'argv' is missing"),
        ([*samples(1), {"schema": SCHEMA, "record": ["x"]}], ':3: field \'record\' is ["x"]'),
        ([*samples(1), {**STALL, "schema": "nearfar.results/2"}], ':3: schema is "nearfar.results/2"'),
        ([*samples(1), RESUMED, *samples(2, 1)], ":5: sample 3 of only 2 announced"),
    ],
)
def test_faults_of_the_records_between(report: Report, write: Write, records: list[Record], fault: str) -> None:
    path = write("a.jsonl", records, records_expected=2)
    assert_refused(report(path), f"{path}{fault}")
