"""The code in the documents is that of the examples, which are compiled and run.

A block of code that follows a line `<!-- examples/name.cpp: region, region -->` equals the text between the lines
`// [region]` and `// [end]` of that file, without the indentation, regions after each other with an empty line between.
Fortran and Python have their own signs of comments.
"""

import os
import pathlib
import re
import subprocess
import textwrap
import unittest

SOURCE = pathlib.Path(os.environ.get("NEARFAR_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
RULES = "docs/checker-model.md"
DOCUMENTS = ["README.md", "CONTRIBUTING.md", *(str(file.relative_to(SOURCE)) for file in sorted((SOURCE / "docs").glob("*.md")))]
LANGUAGES = {".cpp": "cpp", ".c": "c", ".f90": "fortran", ".py": "python"}
BLOCK = re.compile(rf"^```({'|'.join(LANGUAGES.values())})$", re.MULTILINE)
QUOTE = re.compile(r"<!-- (examples/[\w/]+(\.\w+)): ([^>]*) -->\n```(\w+)\n(.*?)```", re.DOTALL)


def regions(text):
    """The marked regions of an example by name."""
    found = {}
    name, lines = None, []
    for line in text.splitlines():
        mark = re.fullmatch(r"\s*(?://|!|#) \[([\w ]+)\]", line)
        if mark is None:
            lines.append(line)
            continue
        if name is not None and mark[1] == "end":
            found[name] = textwrap.dedent("\n".join(lines)) + "\n"
        name, lines = (None if mark[1] == "end" else mark[1]), []
    return found


class Fragments(unittest.TestCase):
    def test_fragments_are_the_examples(self):
        quoted = set()
        for document in DOCUMENTS:
            text = (SOURCE / document).read_text()
            blocks = QUOTE.findall(text)
            self.assertEqual(len(blocks), len(BLOCK.findall(text)), f"{document}: a block of code without its source")
            for path, suffix, names, language, code in blocks:
                self.assertEqual(language, LANGUAGES[suffix], f"{document}: {path}")
                found = regions((SOURCE / path).read_text())
                wanted = [name.strip() for name in names.split(",")]
                for name in wanted:
                    self.assertIn(name, found, f"{document}: {path} has no region '{name}'")
                    quoted.add((path, name))
                self.assertEqual(code, "\n".join(found[name] for name in wanted), f"{document}: {path}: {names}")
        marked = {
            (str(file.relative_to(SOURCE)), name)
            for file in (SOURCE / "examples").rglob("*") if file.suffix in LANGUAGES for name in regions(file.read_text())
        }  # fmt: skip
        self.assertEqual(marked, quoted, "a marked region of an example is in no document")

    def test_a_reader_sees_which_program_a_fragment_is_from(self):
        for document in DOCUMENTS:
            text = (SOURCE / document).read_text()
            seen = re.sub(r"<!--.*?-->|```.*?```", "", text, flags=re.DOTALL)
            for path, *_ in QUOTE.findall(text):
                self.assertIn(pathlib.Path(path).name, seen, f"{document}: the text does not name {path}")

    def test_rules_name_tests_that_are_there(self):
        there = set()
        for file in (SOURCE / "tests/checker").glob("*.cpp"):
            there |= {".".join(names) for names in re.findall(r"^TEST\((\w+), (\w+)\)", file.read_text(), re.MULTILINE)}
        named = set()
        for line in (SOURCE / RULES).read_text().splitlines():
            if re.fullmatch(r"\|[^|]*\| (\[.*\]|[\d.]+) \|[^|]*\|", line):
                tests = re.findall(r"`(\w+\.\w+)`", line)
                self.assertTrue(tests, f"{RULES} names no test for: {line}")
                named |= set(tests)
        self.assertGreater(len(named), 30)
        self.assertEqual(named - there, set(), f"{RULES} names tests that are not in tests/checker")

    def test_schedules_name_the_lines_of_today(self):
        step = re.compile(r"^>? +\d+ +\d+ +[a-z _]+?\w+\.(\w+) of rank .* (\w+/\w+\.hpp):(\d+)$", re.MULTILINE)
        found = [(document, *line) for document in DOCUMENTS for line in step.findall((SOURCE / document).read_text())]
        self.assertGreater(len(found), 5)
        for document, word, path, line in found:
            text = (SOURCE / "include/nearfar" / path).read_text().splitlines()[int(line) - 1]
            self.assertIn(word, text, f"{document}: {path}:{line}")

    def test_files_that_documents_name_are_there(self):
        for document in DOCUMENTS:
            text = (SOURCE / document).read_text()
            for path in re.findall(r"`((?:examples|include|docs|scripts)/[a-z\d_/.-]+)`", text):
                self.assertTrue((SOURCE / path).exists(), f"{document} names {path}")
            for path in re.findall(r"\]\(([\w/.-]+)\)", text):
                self.assertTrue((SOURCE / document).parent.joinpath(path).exists(), f"{document} links to {path}")

    def test_measured_tables_have_a_place(self):
        listed = subprocess.run([SOURCE / "scripts/numa-tables", "--list"], capture_output=True, text=True, check=True)
        text = (SOURCE / "docs/numa-measured.md").read_text(encoding="utf-8")
        places = re.findall(r"<!-- table: (\w+) -->\n.*?<!-- end -->", text, re.DOTALL)
        self.assertEqual(sorted(places), sorted(listed.stdout.split()))


if __name__ == "__main__":
    unittest.main()
