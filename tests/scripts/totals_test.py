"""The stages of make test, its totals and its exit status, with stand-ins for the programs that it starts."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("NEARFAR_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
# Stands in for cmake, ctest, Python and the project's own scripts. It notes its call, and does what plan.json says for
# the first words that occur in the call: a status, and the attributes of the results that it writes.
STAND_IN = """#!/usr/bin/env python3
import json, os, pathlib, sys
root = pathlib.Path(os.environ["TRIAL_ROOT"])
call = [pathlib.Path(sys.argv[0]).name, *sys.argv[1:]]
text = " ".join(call)
if call[1:2] == ["-c"]:
    print("imported")
    sys.exit()
with open(root / "calls.jsonl", "a") as calls:
    print(json.dumps({"call": call, "environment": dict(os.environ)}), file=calls)
if "--preset" in call and call[0] == "cmake" and "--build" not in call:
    folder = root / "build" / call[call.index("--preset") + 1]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "build.ninja").touch()
plan = json.loads((root / "plan.json").read_text())
does = next((what for words, what in plan.items() if words in text), {})
attributes = does.get("results", 'tests="5" failures="0"')
for word, following in zip(call, [*call[1:], ""]):
    path = following if word == "--output-junit" else word.partition("--junitxml=")[2]
    if path and attributes is not None:
        pathlib.Path(path).write_text(f"<testsuite {attributes}></testsuite>")
sys.exit(does.get("status", 0))
"""
QUICK = ["setup", "format", "test report", "build joined-openmpi", "test joined-openmpi", "build quick-mpich", "test quick-mpich"]
SLOW = [
    "clang-tidy",
    *(f"{what} {preset}" for preset in ["gcc-openmpi, slow", "quick-mpich, slow", "asan-mpich", "tsan-openmpi, slow"] for what in ["build", "test"]),
]  # fmt: skip


class Run(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        shutil.copytree(SOURCE / "scripts", self.root / "scripts")
        shutil.copy(SOURCE / "CMakePresets.json", self.root)
        for name in ["scripts/setup", "scripts/format", "scripts/tidy", "scripts/two-nodes", "bin/cmake", "bin/ctest", "bin/python"]:
            path = self.root / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(STAND_IN)
            path.chmod(0o755)

    def run_test(self, *arguments, plan=None, **environment):
        """Runs scripts/test; returns its exit status, the stages that it named, its last line, and the calls."""
        (self.root / "plan.json").write_text(json.dumps(plan or {}))
        calls = self.root / "calls.jsonl"
        calls.write_text("")
        bin_ = self.root / "bin"
        ended = subprocess.run(
            [self.root / "scripts" / "test", *arguments],
            env={**os.environ, "TRIAL_ROOT": str(self.root), "NEARFAR_PYTHON": str(bin_ / "python"),
                 "PATH": f"{bin_}:{os.environ['PATH']}", **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )  # fmt: skip
        stages = [line[5:].partition(" (at ")[0] for line in ended.stdout.splitlines() if line.startswith("==== ") and " (at " in line]
        return ended.returncode, stages, ended.stdout.splitlines()[-1], [json.loads(line) for line in calls.read_text().splitlines()]

    def test_has_all_stages_and_adds_up_their_tests(self):
        self.assertEqual(self.run_test()[:3], (0, QUICK, "15 passed, 0 failed"))
        self.assertEqual(self.run_test("--full")[:3], (0, QUICK + SLOW, "35 passed, 0 failed"))

    def test_ends_with_the_first_stage_that_fails(self):
        for failing, last, count in [
            ("setup test", "setup", 0),
            ("format --check", "format", 0),
            ("cmake --preset joined-openmpi", "build joined-openmpi", 5),
            ("--build --preset quick-mpich", "build quick-mpich", 10),
            ("tidy --without-tests", "clang-tidy", 15),
        ]:
            stages = (QUICK + SLOW)[: (QUICK + SLOW).index(last) + 1]
            self.assertEqual(self.run_test("--full", plan={failing: {"status": 3}})[:3], (1, stages, f"{count} passed, 1 failed"))

    def test_fails_for_results_of_any_kind_that_are_not_good(self):
        for results, status, said in [
            ('tests="5" failures="2"', 8, "8 passed, 2 failed"),
            ('tests="5" failures="2" errors="1"', 1, "7 passed, 3 failed"),
            ('tests="5" failures="1"', 0, "9 passed, 1 failed"),
            ('tests="5" failures="0"', 1, "10 passed, 1 failed"),
            ('tests="0"', 0, "5 passed, 1 failed"),
            ('tests="3" skipped="1" disabled="2"', 0, "5 passed, 1 failed"),
            (None, 0, "5 passed, 1 failed"),
            (None, 1, "5 passed, 1 failed"),
        ]:
            plan = {"ctest --preset joined-openmpi": {"results": results, "status": status}}
            self.assertEqual(self.run_test(plan=plan)[:3], (1, QUICK[:5], said))

    def test_takes_no_results_of_the_run_before(self):
        self.run_test()
        plan = {"ctest --preset joined-openmpi": {"results": None}}
        self.assertEqual(self.run_test(plan=plan)[:3], (1, QUICK[:5], "5 passed, 1 failed"))

    def test_says_what_was_skipped(self):
        plan = {"ctest --preset joined-openmpi": {"results": 'tests="5" failures="0" skipped="1" disabled="1"'}}
        self.assertEqual(self.run_test(plan=plan)[:3], (0, QUICK, "13 passed, 0 failed"))

    def test_lets_no_variable_and_no_earlier_option_choose_the_tests(self):
        calls = self.run_test(GTEST_FILTER="none", GTEST_TOTAL_SHARDS="2", GTEST_SHARD_INDEX="0", PYTEST_ADDOPTS="-k none")[3]
        started = [each for each in calls if each["call"][0] in ("ctest", "python")]
        self.assertEqual(len(started), 3)
        for each in started:
            self.assertEqual([name for name in each["environment"] if name.startswith(("GTEST_", "PYTEST_ADDOPTS"))], [])
        for each in started[1:]:
            self.assertIn("--no-tests=error", each["call"])
        configured = [each["call"][:3] for each in calls if each["call"][0] == "cmake" and "--build" not in each["call"]]
        self.assertEqual(configured, [["cmake", "--preset", name] for name in ["joined-openmpi", "quick-mpich"]])


if __name__ == "__main__":
    unittest.main()
