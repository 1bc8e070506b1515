"""nearfar's own MPI world, compiled by nearfar-c++, in every schedule of two ranks on one node and on two."""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["NEARFAR_SOURCE_DIR"])
CHECKER = os.environ["NEARFAR_PROGRAM"]
# nearfar relies on these promises (core/world.hpp). Its checker of locks grants them by default.
PROMISES = "racing_loads,racing_gets,mixed_accumulates"


def sources():
    yield from (SOURCE / "tests/program/substrate").glob("*.cpp")
    for folder in ("core", "lock", "memory/mpi"):
        yield from (SOURCE / "src" / folder).glob("*.cpp")
    for name in ("memory/slab", "memory/waiting", "topology/locality", "topology/spec"):
        yield SOURCE / f"src/{name}.cpp"


class substrate_test(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.program = pathlib.Path(folder.name) / "substrate"
        wrapper = SOURCE / "scripts/nearfar-c++"

        def compile(numbered):
            n, source = numbered
            result = pathlib.Path(folder.name) / f"{n}.o"
            subprocess.run([wrapper, "-std=c++20", "-g", "-O1", f"-I{SOURCE}/include", "-c", source, "-o", result], check=True)
            return result

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            objects = list(pool.map(compile, enumerate(sources())))
        subprocess.run([wrapper, *objects, "-o", cls.program], check=True)

    def check(self, what, times, *options):
        reports = []
        for per_node in (2, 1):
            command = [CHECKER, "check", "--ranks", 2, "--node", per_node, "--promises", PROMISES, "--json", *options]
            done = subprocess.run([*map(str, command), "--", self.program, what, str(times)], capture_output=True, text=True)
            reports.append(json.loads(done.stdout))
        return reports

    def expect_complete(self, what, times):
        for report in self.check(what, times):
            self.assertEqual(report["verdict"], "complete", report)
            self.assertGreater(report["executions"], 10)

    def test_the_self_test_of_each_world(self):
        self.expect_complete("self_test", 1)

    def test_the_default_cohort_lock(self):
        self.expect_complete("cohort", 1)
        for report in self.check("cohort", 2, "--tier", "random", "--executions", 3000):
            self.assertNotIn("fault", report)

    def test_a_reader_writer_lock(self):
        self.expect_complete("readers", 2)

    def test_a_queue(self):
        self.expect_complete("queue", 2)

    def test_increments_without_the_lock_are_found(self):
        for report in self.check("unlocked", 1):
            self.assertEqual(report["verdict"], "fault", report)


if __name__ == "__main__":
    unittest.main()
