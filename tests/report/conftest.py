"""Fixtures that write results files and run the report as the command does."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from forked import run_module
from report_builders import LOOPS_SCHEMA, SCHEMA, Outcome, Record, provenance


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """write(name, samples, **changes of the provenance) -> path"""

    def write_file(name: str, samples: Sequence[Record], **changes: Any) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        benchmark = samples[0]["benchmark"] if samples else "ecsb"
        schema = LOOPS_SCHEMA if samples and "container" in samples[0] else SCHEMA
        records = [{**provenance(benchmark, len(samples)), "schema": schema, **changes}, *samples]
        path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
        return path

    return write_file


@pytest.fixture
def report(tmp_path: Path) -> Callable[..., Outcome]:
    """report(arguments...) runs the command in a directory that is empty before the first run, and returns its result."""
    work = tmp_path / "work"
    work.mkdir()

    def run(*arguments: str | Path, cwd: Path = work) -> Outcome:
        return run_module("nearfar_report", "--overwrite", *arguments, cwd=cwd)

    return run
