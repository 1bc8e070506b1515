#!/usr/bin/env python3
"""soak_table: prints the table of the runs of scripts/soak.

usage: scripts/soak_table.py [--into DOCUMENT] RESULTS...

RESULTS are files of the JSON lines of nearfar_soak. The table adds up runs of one object on one library and one number of
nodes. With --into the script writes the table between the marks in DOCUMENT and keeps the rows of objects that did not run
now; without it the script prints the table.
"""

import json
import pathlib
import re
import sys
from collections import defaultdict

BEGIN, END = "<!-- generated: scripts/soak -->", "<!-- end of generated -->"


def library_of(record: dict) -> str:
    return "threads" if record["world"] == "threads" else record["library"].split(",")[0]


# Operations of an object on a library: on one node, and on several.
Rows = dict[tuple[str, str], dict[bool, int]]


def rows_of(records: list[dict]) -> Rows:
    rows: Rows = defaultdict(lambda: defaultdict(int))
    for record in records:
        rows[record["object"], library_of(record)][record["nodes"] > 1] += record["operations"]
    return rows


def rows_in(text: str) -> Rows:
    """Rows of a table that this script made."""
    rows: Rows = {}
    for name, library, one, several in re.findall(r"^\| `(.+?)` \| (.+?) \| (\S+) \| (\S+) \|$", text, re.MULTILINE):
        counts = {False: one, True: several}
        rows[name, library] = {nodes: int(count.replace(",", "")) for nodes, count in counts.items() if count != "-"}
    return rows


def faults_in(records: list[dict]) -> list[str]:
    return [
        f"`{record['object']}` on {library_of(record)}, {record['nodes']} nodes: "
        + ("stopped" if record["stalled"] else f"lost {record['lost']}" if record["lost"] else "did nothing")
        for record in records
        if record["lost"] or record["stalled"] or not record["operations"]
    ]


def table(rows: Rows, faults: list[str]) -> str:
    total = sum(sum(by_nodes.values()) for by_nodes in rows.values())
    lines = ["| object | library | one node | virtual nodes |", "|---|---|--:|--:|"]
    for (name, library), by_nodes in rows.items():
        counts = [f"{by_nodes[several]:,}" if several in by_nodes else "-" for several in (False, True)]
        lines.append(f"| `{name}` | {library} | {counts[0]} | {counts[1]} |")
    verdict = "; ".join(faults) if faults else "nothing lost, nothing stopped"
    return "\n".join(lines + ["", f"{total:,} operations in all: {verdict}."])


def main(arguments: list[str]) -> int:
    document = None
    if arguments[:1] == ["--into"] and len(arguments) > 1:
        document, arguments = pathlib.Path(arguments[1]), arguments[2:]
    if not arguments or arguments[0].startswith("-"):
        print(__doc__.strip())
        return 0 if arguments in (["-h"], ["--help"]) else 2
    records = []
    for name in arguments:
        for number, line in enumerate(pathlib.Path(name).read_text().splitlines(), 1):
            # A launcher that ends a program may mix its own words in, even before a record.
            start = line.find('{"object":')
            if start < 0:
                continue
            try:
                records.append(json.loads(line[start:]))
            except json.JSONDecodeError as problem:
                sys.exit(f"{name}:{number}: the record is cut off or mixed with other text: {problem}")
    if not records:
        sys.exit(f"{' '.join(arguments)}: no record of nearfar_soak; run scripts/soak again")
    rows, faults = rows_of(records), faults_in(records)
    if document is None:
        print(table(rows, faults))
        return 0
    if faults:
        sys.exit(f"{document} is left alone, as there were faults: {'; '.join(faults)}")
    if not document.is_file():
        sys.exit(f"document {document} does not exist")
    before, begin, rest = document.read_text().partition(BEGIN)
    if not begin:
        sys.exit(f"{document} lacks the line {BEGIN}")
    old, end, after = rest.partition(END)
    if not end:
        sys.exit(f"{document} lacks the line {END} after {BEGIN}")
    text = table(rows_in(old) | rows, faults)
    document.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}")
    return 0


try:
    sys.exit(main(sys.argv[1:]))
except (OSError, UnicodeDecodeError) as problem:
    sys.exit(f"soak_table: {problem}")
except (KeyError, TypeError, AttributeError) as problem:
    sys.exit(f"soak_table: a record is not one of nearfar_soak: {problem!r}")
