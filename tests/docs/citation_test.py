"""CITATION.cff and CHANGELOG.md: both parse, and name this version."""

import os
import pathlib
import re
import unittest

import yaml

SOURCE = pathlib.Path(os.environ.get("NEARFAR_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))


def version():
    project = re.search(r"project\(\s*nearfar\s+VERSION (\S+)", (SOURCE / "CMakeLists.txt").read_text())
    return project[1]


class Citation(unittest.TestCase):
    def test_it_has_what_the_format_asks_for_and_the_version_of_the_project(self):
        citation = yaml.safe_load((SOURCE / "CITATION.cff").read_text())
        self.assertEqual(citation["cff-version"], "1.2.0")
        for field in ("message", "title"):
            self.assertIsInstance(citation[field], str)
        self.assertTrue(citation["authors"])
        for author in citation["authors"]:
            self.assertIsInstance(author["name"], str)
        self.assertEqual(str(citation["version"]), version())
        self.assertEqual(citation["license"], "BSD-3-Clause")
        self.assertIn("BSD 3-Clause", (SOURCE / "LICENSE").read_text())

    def test_the_newest_changes_are_those_of_the_version(self):
        newest = re.search(r"^## (\S+)", (SOURCE / "CHANGELOG.md").read_text(), re.MULTILINE)
        self.assertEqual(newest[1], version())


if __name__ == "__main__":
    unittest.main()
