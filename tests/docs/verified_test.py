"""scripts/verified has a row for each registered lock, and each row names the code that it is about.

A lock without a row fails, as does a row of a lock that is gone. Where the code of a lock, or the checker, has changed since
its row was made, the test names the row and passes: a search of minutes is not to be repeated for each commit, and what a row
says stays true of the code that it names. `scripts/verified` makes such rows anew.
"""

import importlib.machinery
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

COMMAND = pathlib.Path(os.environ["NEARFAR_COMMAND"])
SOURCE = pathlib.Path(os.environ["NEARFAR_SOURCE_DIR"])
SCRIPT = SOURCE / "scripts/verified"


def load(path):
    loader = importlib.machinery.SourceFileLoader("verified", str(path))
    sys.dont_write_bytecode = True
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("verified", loader))
    loader.exec_module(module)
    return module


verified = load(SCRIPT)


class Rows(unittest.TestCase):
    def setUp(self):
        self.locks = verified.registry(COMMAND)
        self.rows = verified.read_rows(SOURCE / "docs/verified.jsonl")
        self.sources = verified.Sources(SOURCE)

    def test_every_lock_of_the_registry_has_a_row_and_no_other(self):
        found = verified.stale(self.locks, self.rows, self.sources)
        if names := " ".join(found["missing"]):
            self.fail(f"docs/verified.jsonl and docs/verified.md have no rows of these: 'scripts/verified {names}' makes them")
        self.assertEqual(found["gone"], [], "the registry has them no more: scripts/verified leaves their rows out")
        if found["changed"]:
            print(f"changed since their row was made: {' '.join(found['changed'])}", file=sys.stderr)
        if found["older checker"]:
            print(f"{len(found['older checker'])} locks have rows of an older checker", file=sys.stderr)

    def test_sound_locks_show_no_fault_and_others_show_theirs(self):
        self.assertEqual(verified.wrong(self.locks, self.rows), [])

    def test_each_sound_lock_is_complete_within_some_bounds(self):
        complete = {row["lock"] for row in self.rows.values() if row["ended_by"] == "end"}
        without = [lock.name for lock in self.locks if not lock.unsound and lock.name not in complete]
        if without:
            self.fail(f"no search of these came to its end: run 'scripts/verified --limit 60 {' '.join(without)}'")

    def test_the_table_in_the_document_is_that_of_the_rows(self):
        document = SOURCE / "docs/verified.md"
        if document.exists():
            table = re.search(f"{verified.BEGIN}\n\n(.*?)\n\n{verified.END}", document.read_text(), re.DOTALL)
            self.assertIsNotNone(table, f"{document} has no table of scripts/verified")
            self.assertEqual(table[1], verified.table_of(self.rows), "scripts/verified --table puts it there")


class Code(unittest.TestCase):
    """Changes of code, and the rows that each makes stale."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for part in ("bench/kinds/locks", "bench/kinds/rw_locks", "include/nearfar/lock", "include/nearfar/memory", "src/lock"):
            shutil.copytree(SOURCE / part, self.folder / part)
        self.names = [lock.name for lock in verified.registry(COMMAND)]
        self.before = self.digests()

    def digests(self):
        sources = verified.Sources(self.folder)
        return {name: sources.digest(name) for name in self.names}

    def changed_by(self, file, old, new):
        path = self.folder / file
        text = path.read_text()
        self.assertIn(old, text)
        path.write_text(text.replace(old, new, 1))
        after = self.digests()
        path.write_text(text)
        return {name for name in self.names if after[name] != self.before[name]}

    def test_a_comment_or_a_blank_changes_nothing(self):
        header = "include/nearfar/lock/mcs_lock.hpp"
        self.assertEqual(self.changed_by(header, "#pragma once", "// New.\n#pragma once\n\n/* more */\n"), set())

    def test_a_header_changes_the_locks_that_are_made_of_it(self):
        changed = self.changed_by("include/nearfar/lock/cna_lock.hpp", "#pragma once", "#pragma once\nint more;")
        self.assertEqual(changed, {"cna", "cohort.mcs_cna"})

    def test_a_header_that_another_includes_changes_both(self):
        changed = self.changed_by("include/nearfar/lock/mcs_lock.hpp", "memory_order_acq_rel", "memory_order_relaxed")
        self.assertLessEqual({"mcs", "cohort", "cohort.unbiased", "cohort_rw"}, changed)
        self.assertFalse({"tas", "near_ticket", "hemlock"} & changed)

    def test_the_header_of_far_accesses_changes_the_locks_that_include_it(self):
        changed = self.changed_by(str(verified.NEAREST), "bool is_in_place_;", "bool is_in_place_ = false;")
        self.assertLessEqual({"tas", "ticket", "clh", "hclh", "shfl", "rma_rw"}, changed)
        self.assertFalse({"mcs", "near_ticket", "hemlock"} & changed)

    def test_a_source_of_a_header_changes_its_locks(self):
        changed = self.changed_by("src/lock/rh_lock.cpp", "namespace nearfar::detail {", "namespace nearfar::detail {\nint more;")
        self.assertEqual(changed, {"rh"})

    def test_how_a_lock_is_registered_changes_that_lock_only(self):
        changed = self.changed_by("bench/kinds/locks/cohort.cpp", "biased_above, cohort_policy{}>(", "ticket_above, cohort_policy{}>(")
        self.assertEqual(changed, {"cohort"})
        changed = self.changed_by("bench/kinds/locks/hemlock.cpp", ".passes = pass_place::beside}", ".passes = pass_place::inside}")
        self.assertEqual(changed, {name for name in self.names if name.startswith("hemlock.")})

    def test_the_parts_of_a_lock_are_found(self):
        def headers(name):
            return {file.name for file in verified.Sources(SOURCE).files_of(name)}

        self.assertLessEqual({"cohort_lock.hpp", "biased_queue.hpp", "mcs_lock.hpp"}, headers("cohort"))
        self.assertNotIn("cna_lock.hpp", headers("cohort"))
        self.assertLessEqual({"cohort_lock.hpp", "dash_lock.hpp", "hemlock.hpp"}, headers("cohort.mcs_hemlock"))
        self.assertIn("cst_lock.hpp", headers("near_cst"))
        self.assertIn("fissile_lock.hpp", headers("near_rw.fissile"))
        self.assertNotIn("fissile_lock.hpp", headers("near_rw"))
        for name in self.names:
            self.assertTrue(headers(name), name)


class Script(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.results, self.document = self.folder / "rows.jsonl", self.folder / "table.md"
        self.document.write_text(f"before\n{verified.BEGIN}\n{verified.END}\nafter\n")

    def run_script(self, *arguments):
        files = ["--command", COMMAND, "--results", self.results, "--document", self.document]
        return subprocess.run([sys.executable, SCRIPT, *files, *arguments], capture_output=True, text=True, check=False)

    def test_it_keeps_rows_and_goes_on_from_them(self):
        first = self.run_script("--limit", "600", "tas", "near_ticket", "d_mcs.put")
        self.assertEqual(first.returncode, 0, first.stderr)
        rows = verified.read_rows(self.results)
        self.assertEqual({row["lock"] for row in rows.values()}, {"tas", "near_ticket", "d_mcs.put"})
        tas = rows["tas", 3, 2, 0, 2, "lazy"]
        self.assertEqual((tas["ended_by"], tas["traces"], tas["finding"], tas["cells"]), ("end", 1667, None, "release_acquire"))
        self.assertEqual(rows["near_ticket", 2, 2, 0, 1, "lazy"]["nodes"], 1)
        self.assertEqual([row["finding"] for row in rows.values() if row["lock"] == "d_mcs.put"], ["conflict"])
        text = self.document.read_text()
        self.assertRegex(text, r"\| `tas` \| 2 \| 2 x 2, 3 x 1, 4 x 1, 3 x 2 \| 1,667 \| [\d.]+ \| - \| nothing \| \w+ \|")
        self.assertRegex(text, r"\| `d_mcs.put` \| 2 \| - \| .* \| \*\*conflict\*\*, 2 x 2, lazy \|")
        self.assertTrue(text.startswith("before\n") and text.endswith("after\n"))
        again = self.run_script("--limit", "600", "tas", "near_ticket", "d_mcs.put")
        self.assertEqual(again.stdout, "", "all is up to date")
        self.assertEqual(verified.read_rows(self.results), rows)

    def test_a_limit_is_said_and_a_longer_one_goes_on(self):
        self.run_script("--limit", "0.001", "d_mcs")
        cut = verified.read_rows(self.results)["d_mcs", 3, 2, 0, 2, "lazy"]
        self.assertEqual(cut["ended_by"], "limit")
        self.assertIn(f"3 x 2: {cut['traces']:,} in 0 s", self.document.read_text())
        self.run_script("--limit", "600", "d_mcs")
        self.assertEqual(verified.read_rows(self.results)["d_mcs", 3, 2, 0, 2, "lazy"]["traces"], 2945)

    def test_wrong_names_and_marks_are_said(self):
        wrong = self.run_script("cohrt")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("cohrt", wrong.stderr)
        self.document.write_text("no marks\n")
        self.assertIn("lacks the lines", self.run_script("--table").stderr)


if __name__ == "__main__":
    unittest.main()
