"""The main job of README: scripts/bench, with short runs and the command of the build under test."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SCRIPTS = pathlib.Path(os.environ["NEARFAR_SOURCE_DIR"]) / "scripts"
LIBRARY = os.environ["NEARFAR_MPI_NAME"]


class BenchScript(unittest.TestCase):
    def test_ends_with_a_page(self):
        has_nodes = subprocess.run([SCRIPTS / "two-nodes", "check"], capture_output=True).returncode == 0
        with tempfile.TemporaryDirectory() as folder:
            # The script keeps its results beside the scripts.
            shutil.copytree(SCRIPTS, pathlib.Path(folder) / "scripts")
            bench = pathlib.Path(folder) / "scripts" / "bench"
            environment = {
                **os.environ,
                "NEARFAR_BENCH_MPI": LIBRARY,
                "NEARFAR_BENCH_COMMAND": os.environ["NEARFAR_COMMAND"],
                "NEARFAR_BENCH_DURATION": "0.01",
                "NEARFAR_BENCH_REPETITIONS": "1",
                "NEARFAR_BENCH_UPB_LOCKS": "mpi_win",
            }
            ended = subprocess.run([bench], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
            self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
            results = pathlib.Path(folder) / "build" / "bench" / f"ecsb-{LIBRARY}.jsonl"
            locks = {json.loads(line).get("lock") for line in results.read_text().splitlines()} - {None}
            # The recommended setting of each family, and no variant.
            self.assertLess({"cohort", "mcs", "mpi_win"}, locks)
            self.assertFalse([lock for lock in locks if "." in lock])
            page = pathlib.Path(ended.stdout.splitlines()[-1])
            self.assertEqual(page.parent, pathlib.Path(folder).resolve() / "build" / "bench" / "report")
            self.assertIn("ECSB", page.read_text())
            self.assertEqual("UPB" in page.read_text(), has_nodes or LIBRARY == "mpich")

            # Another run keeps this page, also if nobody reads its messages.
            ended = subprocess.run(
                ["sh", "-c", 'exec "$0" 2>&-', bench],
                env={**environment, "NEARFAR_BENCH_LOCKS": "mcs"},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
            )
            self.assertEqual(ended.returncode, 0, ended.stdout)
            for kept in [page, page.parents[1] / "before" / "report" / page.name]:
                self.assertIn("ECSB", kept.read_text())

    def refused(self, *words, **variables):
        """The error of a run that must end before it builds or writes anything."""
        command = os.environ["NEARFAR_COMMAND"]
        known = {**os.environ, "NEARFAR_BENCH_MPI": LIBRARY, "NEARFAR_BENCH_COMMAND": command, **variables}
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(SCRIPTS, pathlib.Path(folder) / "scripts")
            ended = subprocess.run([*words, pathlib.Path(folder) / "scripts" / "bench"], env=known, capture_output=True, text=True)
            self.assertFalse((pathlib.Path(folder) / "build").exists())
        self.assertNotEqual(ended.returncode, 0)
        self.assertEqual((ended.stdout, ended.stderr.count("\n")), ("", 1), ended.stderr)
        return ended.stderr

    def test_a_command_of_another_library_is_refused(self):
        if LIBRARY not in ("openmpi", "mpich"):
            self.skipTest("the script knows Debian's libraries apart")
        other = "mpich" if LIBRARY == "openmpi" else "openmpi"
        self.assertIn(f"set NEARFAR_BENCH_MPI={LIBRARY}", self.refused(NEARFAR_BENCH_MPI=other))

    def test_a_low_limit_of_files_is_refused(self):
        """Open MPI's launcher would hang."""
        self.assertIn("ulimit -f unlimited", self.refused("bash", "-c", 'ulimit -f 1000; "$0"'))


if __name__ == "__main__":
    unittest.main()
