"""The HTML page: one file without any reference to the outside. Without its script it lacks only sorting and hints."""

from __future__ import annotations

import base64
import json
import re
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
  margin: 0 auto; padding: 1.5rem; overflow-wrap: break-word; }
h1 { font-size: 1.7rem; margin: 0 0 .2rem; } h2 { font-size: 1.3rem; margin: 2.4rem 0 .6rem;
  border-bottom: 1px solid #ccc; } p { max-width: 50rem; }
nav ul { margin: .4rem 0 1rem; padding-left: 1.2rem; columns: 22rem; } nav li { break-inside: avoid; }
.up { float: right; font-size: .86rem; margin-top: .5rem; }
figure { margin: 1.2rem 0 2rem; } figcaption { font-size: .86rem; color: #444; max-width: 60rem; }
figure img { width: 100%; min-width: 45rem; height: auto; display: block; }
figure.table { margin: 1.2rem 0 1.8rem; } figure.table figcaption { padding-bottom: .4rem; }
/* A shadow at each side where a box has more than it shows. */
.scroll { overflow-x: auto; background: linear-gradient(to right, #fff 2rem, #fff0) 0 0 / 3rem 100% no-repeat local,
  linear-gradient(to left, #fff 2rem, #fff0) 100% 0 / 3rem 100% no-repeat local,
  linear-gradient(to right, #0004, #0000) 0 0 / .8rem 100% no-repeat scroll,
  linear-gradient(to left, #0004, #0000) 100% 0 / .8rem 100% no-repeat scroll; }
.hint { font-size: .8rem; color: #8A4B00; margin: .2rem 0; } .hint[hidden] { display: none; }
table { border-collapse: collapse; font-size: .86rem; font-variant-numeric: tabular-nums; }
th, td { padding: .22rem .7rem .22rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid #e4e4e4; }
thead th { border-bottom: 1.5px solid #888; vertical-align: bottom; }
td.number, th.number { text-align: right; padding-left: .7rem; padding-right: 0; }
td.number { white-space: nowrap; } th.number { min-width: 4rem; max-width: 9rem; }
td small { color: #666; }
.scroll td:first-child, .scroll th:first-child { position: sticky; left: 0; background: #fff; max-width: 9rem; }
th button { font: inherit; color: inherit; text-align: inherit; background: none; border: 0; padding: 0; cursor: pointer; }
th button::after { content: "\\A0\\2195"; color: #888; } th button:hover { text-decoration: underline; }
th[aria-sort=ascending] button::after { content: "\\A0\\2191"; color: #000; }
th[aria-sort=descending] button::after { content: "\\A0\\2193"; color: #000; }
.warning { border-left: 5px solid #D55E00; background: #fdf1ea; padding: .6rem 1rem; margin: 1rem 0; }
.warning ul { margin: .3rem 0 0; padding-left: 1.2rem; }
.notice { border-left: 5px solid #E69F00; background: #fdf7e8; padding: .6rem 1rem; margin: 1rem 0; }
details { margin: .6rem 0; } summary { cursor: pointer; font-weight: 600; }
details.notes { font-size: .86rem; } details.notes summary { font-weight: 400; color: #444; }
details.notes ul { margin: .2rem 0; padding-left: 1.2rem; max-width: 50rem; }
td.value { overflow-wrap: anywhere; white-space: pre-wrap; } .provenance th { font-weight: 400; color: #444; }
@media print {
  body { font-size: 10pt; max-width: none; padding: 0; } .scroll { overflow: visible; background: none; }
  table { font-size: 7.5pt; } figcaption { font-size: 8pt; } .hint, .up { display: none; }
  th button::after { content: ""; }
  figure img { width: auto; min-width: 0; max-width: 100%; max-height: 225mm; }
  figure.picture, tr, .warning, .notice { break-inside: avoid; } h2, figcaption { break-after: avoid; }
  details::details-content { content-visibility: visible; display: block; }
}
@page { size: A4; margin: 14mm; }
"""

_SCRIPT = """
for (const box of document.querySelectorAll(".scroll")) {
  const hint = box.previousElementSibling;
  const update = () => { hint.hidden = box.scrollWidth <= box.clientWidth + 1; };
  new ResizeObserver(update).observe(box);
  update();
}
// A cell counts as the number that it begins with; a cell without one comes last in either order.
const keyOf = (row, column, numeric) => {
  const text = row.cells[column].firstChild?.nodeValue ?? "";
  return numeric ? parseFloat(text.replace(/\\u202f/g, "")) : text;
};
const sort = (table, head, column) => {
  const numeric = head.classList.contains("number");
  const sign = head.ariaSort === "ascending" ? -1 : 1;
  const order = (a, b) => {
    if (!numeric) return sign * a.localeCompare(b, "en", {numeric: true});
    return isNaN(a) || isNaN(b) ? isNaN(a) - isNaN(b) : sign * (a - b);
  };
  const rows = [...table.tBodies[0].rows].map((row) => [keyOf(row, column, numeric), row]);
  rows.sort((a, b) => order(a[0], b[0]));
  table.tBodies[0].append(...rows.map(([, row]) => row));
  for (const other of table.tHead.rows[0].cells) other.ariaSort = null;
  head.ariaSort = sign > 0 ? "ascending" : "descending";
};
for (const table of document.querySelectorAll("table")) {
  if (!table.tHead || table.tBodies[0].rows.length < 2) continue;
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement("button");
    button.append(...head.childNodes);
    button.title = "Sort by this column";
    button.onclick = () => sort(table, head, column);
    head.append(button);
  });
}
// A link to something in a closed part opens the part.
const show = () => document.getElementById(location.hash.slice(1))?.closest("details")?.setAttribute("open", "");
addEventListener("hashchange", show);
show();
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
    notices: Sequence[str] = ()


def html(page: Page) -> bytes:
    """The whole document."""
    parts = [(section.title, _contents_of(section)) for section in page.sections]
    parts.append(("Statistics", f"<p>{escape(_STATISTICS)}</p>"))
    parts.append(("Provenance", "\n".join(map(_provenance, page.files))))
    anchors = _anchors([title for title, _ in parts])
    body = [
        f'<h1 id="top">{escape(page.title)}</h1>',
        _warnings(page.warnings),
        _notice(page.notices),
        _unfinished(page.files),
        _oversubscription(page.files),
        _table(_overview(page.files)),
        _contents(anchors, [title for title, _ in parts]),
    ]
    for anchor, (title, text) in zip(anchors, parts):
        up = '<a class="up" href="#top">contents</a>'
        body.append(f'<section id="{anchor}">{up}<h2>{escape(title)}</h2>\n{text}\n</section>')
    content = "\n".join(part for part in body if part)
    document = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"{PAGE_MARK}\n"
        f"<title>{escape(page.title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{content}\n"
        f"<script>{_SCRIPT}</script>\n</body>\n</html>\n"
    )
    return document.encode("utf-8", "replace")


def _contents_of(section: Section) -> str:
    """The section without its heading: the first table open, the others each behind its caption."""
    parts = [f"<p>{escape(section.introduction)}</p>" if section.introduction else "", _notice(section.notes)]
    parts += [_figure(picture) for picture in section.pictures]
    parts += [_table(table, is_closed=index > 0) for index, table in enumerate(section.tables)]
    return "\n".join(part for part in parts if part)


def _anchors(titles: Sequence[str]) -> list[str]:
    """A name for each section that stays the same if other sections are added before it."""
    result: list[str] = []
    for title in titles:
        name = "-".join(re.findall(r"[a-z0-9]+", title.lower())) or "section"
        result.append(name if name not in result else f"{name}-{len(result)}")
    return result


def _contents(anchors: Sequence[str], titles: Sequence[str]) -> str:
    items = "".join(f'<li><a href="#{anchor}">{escape(title)}</a></li>' for anchor, title in zip(anchors, titles))
    return f'<nav><strong>Contents</strong><ul>{items}</ul></nav>'


def _notice(lines: Sequence[str]) -> str:
    return '<div class="notice">' + "<br>".join(map(escape, lines)) + "</div>" if lines else ""


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
    return _notice([f"{file.label}: {notice}." for file in files for notice in file.notices])


def _oversubscription(files: Sequence[ResultsFile]) -> str:
    labels = [file.label for file in files if file.provenance["oversubscribed"] is True]
    if not labels:
        return ""
    text = "More ranks than processors: times include waiting for the scheduler. Concerns: " + ", ".join(labels) + "."
    return _notice([text])


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


# The script shows it where the box after it is wider than its place.
_HINT = '<p class="hint" hidden>⇆ There is more to the right: scroll this box.</p>'


def _figure(picture: Picture) -> str:
    image = base64.b64encode(picture.svg).decode("ascii")
    return (
        f'<figure class="picture">{_HINT}<div class="scroll" tabindex="0">'
        f'<img alt="{escape(picture.alternative)}" src="data:image/svg+xml;base64,{image}"></div>'
        f"<figcaption>{escape(picture.caption)} {escape(picture.name)}.svg</figcaption></figure>"
    )


def _table(table: Table, is_closed: bool = False) -> str:
    def kind(index: int) -> str:
        return "" if index < table.text_columns else ' class="number"'

    heads = "".join(f'<th scope="col"{kind(i)}>{escape(head)}</th>' for i, head in enumerate(table.heads))
    rows = "".join(
        "<tr>" + "".join(f"<td{kind(i)}>{_cell(cell)}</td>" for i, cell in enumerate(row)) + "</tr>\n"
        for row in table.rows
    )
    items = "".join(f"<li>{escape(note)}</li>" for note in table.notes)
    notes = f'<details class="notes"><summary>What the columns mean</summary><ul>{items}</ul></details>' if items else ""
    caption = escape(table.caption)
    shown = "" if is_closed else f"<figcaption>{caption}</figcaption>"
    text = (
        f'<figure class="table">{shown}{_HINT}<div class="scroll" tabindex="0"><table>\n<thead><tr>{heads}</tr></thead>\n'
        f"<tbody>{rows}</tbody></table></div>{notes}</figure>"
    )
    return f'<details class="more"><summary>{caption}</summary>{text}</details>' if is_closed else text


def _cell(text: str) -> str:
    first, *others = text.split("\n")
    return escape(first) + "".join(f"<br><small>{escape(other)}</small>" for other in others)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _provenance(file: ResultsFile) -> str:
    rows = "".join(f'<tr><th>{escape(n)}</th><td class="value">{v}</td></tr>\n' for n, v in _entries(file.provenance))
    table = f'<table class="provenance"><tbody>{rows}</tbody></table>'
    return f"<details><summary>{escape(file.label)}</summary>{table}</details>"


def _entries(provenance: Mapping[str, Any]) -> list[tuple[str, str]]:
    elsewhere = ("schema", "record", "statements")  # statements are what the sections say
    record: Record = {name: value for name, value in provenance.items() if name not in elsewhere}
    return [(name, escape(" ".join(map(_text, v)) if name == "argv" and isinstance(v, list) else _text(v)))
            for name, v in record.items()]  # fmt: skip
