#!/usr/bin/env python3
"""The table of what scripts/soak ran.

usage: scripts/soak_table.py [--into DOCUMENT] RESULTS...

RESULTS are the JSON lines of nearfar_soak; runs of the same object on the same library and nodes add up.
With --into the table replaces what is between the marks in DOCUMENT, else it is printed.
"""

import json
import pathlib
import sys
from collections import defaultdict

BEGIN, END = "<!-- generated: scripts/soak -->", "<!-- end of generated -->"


def library_of(record: dict) -> str:
    return "threads" if record["world"] == "threads" else record["library"].split(",")[0]


def table(records: list[dict]) -> str:
    runs: dict[tuple[str, str], dict[bool, int]] = defaultdict(lambda: defaultdict(int))
    bad = []
    for record in records:
        key = (record["object"], library_of(record))
        runs[key][record["nodes"] > 1] += record["operations"]
        if record["lost"] or record["stalled"]:
            what = "stopped" if record["stalled"] else f"lost {record['lost']}"
            bad.append(f"`{record['object']}` on {key[1]}, {record['nodes']} nodes: {what}")
    total = sum(sum(by_nodes.values()) for by_nodes in runs.values())
    lines = ["| object | library | one node | virtual nodes |", "|---|---|--:|--:|"]
    for (name, library), by_nodes in runs.items():
        counts = [f"{by_nodes[several]:,}" if several in by_nodes else "-" for several in (False, True)]
        lines.append(f"| `{name}` | {library} | {counts[0]} | {counts[1]} |")
    verdict = "; ".join(bad) if bad else "nothing lost, nothing stopped"
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
            # A launcher that ends a program may mix its own words in, before a record too.
            start = line.find('{"object":')
            if start < 0:
                continue
            try:
                records.append(json.loads(line[start:]))
            except json.JSONDecodeError as problem:
                sys.exit(f"{name}:{number}: the record is cut off or mixed with other text: {problem}")
    if not records:
        sys.exit(f"no record of nearfar_soak in {' '.join(arguments)}: nothing is known of any object")
    text = table(records)
    if document is None:
        print(text)
        return 0
    before, begin, rest = document.read_text().partition(BEGIN)
    if not begin:
        sys.exit(f"{document} lacks the line {BEGIN}")
    _, end, after = rest.partition(END)
    if not end:
        sys.exit(f"{document} lacks the line {END} after {BEGIN}")
    document.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}")
    return 0


sys.exit(main(sys.argv[1:]))
