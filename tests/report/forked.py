"""Runs a module of the report as `python -m` does, in a fork of this process: modules that take 0.6 s to load are loaded once."""

from __future__ import annotations

import io
import os
import runpy
import signal
import sys
import tempfile
import traceback
from pathlib import Path

# The forks would load them one by one.
import matplotlib.figure  # noqa: F401
import pandas  # noqa: F401

from report_builders import Outcome


def run_module(module: str, *arguments: str | Path, cwd: Path) -> Outcome:
    """Its modules of nearfar_report are loaded anew, so that a run keeps nothing of an earlier one or of a test."""
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        child = os.fork()
        if child == 0:
            _become(module, [*map(str, arguments)], cwd, stdout.fileno(), stderr.fileno())
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        texts = []
        for stream in (stdout, stderr):
            stream.seek(0)
            texts.append(stream.read().decode())
    return Outcome(status, *texts, cwd / "nearfar-report")


def _become(module: str, arguments: list[str], cwd: Path, stdout: int, stderr: int) -> None:
    status = 70  # this belongs to a test that failed here
    signal.alarm(120)  # a run that hangs ends with status -14
    try:
        os.chdir(cwd)
        with open(os.devnull, "rb") as nothing:
            os.dup2(nothing.fileno(), 0)
        os.dup2(stdout, 1)
        os.dup2(stderr, 2)
        sys.stdin = open(0, encoding="utf-8", closefd=False)
        sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), encoding="utf-8")
        sys.stderr = io.TextIOWrapper(io.FileIO(2, "w", closefd=False), encoding="utf-8", write_through=True)
        sys.argv = [module, *arguments]
        for name in [name for name in sys.modules if name.split(".")[0] == "nearfar_report"]:
            del sys.modules[name]
        try:
            runpy.run_module(module, run_name="__main__", alter_sys=True)
            status = 0
        except SystemExit as ended:
            status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        if sys.stdout is not None:
            sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
        status = 70
    finally:
        os._exit(status)
