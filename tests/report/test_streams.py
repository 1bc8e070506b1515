"""Output that is closed or in another encoding, and the status that the command nearfar expects."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from report_builders import ecsb

Write = Callable[..., Path]
PACKAGE_ROOT = Path(__file__).resolve().parents[2] / "report"
REPORT, COMPARE = "nearfar_report", "nearfar_report.compare"


def run(
    cwd: Path, module: str, *arguments: str | Path, redirected: str = "", **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """Runs a module of the package in a shell that redirects its output."""
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {redirected}', "sh", sys.executable, "-m", module, *map(str, arguments)],
        capture_output=True,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(PACKAGE_ROOT), "PYTHONDONTWRITEBYTECODE": "1", **environment},
        check=False,
    )


@pytest.fixture
def results(write: Write) -> Path:
    """Results with times that are shown with an ellipsis and a narrow blank."""
    return write("a.jsonl", [ecsb("mcs", r, duration_ns=1000 * ns) for r, ns in enumerate((51, 300, 400, 1250))])


@pytest.mark.parametrize(
    ("module", "arguments"),
    [(REPORT, ["--text"]), (REPORT, ["--csv"]), (REPORT, ["--output=page"]), (COMPARE, ["b.jsonl"])],
)
def test_closed_output_is_an_error(
    tmp_path: Path, results: Path, write: Write, module: str, arguments: list[str]
) -> None:
    write("b.jsonl", [ecsb("mcs", r) for r in range(4)])
    ended = run(tmp_path, module, *arguments, results, redirected=">&-")
    assert ended.returncode == 1, "as for any output that is lost"
    command = b"report" if module == REPORT else b"compare"
    assert ended.stderr.startswith(b"nearfar " + command + b": cannot write standard output: it is closed; ")
    assert len(ended.stderr.splitlines()) == 1
    assert sorted(os.listdir(tmp_path)) == ["a.jsonl", "b.jsonl"]


def test_what_goes_to_a_closed_stderr_is_not_written_to_stdout(tmp_path: Path, results: Path) -> None:
    ended = run(tmp_path, REPORT, "--csv", "nothing.jsonl", redirected="2>&-")
    assert (ended.returncode, ended.stdout) == (2, b"")


@pytest.mark.parametrize(
    ("environment", "encoding", "of_path"),
    [
        ({"PYTHONIOENCODING": "latin1"}, "latin1", b"\xe9"),
        ({"PYTHONIOENCODING": "ascii:strict"}, "ascii", b"?"),
        ({"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, "ascii", "é".encode()),  # unchanged
        ({"PYTHONIOENCODING": "utf-8"}, "utf-8", "é".encode()),
    ],
)
def test_what_another_encoding_lacks_is_replaced(
    tmp_path: Path, results: Path, write: Write, environment: dict[str, str], encoding: str, of_path: bytes
) -> None:
    write("b.jsonl", [ecsb("→mcs", r) for r in range(4)])
    write("c.jsonl", [ecsb("→mcs", r) for r in range(4)])
    blank = "\u202f" if encoding == "utf-8" else " "
    name = results.rename(tmp_path / "é.jsonl").name
    for module, arguments, shown in [
        (REPORT, ["--text", name], f"range 51.0 … 1{blank}250".encode(encoding, "replace")),
        (REPORT, ["--csv", name], b"\n" + of_path + b".jsonl,"),
        (REPORT, ["--output", "é", name], of_path + b"/index.html\n"),
        (COMPARE, ["b.jsonl", "c.jsonl"], "\necsb →mcs ".encode(encoding, "replace")),
    ]:
        ended = run(tmp_path, module, *arguments, **environment)
        assert (ended.returncode, ended.stderr) == (0, b"")
        assert shown in ended.stdout


@pytest.mark.parametrize(
    ("module", "arguments", "status"),
    [
        (REPORT, ["--csv", "a.jsonl"], 0),
        (REPORT, ["none.jsonl"], 2),
        (REPORT, ["--no-such-option"], 2),
        (REPORT, ["--help"], 0),
        (COMPARE, ["b.jsonl", "a.jsonl"], 0),
        (COMPARE, ["a.jsonl", "b.jsonl"], 1),
        (COMPARE, ["a.jsonl"], 2),
    ],
)
def test_the_command_knows_the_status_from_that_of_python(
    tmp_path: Path, results: Path, write: Write, module: str, arguments: list[str], status: int
) -> None:
    write("b.jsonl", [ecsb("mcs", r, duration_ns=10**10 + r * 10**8) for r in range(4)])
    assert run(tmp_path, module, *arguments).returncode == status
    assert run(tmp_path, module, *arguments, NEARFAR_STATUS_BASE="200").returncode == 200 + status


def test_a_mark_that_an_editor_put_before_the_records(results: Path, tmp_path: Path) -> None:
    marked = tmp_path / "marked.jsonl"
    marked.write_bytes(b"\xef\xbb\xbf" + results.read_bytes())
    shown = [run(tmp_path, REPORT, "--csv", path) for path in (results, marked)]
    assert [one.returncode for one in shown] == [0, 0], shown[1].stderr
    assert shown[1].stdout.replace(b"marked", b"a") == shown[0].stdout
