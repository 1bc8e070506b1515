"""How nearfar report and nearfar compare start Python, and what they print if it cannot run the package."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

COMMAND = os.environ["NEARFAR_COMMAND"]

# A stand-in for the package: prints its arguments and environment, then ends with a status.
FAKE = """
import json, os, sys
print(json.dumps({"arguments": sys.argv[1:], "environment": dict(os.environ)}))
sys.exit(int(os.environ.get("NEARFAR_STATUS_BASE", "0")) + int(os.environ.get("FAKE_STATUS", "0")))
"""


class ReportStart(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def nearfar(self, *arguments, **environment):
        return subprocess.run(
            [COMMAND, *arguments],
            capture_output=True,
            text=True,
            cwd=self.folder,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            check=False,
        )

    def program(self, text):
        path = self.folder / "program"
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return str(path)

    def of_fake_package(self, *arguments, **environment):
        package = self.folder / "nearfar_report"
        package.mkdir(exist_ok=True)
        for module in ["__main__", "compare"]:
            (package / f"{module}.py").write_text(FAKE)
        ended = self.nearfar(*arguments, NEARFAR_REPORT_DIR=str(self.folder), **environment)
        self.assertEqual(ended.stderr, "")
        return ended.returncode, json.loads(ended.stdout)

    def test_a_python_that_runs_nothing_gives_no_status_of_a_report(self):
        for words in [["compare", "a", "b"], ["report", "a"]]:
            for text in ["exit 0", "exit 1", "exit 2", "exit 120", "exit 255"]:
                with self.subTest(words=words, text=text):
                    program = self.program(text)
                    ended = self.nearfar(*words, NEARFAR_PYTHON=program)
                    self.assertEqual(ended.returncode, 2, ended.stderr)
                    self.assertEqual(len(ended.stderr.splitlines()), 1, ended.stderr)
                    self.assertIn(f"'{program}', which NEARFAR_PYTHON names, has not run nearfar_report", ended.stderr)
                    self.assertIn(f"(status {text.split()[1]})", ended.stderr)
        self.assertIn("'/bin/true', which", self.nearfar("compare", "a", "b", NEARFAR_PYTHON="/bin/true").stderr)

    def test_a_python_that_breaks_off_gives_no_status_of_a_report(self):
        ended = self.nearfar("compare", "a", "b", PYTHONIOENCODING="no-such-encoding")
        self.assertEqual(ended.returncode, 2, ended.stderr)
        self.assertRegex(ended.stderr.splitlines()[-1], "^nearfar: .*python3' has not run nearfar_report.compare to its end")

    def test_modules_of_the_current_folder_are_not_its_own(self):
        (self.folder / "json.py").write_text("raise SystemExit('not this one')")
        ended = self.nearfar("report", "no-such-file")
        self.assertEqual(ended.returncode, 2, ended.stderr)
        self.assertNotIn("not this one", ended.stderr)
        self.assertIn("no-such-file", ended.stderr)

    def test_one_that_is_stopped_through_a_shell(self):
        ended = self.nearfar("report", "a", NEARFAR_PYTHON=self.program("sh -c 'kill $$'"))
        self.assertEqual(ended.returncode, 128 + 15, ended.stderr)
        self.assertIn("nearfar: signal 15 (Terminated) ended the report\n", ended.stderr)  # beside the shell's own words

    def test_status_of_the_package(self):
        for status in [0, 1, 2, 3]:
            self.assertEqual(self.of_fake_package("compare", "a", "b", FAKE_STATUS=str(status))[0], status)

    def test_errors_of_the_package_keep_their_status(self):
        for words in [["compare", "none", "none"], ["report", "none"]]:
            ended = self.nearfar(*words)
            self.assertEqual(ended.returncode, 2, ended.stderr)
            self.assertEqual(len(ended.stderr.splitlines()), 1, ended.stderr)
            self.assertTrue(ended.stderr.startswith(f"nearfar {words[0]}: none: "), ended.stderr)

    def test_home_of_another_python_does_not_count(self):
        status, told = self.of_fake_package("compare", "a", "b", PYTHONHOME="/nope")
        self.assertEqual(status, 0)
        self.assertNotIn("PYTHONHOME", told["environment"])

    def test_threads_of_openblas(self):
        kept = os.environ.pop("OPENBLAS_NUM_THREADS", None)
        if kept is not None:
            self.addCleanup(os.environ.__setitem__, "OPENBLAS_NUM_THREADS", kept)
        for given, expected in [({}, "1"), ({"OPENBLAS_NUM_THREADS": "3"}, "3")]:
            _, told = self.of_fake_package("report", "a", **given)
            self.assertEqual(told["environment"]["OPENBLAS_NUM_THREADS"], expected)

    def test_values_that_begin_with_a_dash(self):
        _, told = self.of_fake_package("report", "--output=-x", "--title=--text", "--", "-a.jsonl")
        self.assertEqual(told["arguments"], ["--output=-x", "--title=--text", "--", "-a.jsonl"])
        _, told = self.of_fake_package("compare", "--bound=7", "--", "-a", "--json")
        self.assertEqual(told["arguments"], ["--bound=7", "--", "-a", "--json"])
        self.assertIn("nearfar report: none: ", self.nearfar("report", "--output=-x", "none").stderr)


if __name__ == "__main__":
    unittest.main()
