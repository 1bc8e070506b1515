"""Results of ``nearfar bench`` as data frames."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Union

from nearfar_report.csv_table import rows
from nearfar_report.fields import ResultsError
from nearfar_report.results import read_all

if TYPE_CHECKING:
    import pandas

__all__ = ["ResultsError", "read"]

Path = Union[str, "os.PathLike[str]"]


def read(paths: Path | Iterable[Path]) -> pandas.DataFrame:
    """Returns a row for each sample of these results files, with a column for each field that any of them has.

    Nested fields have names like ``axes.duration``. The first columns are ``file``; ``time_ns``, the measured time of
    one unit of work in nanoseconds, if it is known; and ``void``, the reason why the sample must not enter a figure, if
    there is one. ``attrs["notices"]`` has, for each file, what readers must know about the run. Raises ResultsError,
    whose text says what to do, for a file that ``nearfar report`` would refuse.
    """
    import pandas

    names = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    files = read_all([os.fspath(name) for name in names])
    derived = [{"time_ns": sample.time_ns, "void": sample.void_reason} for file in files for sample in file.samples]
    samples = rows(files)
    first = ["file", "time_ns", "void"]
    columns = [*first, *dict.fromkeys(name for row in samples for name in row if name not in first)]
    frame = pandas.DataFrame([{**row, **more} for row, more in zip(samples, derived)], columns=columns)
    frame.attrs["notices"] = {file.path: file.notices for file in files}
    return frame
