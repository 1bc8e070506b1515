"""The stages of make bench and make test: their seconds beside the kept ones, one run at a time, signals, and arguments."""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("NEARFAR_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
START = """set -euo pipefail
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"
"""


def without(environment, *names):
    """The environment without these: make sets variables for its commands, and this test may be one of them."""
    return {name: value for name, value in environment.items() if name not in names}


def is_alive(process):
    """Whether the process runs: an ended process may still wait for its parent to look."""
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def children(process):
    """The names of the processes that it has started."""
    names = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            name, state = (folder / "stat").read_text().split(" (", 1)[1].rsplit(") ", 1)
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(state.split()[1]) == process:
            names.append(name)
    return names


class InFolder(unittest.TestCase):
    """Copies the scripts to an empty folder."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        shutil.copytree(SOURCE / "scripts", self.root / "scripts")
        shutil.copy(SOURCE / "Makefile", self.root)
        self.kept = self.root / "scripts" / "stage-times.txt"

    def start(self, text, **environment):
        (self.root / "scripts" / "trial").write_text(START + text + "\n")
        return subprocess.Popen(
            ["bash", self.root / "scripts" / "trial"],
            env={**without(os.environ, "NEARFAR_KEEP_TIMES"), **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run_script(self, text, **environment):
        started = self.start(text, **environment)
        out, err = started.communicate()
        return subprocess.CompletedProcess(text, started.returncode, out, err)


class Times(InFolder):
    NOTED = "note_time first 20 ok\nnote_time second 10 ok\nprint_times test\necho the verdict"

    def test_beside_those_kept(self):
        self.kept.write_text("# head\ntest: first\t10\ntest: second\t9\nbench: second\t1")
        ended = self.run_script(self.NOTED)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        self.assertRegex(ended.stdout, r"first +ok +20 +10 +2\.00")
        self.assertIn("took a fifth longer than kept in scripts/stage-times.txt: first; \n", ended.stdout)

    def test_names_a_stage_that_took_a_fifth_and_five_seconds_longer(self):
        for now, kept, is_named in [(20, 17, False), (120, 101, False), (120, 100, False), (121, 100, True), (12, 8, False), (13, 8, False), (14, 8, True)]:
            self.kept.write_text(f"test: first\t{kept}\n")
            ended = self.run_script(f"note_time first {now} ok\nprint_times test")
            self.assertEqual("took a fifth longer" in ended.stdout, is_named)

    def test_of_lines_that_cannot_be_read(self):
        for line in ["test: first\tabc", "test: \t1", "test: first\t1.5", "test: first\t4s", "test: first\t1\t2", "test: first\t-3",
                     "test: first\ta[$(touch x)]", "test: first\t9999999999"]:  # fmt: skip
            self.kept.write_text(f"# head\n{line}\n")
            ended = self.run_script(self.NOTED)
            self.assertEqual(ended.returncode, 0, ended.stderr)
            self.assertIn("trial: scripts/stage-times.txt:2: ", ended.stderr)
            self.assertRegex(ended.stdout, r"first +ok +20 +- +-")
            self.assertTrue(ended.stdout.endswith("the verdict\n"))

    def test_without_the_file(self):
        self.kept.unlink()
        ended = self.run_script(self.NOTED)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        self.assertTrue(ended.stdout.endswith("the verdict\n"))

    def test_are_kept_in_a_new_file(self):
        self.kept.unlink()
        ended = self.run_script(self.NOTED, NEARFAR_KEEP_TIMES="1")
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        self.assertEqual(self.kept.read_text(), "test: first\t20\ntest: second\t10\n")

    def test_are_kept_in_their_places(self):
        self.kept.write_text("# head\ntest: second\t9\nbench: first\t1\ntest: other\t3\n")
        self.assertEqual(self.run_script(self.NOTED, NEARFAR_KEEP_TIMES="1").returncode, 0)
        self.assertEqual(self.kept.read_text(), "# head\ntest: second\t10\nbench: first\t1\ntest: other\t3\ntest: first\t20\n")

    def test_are_kept_once(self):
        self.kept.write_text("test: first\t1\ntest: first\t2\n")
        self.assertEqual(self.run_script(self.NOTED, NEARFAR_KEEP_TIMES="1").returncode, 0)
        self.assertEqual(self.kept.read_text(), "test: first\t20\ntest: second\t10\n")

    def test_of_other_work_or_a_failure_are_not_kept(self):
        before = self.kept.read_text()
        for text in [self.NOTED.replace("print_times test", "print_times ''"), "note_time first 9 FAILED\nprint_times test"]:
            ended = self.run_script(text, NEARFAR_KEEP_TIMES="1")
            self.assertEqual(ended.returncode, 0)
            self.assertIn("the seconds are not kept", ended.stderr)
            self.assertEqual(self.kept.read_text(), before)


class Alone(InFolder):
    def test_one_at_a_time(self):
        first = self.start("be_alone\necho here\nexec sleep 1000")
        self.addCleanup(first.communicate)
        self.addCleanup(first.kill)
        self.assertEqual(first.stdout.readline(), "here\n")
        second = self.run_script("be_alone\necho here")
        self.assertEqual((second.returncode, second.stdout), (1, ""))
        self.assertIn("another make bench or make test runs in this checkout", second.stderr)
        self.assertIn(f"process {first.pid} (sleep 1000", second.stderr)

    def test_waits_a_moment_for_one_that_ends(self):
        first = self.start("be_alone\necho here\nexec sleep 1000")
        self.addCleanup(first.communicate)
        self.addCleanup(first.kill)
        self.assertEqual(first.stdout.readline(), "here\n")
        second = self.start("be_alone\necho here")
        while second.poll() is None and "flock" not in children(second.pid):
            pass
        first.kill()
        self.assertEqual(second.communicate(), ("here\n", ""))

    def test_nothing_is_removed_meanwhile(self):
        script = self.start("be_alone; echo here; exec sleep 1000")
        self.assertEqual(script.stdout.readline(), "here\n")
        ended = subprocess.run(["make", "clean"], cwd=self.root, capture_output=True, text=True)
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("wait until it ends", ended.stderr)
        self.assertTrue((self.root / "build").exists())
        script.kill()
        script.communicate()
        subprocess.run(["make", "clean"], cwd=self.root, capture_output=True, check=True)
        self.assertFalse((self.root / "build").exists())


class Folders(InFolder):
    def test_are_right_where_cd_prints_them(self):
        (self.root / "scripts" / "trial").write_text(START + 'echo "$nearfar_root"\n')
        ended = subprocess.run(["bash", "scripts/trial"], cwd=self.root, env={**os.environ, "CDPATH": str(self.root)}, capture_output=True, text=True)
        self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (0, f"{self.root.resolve()}\n", ""))

    def test_are_formatted_without_git(self):
        shutil.copy(SOURCE / ".clang-format", self.root)
        for name in ["build", "src"]:
            (self.root / name).mkdir()
            (self.root / name / "a.cpp").write_text("int   a;\n")
        (self.root / "src" / "b.cpp").write_text("int b;\n")
        check = [self.root / "scripts" / "format", "--check"]
        ended = subprocess.run(check, cwd="/", capture_output=True, text=True)
        self.assertEqual(ended.returncode, 1)
        self.assertIn("src/a.cpp", ended.stderr)
        self.assertNotIn("build/a.cpp", ended.stderr)
        subprocess.run(check[:1], cwd="/", capture_output=True, check=True)
        self.assertEqual([(self.root / name / "a.cpp").read_text() for name in ["build", "src"]], ["int   a;\n", "int a;\n"])
        self.assertEqual(subprocess.run(check, cwd="/", capture_output=True).returncode, 0)


class Messages(InFolder):
    def test_that_nobody_takes_end_nothing(self):
        ended = self.run_script("exec 2>&-\nsay lost\necho here")
        self.assertEqual((ended.returncode, ended.stdout), (0, "here\n"))


class Pythons(InFolder):
    def test_that_import_nothing(self):
        ended = self.run_script("python=$(find_python json) || exit", NEARFAR_PYTHON="/bin/true")
        self.assertEqual(ended.returncode, 1)
        self.assertIn("'/bin/true', which NEARFAR_PYTHON names, is no Python 3 with the modules json", ended.stderr)

    def test_that_a_signal_ends(self):
        ending = self.root / "ending"
        ending.write_text("#!/bin/sh\nkill -INT $$\n")
        ending.chmod(0o755)
        ended = self.run_script("python=$(find_python json) || exit", NEARFAR_PYTHON=str(ending))
        self.assertEqual((ended.returncode, ended.stderr), (128 + signal.SIGINT, ""))


class Signals(InFolder):
    def test_end_what_runs(self):
        for number in [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT]:
            script = self.start("end_jobs_on_signals TERM\nrun_job sh -c 'sleep 1000 & echo $! >&2; echo here; wait'")
            self.assertEqual(script.stdout.readline(), "here\n")
            inner = int(script.stderr.readline())
            script.send_signal(number)
            script.communicate()
            self.assertEqual(script.returncode, 128 + number)
            while is_alive(inner):  # at most the time limit of the test
                os.sched_yield()


class Words(InFolder):
    def make(self, *words, **environment):
        return subprocess.run(
            ["make", "-n", *words],
            cwd=self.root,
            env={**without(os.environ, "MPI", "FULL", "MAKEFLAGS", "MAKELEVEL", "MFLAGS"), **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    def test_of_make(self):
        for words, command in [
            (["test"], "scripts/test"),
            (["test", "FULL=1"], "scripts/test --full"),
            (["test", "FULL=0"], "scripts/test"),
            (["bench", "FULL=1"], "scripts/bench --full"),
            (["bench", "FULL="], "scripts/bench"),
            (["test", "MPI=mpich"], "scripts/test --mpi 'mpich'"),
            (["test", "MPI="], "scripts/test --mpi ''"),
            (["test", "MPI=a'b"], r"scripts/test --mpi 'a'\''b'"),
        ]:
            self.assertEqual(" ".join(self.make(*words).stdout.split()), command)
        self.assertEqual(self.make("test", MPI="mpich").stdout.split(), ["scripts/test"])
        refused = self.make("bench", "FULL=yes")
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("FULL is 1 or not given, not 'yes'", refused.stderr)

    def test_of_bench(self):
        results = self.root / "build" / "bench"
        results.mkdir(parents=True)
        (results / "old.jsonl").write_text("of the run before\n")
        for arguments, environment, said in [
            (["--full", "more"], {}, "argument 'more' is unknown"),
            ([""], {}, "argument '' is unknown"),
            ([], {"NEARFAR_BENCH_COMMAND": "/nonexist"}, "'/nonexist' is no program"),
            ([], {"NEARFAR_BENCH_COMMAND": "/tmp"}, "'/tmp' is no program"),
            ([], {"NEARFAR_TWO_STORES": "1"}, "NEARFAR_TWO_STORES"),
        ]:
            ended = subprocess.run(
                [self.root / "scripts" / "bench", *arguments],
                env={**without(os.environ, "NEARFAR_KEEP_TIMES"), **environment},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
            )
            self.assertEqual(ended.returncode, 2, ended.stderr)
            self.assertIn(said, ended.stderr)
        self.assertEqual([path.name for path in results.iterdir()], ["old.jsonl"])


if __name__ == "__main__":
    unittest.main()
