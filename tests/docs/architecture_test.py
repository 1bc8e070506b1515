"""docs/architecture.md names every folder of the sources, and no folder that is not there. No folders of the command,
of the benchmarks, or of the library's headers include each other in a circle."""

import collections
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


def includes_of(root, prefix):
    """Folder by folder, the folders that its files include as `prefix`/FOLDER, each with one of the includes."""
    result = collections.defaultdict(dict)
    for file in sorted(root.rglob("*.[ch]pp")):
        for header in re.findall(rf'^#include "{prefix}/([\w/]+\.hpp)"', file.read_text(), re.MULTILINE):
            own, other = str(file.parent.relative_to(root)), str(pathlib.Path(header).parent)
            if own != other:
                result[own].setdefault(other, f"{file.relative_to(root)} includes {header}")
    return result


def circle_in(includes):
    """The includes of a shortest circle; none if there is no circle."""
    found = []
    for start in sorted(includes):
        ways = {start: []}
        queue = [start]
        for folder in queue:
            for other, include in includes.get(folder, {}).items():
                way = [*ways[folder], include]
                if other == start and (not found or len(way) < len(found)):
                    found = way
                if other not in ways:
                    ways[other] = way
                    queue.append(other)
    return found


class Includes(unittest.TestCase):
    def test_no_folders_of_the_command_include_each_other_in_a_circle(self):
        includes = includes_of(SOURCE / "apps/nearfar", "apps/nearfar")
        self.assertGreater(len(includes), 8)
        self.assertEqual(circle_in(includes), [], "move the part that both need into a folder that both may include")

    def test_no_folders_of_the_library_include_each_other_in_a_circle(self):
        includes = includes_of(SOURCE / "include/nearfar", "nearfar")
        self.assertGreater(len(includes), 8)
        self.assertEqual(circle_in(includes), [], "move the part that both need into a folder that both may include")

    def test_no_folders_of_the_benchmarks_include_each_other_in_a_circle(self):
        includes = includes_of(SOURCE / "bench", "bench")
        self.assertGreater(len(includes), 8)
        self.assertEqual(circle_in(includes), [], "move the part that both need into a folder that both may include")

    def test_a_circle_is_found(self):
        self.assertEqual(circle_in({"a": {"b": "a to b"}, "b": {"c": "b to c", "d": "b to d"}, "d": {"a": "d to a"}}),
                         ["a to b", "b to d", "d to a"])  # fmt: skip


if __name__ == "__main__":
    unittest.main()
