"""Command line of the report; see ``nearfar report --help``."""

from __future__ import annotations

import argparse
import os
import pathlib
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from .command_line import FAILED, INCOMPLETE, Parser, end, run
from .results import ResultsFile, printable, read_all

if TYPE_CHECKING:
    from .page import Section
    from .published import Published

PROGRAM = "nearfar report"


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = Parser(
        prog=PROGRAM,
        allow_abbrev=False,
        description="Draws PNG and SVG figures and one self-contained HTML page from results of nearfar bench.",
        epilog="Without --text and --csv the last line of output is the path of the page. Exit status: 0 success; 1 success,"
        " but the figures leave out void samples (a wrong count under the lock, no acquisition, or a wrong loop result);"
        " 2 nothing was written; 3 success, but a run ended early: the report uses what its file holds and says so on stderr."
        " docs/results-format.md describes the files.",
    )
    parser.add_argument("files", nargs="*", metavar="FILE", help="results file written by nearfar bench --output; -: standard input")
    parser.add_argument(
        "--output", default="nearfar-report", metavar="DIR", help="directory to write to (default: %(default)s)"
    )
    parser.add_argument("--overwrite", action="store_true", help="replace a report in that directory")
    parser.add_argument("--title", default="nearfar benchmark report", help="heading of the page (default: %(default)s)")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--text", action="store_true", help="print the tables as Markdown and write nothing")
    form.add_argument("--csv", action="store_true", help="print all samples as CSV and write nothing")
    parser.add_argument("--claims", metavar="FILE", help=argparse.SUPPRESS)  # of nearfar figures
    parser.add_argument("--published", metavar="FILE", help=argparse.SUPPRESS)  # of nearfar figures
    parser.add_argument("--section", action="append", metavar="TITLE", help=argparse.SUPPRESS)  # one for each file
    parser.add_argument("--notice", action="append", default=[], metavar="TEXT", help=argparse.SUPPRESS)  # at the top
    parser.add_argument("--check", action="store_true", help=argparse.SUPPRESS)  # whether a report could be written
    arguments = parser.parse_args(argv)
    if not arguments.files and not arguments.check:
        parser.error("no results file is given; name one or more")
    if arguments.section and len(arguments.section) != len(arguments.files):
        parser.error("--section must be given once for each file, or never")
    if not arguments.output:
        parser.error("--output needs the name of a directory")
    return arguments


def _void_samples(files: Sequence[ResultsFile]) -> list[str]:
    """One line for every sample that is left out of the figures."""
    lines = []
    for file in files:
        for sample in file.samples:
            reason = sample.void_reason
            if reason is not None:
                where = f"{printable(file.path)}:{sample.line}"
                lines.append(f"{where}: {reason} ({sample.description}); left out of the figures")
    return lines


def _sections(
    files: Sequence[ResultsFile], titles: Sequence[str] | None = None, points: Published | None = None
) -> list[Section]:
    """The sections of all files together; with titles, those of each file apart, in the order of the files."""
    # A late import: usage and input errors then do not wait for pandas and matplotlib.
    from . import sections, styles, which_lock

    styles.configure()
    if not titles:
        first = which_lock.sections(files)
        return [*first, *sections.sections(files, points)]
    result = []
    for file, title in zip(files, titles):
        stem = pathlib.Path(file.path).stem
        for section in sections.sections([file], points):
            pictures = [replace(picture, name=f"{stem}-{picture.name}") for picture in section.pictures]
            result.append(replace(section, title=title, pictures=pictures))
    return result


def _text(files: Sequence[ResultsFile]) -> str:
    from .tables import markdown

    return "\n".join(markdown(table) for section in _sections(files) for table in section.tables)


def _build(files: Sequence[ResultsFile], arguments: argparse.Namespace, warnings: Sequence[str]) -> dict[str, bytes]:
    """All output files by name, the page last."""
    from . import claims, published
    from .page import Page, html

    points = published.read(arguments.published) if arguments.published else None
    sections = _sections(files, arguments.section, points)
    if arguments.claims:
        sections.insert(0, claims.section(arguments.claims))
    content = {}
    for section in sections:
        for picture in section.pictures:
            content[f"{picture.name}.png"] = picture.png
            content[f"{picture.name}.svg"] = picture.svg
    content["index.html"] = html(Page(arguments.title, files, sections, warnings, arguments.notice))
    return content


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit status."""
    arguments = _arguments(argv)
    return run(PROGRAM, lambda: _run(arguments))


def _run(arguments: argparse.Namespace) -> int:
    from .output import check_directory, write_all

    files = read_all(arguments.files) if arguments.files else []
    prints = arguments.text or arguments.csv
    if not prints:
        check_directory(arguments.output, arguments.files, arguments.overwrite)
    if arguments.check:
        _sections(files)
        return 0
    warnings = [] if arguments.csv else _void_samples(files)  # there, a column says so
    unfinished = [f"{printable(file.path)}: {file.shortfall}" for file in files if file.shortfall]
    if arguments.text:
        sys.stdout.write(_text(files))
    elif arguments.csv:
        from .csv_table import csv_text

        sys.stdout.write(csv_text(files))
    else:
        write_all(arguments.output, _build(files, arguments, warnings))
    for warning in [*unfinished, *warnings]:
        print(f"{PROGRAM}: {warning}", file=sys.stderr)
    if not prints:
        print(os.path.join(arguments.output, "index.html"))
    if warnings:
        return FAILED
    return INCOMPLETE if unfinished else 0


if __name__ == "__main__":
    end(main)
