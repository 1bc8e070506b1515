"""Results as data frames: ``nearfar.results`` of the Python package."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from report_builders import ecsb, loop

from nearfar import results

Write = Callable[..., Path]


def test_a_row_for_each_sample_with_all_that_it_has(write: Write) -> None:
    samples = [{**ecsb(repetition=r), "axes": {"work": 2 + r, "far": True}} for r in range(3)]
    path = write("a.jsonl", samples)
    frame = results.read(path)
    assert list(frame.columns[:3]) == ["file", "time_ns", "void"]
    assert list(frame["file"]) == [str(path)] * 3
    assert list(frame["axes.work"]) == [2, 3, 4] and pd.api.types.is_integer_dtype(frame["axes.work"])
    assert list(frame["axes.far"]) == [True] * 3 and frame["axes.far"].dtype == bool
    assert list(frame["repetition"]) == [0, 1, 2]
    assert list(frame["iterations_per_rank"]) == [sample["iterations_per_rank"] for sample in samples]
    assert list(frame["void"]) == [None] * 3
    # 100,000 ns in which 1,000 iterations were done.
    assert list(frame["time_ns"]) == [pytest.approx(100)] * 3


def test_several_files_of_several_kinds_are_one_frame(write: Write) -> None:
    frame = results.read([write("a.jsonl", [ecsb()]), str(write("b.jsonl", [loop(), loop(repetition=1)]))])
    assert len(frame) == 3 and frame["file"].nunique() == 2
    assert frame.groupby("benchmark").size().to_dict() == {"ecsb": 1, "triad": 2}
    assert frame["container"].isna().tolist() == [True, False, False]


def test_what_must_not_enter_a_figure_says_why(write: Write) -> None:
    frame = results.read(write("a.jsonl", [ecsb(verified=False), ecsb(repetition=1)]))
    assert isinstance(frame["void"][0], str) and frame["void"][1] is None


def test_a_run_that_ended_early_says_so(write: Write) -> None:
    path = write("a.jsonl", [ecsb()], records_expected=2)
    assert "the run ended after 1 of 2 samples" in results.read(path).attrs["notices"][str(path)][0]


def test_a_file_that_the_report_refuses_is_refused(tmp_path: Path) -> None:
    with pytest.raises(results.ResultsError, match="cannot be read .*; check the path"):
        results.read(tmp_path / "none.jsonl")
    (tmp_path / "text.jsonl").write_text("no JSON\n", encoding="utf-8")
    with pytest.raises(results.ResultsError, match="text.jsonl:1: the line is not JSON"):
        results.read([tmp_path / "text.jsonl"])
