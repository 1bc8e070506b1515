"""The sections of the page that are about locks."""

from __future__ import annotations

from collections.abc import Sequence

from . import ecsb, generic, styles, upb
from .measurements import measurements
from .page import Section
from .results import ResultsFile


def sections(files: Sequence[ResultsFile]) -> list[Section]:
    """One section for each benchmark of which there are valid samples."""
    frame = measurements(files)
    result = []
    for benchmark in [] if frame.empty else sorted(frame["benchmark"].unique()):
        part = frame[frame["benchmark"] == benchmark]
        looks = styles.looks(frame, part)
        if benchmark == "ecsb":
            section = Section("Empty critical section (ECSB)", ecsb.pictures(part, looks), ecsb.tables(part))
        elif benchmark == "upb":
            section = Section("Uncontested performance (UPB)", upb.pictures(part, looks), upb.tables(part))
        else:
            note = "This version of the report has no figures for this benchmark."
            section = Section(f"Benchmark {benchmark}", (), generic.tables(benchmark, part), note)
        result.append(section)
    return result
