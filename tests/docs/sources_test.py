"""docs/sources.md: each item of the five documents, held to the registry and to the experiments of 'nearfar figures'.

A name in the column "in nearfar" exists. Each registered object is in a table or in the list of what is not from the sources.
Each figure that was published has a row, and each experiment, too; a row of a figure names an experiment, or says "missing". A
row that counts claims counts those that the command judges.
"""

import collections
import json
import os
import pathlib
import re
import subprocess
import unittest

COMMAND = os.environ["NEARFAR_COMMAND"]
SOURCE = pathlib.Path(os.environ["NEARFAR_SOURCE_DIR"])

KINDS = {"algorithm", "variant", "parameter", "benchmark", "figure", "claim", "API", "outlook"}
STATUSES = ("there", "missing", "excluded")
OTHERS = "Not from the sources"
HEAD = ["kind", "item", "in the document", "in nearfar", "status"]


def numbered(chapter, first, last):
    return {f"{chapter}.{i}" for i in range(first, last + 1)}


# The figures with results that each document prints, by the document's name in the command. The slides number none.
PUBLISHED = {
    "uffmann2022": numbered(4, 1, 12) | numbered(5, 1, 16),
    "schmid2016": set(),
    "paznikov2023": {"4", "5"},
    "stengel2007": {"1.7", "1.8", "2.2", "2.4", "2.6", "2.7", "3.2", "3.3", "3.4", "3.7", "3.8", "4.2", "4.3"},
    "laubert2021": numbered(5, 1, 11),
}

Row = collections.namedtuple("Row", "line kind item where names status")


def rows_of(text):
    """The rows of all tables with the head of this page, by the heading above them."""
    found, heading, in_table = {}, None, False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("## "):
            heading, in_table = line[3:], False
        cells = [cell.strip() for cell in line.strip()[1:-1].split("|")] if line.startswith("|") else []
        if cells == HEAD:
            in_table = True
            found[heading] = []
        elif not cells:
            in_table = False
        elif in_table and set(cells[0]) != {"-"}:
            kind, item, where, names, status = cells
            found[heading].append(Row(number, kind, item, where, re.findall(r"`([^`]+)`", names), status))
    return found


def others_of(text):
    part = text.partition(f"## {OTHERS}\n")[2].partition("\n## ")[0]
    return re.findall(r"`([^`]+)`", part)


def figures_named(row):
    """The numbers of published figures in a row's item: "benchmarks 4.2 and 4.3: ..."."""
    head = re.match(r"(?:benchmark|figure)s? ((?:\d+(?:\.\d+)?(?: and )?)+)", row.item)
    return set(re.findall(r"\d+(?:\.\d+)?", head[1])) if head else set()


def claims_counted(row):
    count = re.search(r"\b(\d+) claims?\b", row.status)
    return int(count[1]) if count else None


class There:
    """The content of nearfar: names of the registry, and for each publication its experiments with the number of their claims."""

    def __init__(self, registry, experiments, source=SOURCE):
        self.registry, self.experiments, self.source = registry, experiments, source
        self.code = "".join(
            file.read_text() for folder in ("apps", "bench") for file in sorted((source / folder).rglob("*.[ch]pp"))
        )

    @classmethod
    def of_command(cls):
        def printed(*words):
            return subprocess.run([COMMAND, *words], check=True, capture_output=True, text=True).stdout

        listed = json.loads(printed("list", "--json"))
        registry = {one["name"] for kind in listed["kinds"] for one in kind["objects"]}
        registry |= {one["name"] for one in listed["benchmarks"]}
        experiments = {}
        for paper in PUBLISHED:
            experiments[paper] = {}
            for line in printed("figures", paper, "--list").splitlines():
                if line and not line.startswith("#"):
                    count = re.search(r"\((\d+) claims?\)", line)
                    experiments[paper][line.split()[0]] = int(count[1]) if count else 0
        return cls(registry, experiments)

    def has(self, name):
        paper, _, experiment = name.partition(" ")
        if paper in self.experiments:
            return experiment in self.experiments[paper]
        if name.startswith("--"):
            return f'"{name}' in self.code or f'"{name[2:].replace("-", "_")}"' in self.code
        if "/" in name:
            return (self.source / name).exists() or (self.source / "include/nearfar" / name).exists()
        return name in self.registry


def problems(text, there):
    """The faults of the page, a line each."""
    found = []
    tables = rows_of(text)
    rows = [row for table in tables.values() for row in table]
    for row in rows:
        at = f"line {row.line}, '{row.item}'"
        if row.kind not in KINDS:
            found.append(f"{at}: '{row.kind}' is no kind")
        if not row.status.startswith(STATUSES):
            found.append(f"{at}: the status begins with none of {', '.join(STATUSES)}")
        if row.status.startswith("there") and not row.names:
            found.append(f"{at}: is there, but no place is named")
        if row.status.startswith("missing") and row.names:
            found.append(f"{at}: is missing, but has a place")
        found += [f"{at}: '{name}' does not exist" for name in row.names if not there.has(name)]
        experiments = [name.split() for name in row.names if name.partition(" ")[0] in there.experiments]
        if row.kind == "figure" and row.status.startswith("there") and not experiments:
            found.append(f"{at}: the figure has no experiment")
        count = claims_counted(row)
        judged = sum(there.experiments[paper].get(name, 0) for paper, name in experiments)
        if count is not None and count != judged:
            found.append(f"{at}: counts {count} claims, and the command judges {judged}")

    named = {name for row in rows for name in row.names}
    others = set(others_of(text))
    found += [f"'{name}' is in no table, nor in '{OTHERS}'" for name in sorted(there.registry - named - others)]
    found += [f"'{OTHERS}' has '{name}', which does not exist" for name in sorted(others - there.registry)]
    found += [f"'{name}' is in a table and in '{OTHERS}'" for name in sorted(others & named)]

    figures = [row for row in rows if row.kind == "figure"]
    for paper, published in PUBLISHED.items():
        of_paper = [table for table in tables.values() if any(f"{paper} " in name for row in table for name in row.names)]
        drawn = {number for table in of_paper for row in table if row.kind == "figure" for number in figures_named(row)}
        found += [f"{paper}: figure {number} has no row" for number in sorted(published - drawn)]
        for experiment, claims in there.experiments[paper].items():
            name = f"{paper} {experiment}"
            with_it = [row for row in figures if name in row.names]
            if not with_it:
                found.append(f"experiment '{name}' is in no row of a figure")
            elif claims and all(claims_counted(row) is None for row in with_it):
                found.append(f"no row of '{name}' counts its claims")
    return found


class Page(unittest.TestCase):
    def test_the_page_is_true(self):
        if found := problems((SOURCE / "docs/sources.md").read_text(), There.of_command()):
            self.fail("docs/sources.md:\n" + "\n".join(found))

    def test_each_document_has_one_table(self):
        self.assertEqual(len(rows_of((SOURCE / "docs/sources.md").read_text())), len(PUBLISHED))


class Rules(unittest.TestCase):
    """A page that is right, and what is found when one thing in it is wrong."""

    RIGHT = (
        "## A\n\n| kind | item | in the document | in nearfar | status |\n|---|---|---|---|---|\n"
        "| algorithm | one lock | 2.1 | `mcs`, `lock/mcs_lock.hpp`, `--duration` | there |\n"
        "| figure | figures 4 and 5: curves | 4 | `paznikov2023 a` | there, but short; 2 claims |\n"
        "| outlook | a better one | 6 | | missing |\n\n"
        "## Not from the sources\n\n- Locks: `tas`.\n"
    )

    def setUp(self):
        experiments = {paper: {} for paper in PUBLISHED}
        experiments["paznikov2023"] = {"a": 2}
        self.there = There({"mcs", "tas"}, experiments)

    def found(self, old="", new=""):
        self.assertIn(old, self.RIGHT)
        lines = problems(self.RIGHT.replace(old, new, 1) if old else self.RIGHT, self.there)
        return [line for line in lines if not re.match(r"(uffmann2022|stengel2007|laubert2021): figure", line)]

    def test_a_right_page_has_no_problems(self):
        self.assertEqual(self.found(), [])

    def test_names_that_do_not_exist(self):
        for name, wrong in [("`mcs`", "`msc`, `mcs`"), ("mcs_lock", "msc_lock"), ("--duration", "--duratoin"), ("3 a", "3 a`, `paznikov2023 b"),
                            ("`tas`", "`tas`, `sat`")]:  # fmt: skip
            self.assertTrue(any("does not exist" in line for line in self.found(name, wrong)), wrong)

    def test_objects_without_a_place(self):
        self.assertEqual(self.found("`tas`", "none"), ["'tas' is in no table, nor in 'Not from the sources'"])
        self.assertEqual(len(self.found("`mcs`, ", "")), 1)
        self.assertEqual(self.found("`tas`", "`tas`, `mcs`"), ["'mcs' is in a table and in 'Not from the sources'"])

    def test_figures_and_experiments(self):
        self.assertIn("paznikov2023: figure 5 has no row", self.found("figures 4 and 5", "figure 4"))
        without = self.found("`paznikov2023 a`", "`mcs`")
        self.assertTrue(any("the figure has no experiment" in line for line in without), without)
        self.assertTrue(any("experiment 'paznikov2023 a' is in no row" in line for line in without), without)
        self.assertIn("counts 3 claims, and the command judges 2", self.found("2 claims", "3 claims")[0])
        self.assertEqual(self.found("; 2 claims", ""), ["no row of 'paznikov2023 a' counts its claims"])

    def test_kinds_and_statuses(self):
        for old, new in [("algorithm", "algoritm"), ("| there |", "| here |"), ("6 | | missing", "6 | | there"), ("6 | | missing", "6 | `mcs` | missing")]:
            self.assertEqual(len(self.found(old, new)), 1, new)


if __name__ == "__main__":
    unittest.main()
