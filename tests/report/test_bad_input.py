"""Every kind of bad input: status 2, one line that names the place, and no file written."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from forked import run_module
from report_builders import Outcome, Record, ecsb, provenance, upb

Report = Callable[..., Outcome]
Write = Callable[..., Path]


def assert_refused(outcome: Outcome, *parts: str) -> None:
    assert outcome.status == 2, outcome
    assert outcome.out == ""
    assert outcome.err.endswith("\n") and outcome.err.count("\n") == 1, outcome.err
    assert outcome.err.startswith("nearfar report: ")
    assert "; " in outcome.err, "no advice"
    for part in parts:
        assert part in outcome.err
    assert not outcome.directory.exists()


def without(record: Record, field: str) -> Record:
    return {name: value for name, value in record.items() if name != field}


def test_missing_file(report: Report, tmp_path: Path) -> None:
    assert_refused(report(tmp_path / "none.jsonl"), "none.jsonl: cannot be read (No such file or directory)")


def test_directory_as_file(report: Report, tmp_path: Path) -> None:
    assert_refused(report(tmp_path), "cannot be read")


@pytest.mark.parametrize("content", ["", "\n\n"])
def test_empty_file(report: Report, tmp_path: Path, content: str) -> None:
    path = tmp_path / "empty.jsonl"
    path.write_text(content)
    assert_refused(report(path), f"{path}:1: the file is empty")


@pytest.mark.parametrize("content", [b"time,lock\n1,2\n", b"\x89PNG\r\n\x1a\n\x00\xff", b"{\n", b"[" * 100_000 + b"\n"])
def test_not_json(report: Report, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other.csv"
    path.write_bytes(content)
    assert_refused(report(path), f"{path}:1: the line is not JSON;")


def test_json_but_not_an_object(report: Report, tmp_path: Path) -> None:
    path = tmp_path / "list.jsonl"
    path.write_text("[1, 2]\n")
    assert_refused(report(path), f"{path}:1: the line is not a JSON object")


def test_nan_is_not_json(report: Report, write: Write) -> None:
    path = write("a.jsonl", [ecsb(followed_other_share=float("nan"))])
    assert_refused(report(path), f"{path}:2: the line is not JSON")


def test_more_samples_than_announced(report: Report, write: Write) -> None:
    path = write("a.jsonl", [ecsb(repetition=r) for r in range(3)], records_expected=2)
    assert_refused(report(path), f"{path}:4: sample 3 of only 2 announced")


def test_no_samples(report: Report, write: Write) -> None:
    assert_refused(report(write("a.jsonl", [])), ":1: the file holds no samples")


def test_two_runs_in_one_file(report: Report, write: Write) -> None:
    path = write("a.jsonl", [ecsb()])
    path.write_text(path.read_text() * 2)
    assert_refused(report(path), f"{path}:3: a second provenance record")


def test_lost_start(report: Report, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(ecsb()) + "\n")
    assert_refused(report(path), f"{path}:1: the first record is not the provenance")


@pytest.mark.parametrize("line", [1, 2])
def test_other_schema_version(report: Report, write: Write, line: int) -> None:
    changes = {"schema": "nearfar.results/2"}
    path = write("a.jsonl", [ecsb(**(changes if line == 2 else {}))], **(changes if line == 1 else {}))
    assert_refused(report(path), f'{path}:{line}: schema is "nearfar.results/2"', '"nearfar.results/1"')


def test_newer_and_other_schemas_are_told_apart(report: Report, write: Write) -> None:
    newer = "a newer nearfar wrote the file: use that one"
    for schema in ("nearfar.results/2", "nearfar.results/10", "nearfar.loops/2"):
        assert_refused(report(write("n.jsonl", [ecsb()], schema=schema)), "n.jsonl:1: schema is", schema, newer)
    for schema in ("nearfar.results/0", "nearfar.results/x", "nearfar.results/2/3", "other/2", 2, None):
        ended = report(write("o.jsonl", [ecsb()], schema=schema))
        assert_refused(ended, "o.jsonl:1: schema is", "use the nearfar that wrote the file")


def test_fields_that_a_later_nearfar_adds_are_left_out(report: Report, write: Write) -> None:
    later = [{**ecsb(), "later": {"field": 1}}]
    assert report(write("l.jsonl", later, later=1)).status == 0


def test_each_required_field(tmp_path: Path) -> None:
    from nearfar_report.results import ResultsError, read_all

    path = tmp_path / "a.jsonl"
    optional = {"followed_other_share", "measured"}
    for whole in (ecsb(), upb("cohort", "1a", 0, 30.0)):
        for field in set(whole) - optional - {"record"}:
            path.write_text(json.dumps(provenance("ecsb", 1)) + "\n" + json.dumps(without(whole, field)) + "\n")
            with pytest.raises(ResultsError, match=f":2: required field '{field}' is missing;"):
                read_all([str(path)])
    head = provenance("ecsb", 1)
    for field in set(head) - {"record", "statements"}:
        path.write_text(json.dumps(without(head, field)) + "\n" + json.dumps(ecsb()) + "\n")
        with pytest.raises(ResultsError, match=f":1: required field '{field}' is missing;"):
            read_all([str(path)])


def test_missing_field_at_the_command(report: Report, write: Write) -> None:
    path = write("a.jsonl", [ecsb(), without(ecsb(repetition=1), "iterations")])
    assert_refused(report(path), f"{path}:3: required field 'iterations' is missing")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("lock", ""), ("lock", "two\nlines"), ("nodes", 0), ("ranks", True), ("duration_ns", 0), ("duration_ns", 1.5),
        ("iterations", -1), ("iterations_per_rank", [1, "2"]), ("contended", "all"), ("parameters", []),
        ("verified", None), ("verified", 1), ("followed_other_share", "x"), ("repetition", None),
    ],
)  # fmt: skip
def test_wrong_value(write: Write, field: str, value: object) -> None:
    from nearfar_report.results import ResultsError, read_all

    with pytest.raises(ResultsError, match=f":2: field '{field}' is .*, but must be "):
        read_all([str(write("a.jsonl", [ecsb(**{field: value})]))])


def test_contradictory_progress(report: Report, write: Write) -> None:
    path = write("a.jsonl", [ecsb(iterations=999)])
    assert_refused(report(path), f"{path}:2: 'iterations' is 999, but the ranks sum up to 1000")
    path = write("a.jsonl", [ecsb(ranks=3)])
    assert_refused(report(path), f"{path}:2: 'iterations_per_rank' has 2 entries for 3 ranks")


def test_unknown_scenario(report: Report, write: Write) -> None:
    path = write("a.jsonl", [upb("cohort", "4a", 0, 30.0)])
    assert_refused(report(path), "field 'scenario' is \"4a\", but must be one of 1a to 3c")


def test_same_file_twice(report: Report, write: Write) -> None:
    path = write("a.jsonl", [ecsb()])
    assert_refused(report(path, path), "is given twice")


def test_one_bad_file_among_good_ones_leaves_the_old_report_alone(report: Report, write: Write) -> None:
    good = write("good.jsonl", [ecsb()])
    first = report(good)
    assert first.status == 0
    before = {path: path.read_bytes() for path in first.directory.iterdir()}
    bad = write("bad.jsonl", [ecsb("tas"), ecsb("mcs")], records_expected=1)
    second = report(good, bad)
    assert second.status == 2
    assert f"{bad}:3: " in second.err and second.err.count("\n") == 1
    assert {path: path.read_bytes() for path in first.directory.iterdir()} == before


def test_an_older_page_is_replaced_on_request_only(write: Write, tmp_path: Path) -> None:
    results = write("a.jsonl", [ecsb()])
    assert run_module("nearfar_report", results, cwd=tmp_path).status == 0
    page = tmp_path / "nearfar-report" / "index.html"
    page.write_text(page.read_text() + "<!-- older -->")
    again = run_module("nearfar_report", results, cwd=tmp_path)
    assert (again.status, again.out) == (2, "")
    assert re.fullmatch(r"nearfar report: nearfar-report/index.html exists: .* --overwrite\n", again.err)
    assert "<!-- older -->" in page.read_text()
    assert run_module("nearfar_report", "--overwrite", results, cwd=tmp_path).status == 0
    assert "<!-- older -->" not in page.read_text()


def test_output_is_a_file(report: Report, write: Write, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("keep me")
    results = write("a.jsonl", [ecsb()])
    assert_refused(report(results, "--output", precious), f"{precious}: exists and is not a directory")
    assert_refused(report(results, "--output", precious / "below"), f"{precious} is not a directory")
    assert precious.read_text() == "keep me"


def test_output_would_overwrite_the_input(report: Report, write: Write, tmp_path: Path) -> None:
    results = write("figure.svg", [ecsb()])
    content = results.read_bytes()
    assert_refused(report(results, "--output", tmp_path), "might overwrite this file")
    assert results.read_bytes() == content


def test_failed_write_leaves_nothing_behind(tmp_path: Path) -> None:
    from nearfar_report.output import write_all
    from nearfar_report.results import ReportError

    (tmp_path / "index.html").mkdir()
    with pytest.raises(ReportError, match="index.html is a directory"):
        write_all(str(tmp_path), {"a.png": b"1", "index.html": b"2"})
    assert [path.name for path in tmp_path.iterdir()] == ["index.html"]
    with pytest.raises(ReportError, match="cannot be written"):
        write_all(str(tmp_path), {"b.png": b"1", "no/such.html": b"2"})
    assert [path.name for path in tmp_path.iterdir()] == ["index.html"]


@pytest.mark.parametrize("arguments", [[], ["--ouput", "x", "f"], ["f", "--output"], ["f", "--output", ""]])
def test_usage_errors(report: Report, arguments: list[str]) -> None:
    assert_refused(report(*arguments), "see nearfar report --help")


def test_help_names_the_command(report: Report) -> None:
    outcome = report("--help")
    assert outcome.status == 0
    assert outcome.out.startswith("usage: nearfar report ")
    assert "nearfar_report" not in outcome.out.replace("nearfar-report", "")


def test_a_page_of_someone_else_is_left_alone(report: Report, write: Write, tmp_path: Path) -> None:
    results = write("a.jsonl", [ecsb()])
    first = report(results)
    assert report(results).status == 0  # replaces its own page
    (first.directory / "index.html").write_text("<html>mine</html>")
    outcome = report(results)
    assert outcome.status == 2
    assert "index.html: is no page of nearfar; " in outcome.err
    assert outcome.page == "<html>mine</html>"


def test_a_module_that_is_missing_is_named_with_its_cure(write: Write, tmp_path: Path) -> None:
    (tmp_path / "pandas.py").write_text("raise ModuleNotFoundError(\"No module named 'pandas'\", name='pandas')\n")
    ended = run_report(tmp_path, str(write("a.jsonl", [ecsb()])))
    assert (ended.returncode, ended.stdout) == (2, "")
    assert len(ended.stderr.splitlines()) == 1
    assert "no module pandas: install it (Debian: apt-get install python3-pandas)" in ended.stderr


@pytest.mark.parametrize(
    ("code", "saying"),
    [
        (
            "raise ImportError('IMPORTANT: READ THIS!\\n\\nOriginal error was: lib.so: failed to map segment\\n')",
            "could not load a module: lib.so: failed to map segment; ",
        ),
        ("raise ImportError('lib.so: no', name='pandas')", "could not load the module pandas: lib.so: no; "),
        ("raise MemoryError", "out of memory: "),
    ],
)
def test_a_module_that_cannot_be_loaded_is_no_fault_of_the_report(
    write: Write, tmp_path: Path, code: str, saying: str
) -> None:
    (tmp_path / "pandas.py").write_text(f"{code}\n")
    ended = run_report(tmp_path, str(write("a.jsonl", [ecsb()])))
    assert (ended.returncode, ended.stdout) == (2, "")
    assert len(ended.stderr.splitlines()) == 1
    assert saying in ended.stderr and "a fault of" not in ended.stderr


def test_a_file_that_a_module_cannot_use_is_named(write: Write, tmp_path: Path) -> None:
    (tmp_path / "pandas.py").write_text("open('/proc/none', 'w')\n")
    ended = run_report(tmp_path, str(write("a.jsonl", [ecsb()])))
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith("nearfar report: cannot use '/proc/none': No such file or directory; ")


def test_lost_output_is_an_error(write: Write, tmp_path: Path) -> None:
    with open("/dev/full", "w", encoding="ascii") as full:
        ended = run_report(tmp_path, str(write("a.jsonl", [ecsb()])), "--text", stdout=full)
    assert ended.returncode == 1
    assert ended.stderr == (
        "nearfar report: cannot write standard output: No space left on device; free space or send it elsewhere\n"
    )


def run_report(before: Path, *arguments: str, stdout: Any = subprocess.PIPE) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own; modules in the directory `before` come before all others."""
    package = Path(__file__).parents[2] / "report"
    return subprocess.run(
        [sys.executable, "-m", "nearfar_report", *arguments],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        cwd=before,
        env={**os.environ, "PYTHONPATH": f"{before}:{package}"},
        check=False,
    )
