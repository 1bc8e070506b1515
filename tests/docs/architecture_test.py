"""docs/architecture.md names every folder of the sources, and no folder that is not there."""

import os
import pathlib
import re
import unittest

SOURCE = pathlib.Path(os.environ.get("NEARFAR_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
DOCUMENT = "docs/architecture.md"
ROOTS = ("include/nearfar", "src", "apps/nearfar", "bench")
NAME = re.compile(rf"`((?:{'|'.join(ROOTS)})(?:/\w+)*)`")


class Folders(unittest.TestCase):
    def test_each_is_named_by_its_path(self):
        named = set(NAME.findall((SOURCE / DOCUMENT).read_text()))
        there = {
            str(folder.relative_to(SOURCE))
            for root in ROOTS
            for folder in [SOURCE / root, *(SOURCE / root).rglob("*")]
            if folder.is_dir() and folder.name != "__pycache__"
        }
        self.assertGreater(len(there), 40)
        self.assertEqual(sorted(there - named), [], f"{DOCUMENT} does not name these folders")
        self.assertEqual(sorted(named - there), [], f"{DOCUMENT} names folders that are not there")


if __name__ == "__main__":
    unittest.main()
