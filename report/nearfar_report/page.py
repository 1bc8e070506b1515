"""The HTML page: one file without scripts and without any reference to the outside."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from .output import PAGE_MARK
from .results import Record, ResultsFile
from .styles import Picture
from .tables import MISSING, Table

_STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, "DejaVu Sans", sans-serif; color: #222; background: #fff; max-width: 68rem;
  margin: 0 auto; padding: 1.5rem; }
h1 { font-size: 1.7rem; margin: 0 0 .2rem; } h2 { font-size: 1.3rem; margin: 2.4rem 0 .6rem;
  border-bottom: 1px solid #ccc; } p { max-width: 50rem; }
figure { margin: 1.2rem 0 2rem; } figure img { width: 100%; height: auto; }
figcaption, caption { font-size: .86rem; color: #444; text-align: left; max-width: 60rem; }
caption { padding-bottom: .4rem; }
.scroll { overflow-x: auto; margin: 1.2rem 0 1.8rem; }
table { border-collapse: collapse; font-size: .86rem; font-variant-numeric: tabular-nums; }
th, td { padding: .22rem .7rem .22rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid #e4e4e4; }
thead th { border-bottom: 1.5px solid #888; vertical-align: bottom; }
td.number, th.number { text-align: right; white-space: nowrap; padding-left: .7rem; padding-right: 0; }
td small { color: #666; }
.warning { border-left: 5px solid #D55E00; background: #fdf1ea; padding: .6rem 1rem; margin: 1rem 0; }
.warning ul { margin: .3rem 0 0; padding-left: 1.2rem; }
.notice { border-left: 5px solid #E69F00; background: #fdf7e8; padding: .6rem 1rem; margin: 1rem 0; }
details { margin: .6rem 0; } summary { cursor: pointer; font-weight: 600; }
td.value { overflow-wrap: anywhere; white-space: pre-wrap; }
@media print {
  body { font-size: 10pt; max-width: none; padding: 0; } .scroll { overflow: visible; }
  table { font-size: 7.5pt; } figcaption, caption { font-size: 8pt; }
  figure img { width: auto; max-width: 100%; max-height: 225mm; }
  figure, tr, .warning, .notice { break-inside: avoid; } h2, caption { break-after: avoid; }
  details::details-content { content-visibility: visible; display: block; }
}
@page { size: A4; margin: 14mm; }
"""

_STATISTICS = (
    "Every repetition gives one value. Shown is the median of the repetitions with its 95 % confidence interval. The"
    " interval is non-parametric: from the k-th smallest to the k-th largest value, with the largest k for which the"
    " binomial distribution gives a coverage of at least 95 %. For 8 repetitions these are the smallest and the largest"
    " value (coverage 99.2 %). With fewer than 6 values there is no such interval: minimum and maximum are shown"
    " instead and labelled as range. Medians of time and throughput are each taken over the repetitions."
)


@dataclass(frozen=True)
class Section:
    """One benchmark on the page."""

    title: str
    pictures: Sequence[Picture]
    tables: Sequence[Table]
    introduction: str = ""
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Page:
    """Everything the HTML page shows."""

    title: str
    files: Sequence[ResultsFile]
    sections: Sequence[Section]
    warnings: Sequence[str] = field(default_factory=tuple)


def html(page: Page) -> bytes:
    """The whole document."""
    body = [
        f"<h1>{escape(page.title)}</h1>",
        _warnings(page.warnings),
        _unfinished(page.files),
        _oversubscription(page.files),
        _table(_overview(page.files)),
    ]
    for section in page.sections:
        body.append(f"<section><h2>{escape(section.title)}</h2>")
        if section.introduction:
            body.append(f"<p>{escape(section.introduction)}</p>")
        if section.notes:
            body.append('<div class="notice">' + "<br>".join(map(escape, section.notes)) + "</div>")
        body.extend(_figure(picture) for picture in section.pictures)
        body.extend(_table(table) for table in section.tables)
        body.append("</section>")
    body.append(f"<section><h2>Statistics</h2><p>{escape(_STATISTICS)}</p></section>")
    body.append("<section><h2>Provenance</h2>")
    body.extend(_provenance(file) for file in page.files)
    body.append("</section>")
    content = "\n".join(part for part in body if part)
    document = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"{PAGE_MARK}\n"
        f"<title>{escape(page.title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{content}\n</body>\n</html>\n"
    )
    return document.encode("utf-8", "replace")


def _warnings(warnings: Sequence[str]) -> str:
    if not warnings:
        return ""
    head = "1 sample is void" if len(warnings) == 1 else f"{len(warnings)} samples are void"
    items = "".join(f"<li>{escape(warning)}</li>" for warning in warnings)
    return (
        f'<div class="warning" role="alert"><strong>{head} and left out of all figures.</strong><ul>{items}</ul></div>'
    )


def _unfinished(files: Sequence[ResultsFile]) -> str:
    """A notice about runs that ended early, or continued elsewhere."""
    lines = [f"{file.label}: {notice}." for file in files for notice in file.notices]
    return '<div class="notice">' + "<br>".join(map(escape, lines)) + "</div>" if lines else ""


def _oversubscription(files: Sequence[ResultsFile]) -> str:
    labels = [file.label for file in files if file.provenance["oversubscribed"] is True]
    if not labels:
        return ""
    text = "More ranks than processors: times include waiting for the scheduler. Concerns: " + ", ".join(labels) + "."
    return f'<div class="notice">{escape(text)}</div>'


def _overview(files: Sequence[ResultsFile]) -> Table:
    table = Table(
        "Results files of this report.", ["File", "Benchmark", "Machine", "MPI", "Commit", "Started", "Samples"], 6
    )
    for file in files:
        known = file.provenance
        void = sum(sample.void_reason is not None for sample in file.samples)
        samples = f"{len(file.samples)}" + (f" of {file.run.expected}" if file.shortfall else "")
        samples += f" ({void} void)" if void else ""
        machine = ", ".join(_text(known[name]) for name in ("host", "hardware") if known[name])
        mpi = ", ".join(_text(known[name]) for name in ("mpi_library", "mpi_transport") if known[name])
        commit = _text(known["commit"])[:12]
        cells = (known["benchmark"], machine or MISSING, mpi or MISSING, commit, _text(known["start_time"]), samples)
        table.rows.append([file.label, *cells])
    return table


def _figure(picture: Picture) -> str:
    image = base64.b64encode(picture.svg).decode("ascii")
    return (
        f'<figure><img alt="{escape(picture.alternative)}" src="data:image/svg+xml;base64,{image}">'
        f"<figcaption>{escape(picture.caption)}"
        f" Files: {escape(picture.name)}.svg, {escape(picture.name)}.png.</figcaption></figure>"
    )


def _table(table: Table) -> str:
    def kind(index: int) -> str:
        return "" if index < table.text_columns else ' class="number"'

    heads = "".join(f'<th scope="col"{kind(i)}>{escape(head)}</th>' for i, head in enumerate(table.heads))
    rows = "".join(
        "<tr>" + "".join(f"<td{kind(i)}>{_cell(cell)}</td>" for i, cell in enumerate(row)) + "</tr>\n"
        for row in table.rows
    )
    return (
        f'<div class="scroll"><table><caption>{escape(table.caption)}</caption>\n<thead><tr>{heads}</tr></thead>\n'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _cell(text: str) -> str:
    first, *others = text.split("\n")
    return escape(first) + "".join(f"<br><small>{escape(other)}</small>" for other in others)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _provenance(file: ResultsFile) -> str:
    rows = "".join(f'<tr><th>{escape(n)}</th><td class="value">{v}</td></tr>\n' for n, v in _entries(file.provenance))
    return f"<details><summary>{escape(file.label)}</summary><table><tbody>{rows}</tbody></table></details>"


def _entries(provenance: Mapping[str, Any]) -> list[tuple[str, str]]:
    elsewhere = ("schema", "record", "statements")  # statements are what the sections say
    record: Record = {name: value for name, value in provenance.items() if name not in elsewhere}
    return [(name, escape(" ".join(map(_text, v)) if name == "argv" and isinstance(v, list) else _text(v)))
            for name, v in record.items()]  # fmt: skip
