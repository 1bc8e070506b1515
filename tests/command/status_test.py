"""The exit statuses of every subcommand, as docs/scripting.md states them, and what becomes of files and streams."""

import contextlib
import fcntl
import json
import os
import pathlib
import pty
import re
import signal
import struct
import subprocess
import tempfile
import termios
import time
import unittest

COMMAND = os.environ["NEARFAR_COMMAND"]
SOURCE = pathlib.Path(os.environ["NEARFAR_SOURCE_DIR"])
BENCH = ["bench", "ecsb", "--ranks", "1", "--locks", "mcs", "--duration", "0.002", "--repetitions", "2"]
SIM = ["sim", "ecsb", "--locks", "dash", "--nodes", "1", "--ranks-per-node", "2", "--duration", "0.0005", "--repetitions", "1"]
SWEEP = ["sweep", "study.json", "--output", "r.jsonl"]
STUDY = {"world": "threads", "benchmark": "ecsb", "locks": "mcs", "ranks": 1, "duration": 0.002, "repetitions": 2}
CHECK = ["check", "--locks", "tas", "--ranks", "2", "--acquisitions", "1"]
FAKE = """
import os, sys
sys.exit(int(os.environ.get("NEARFAR_STATUS_BASE", "0")) + int(os.environ["FAKE_STATUS"]))
"""
# Of each subcommand and status a command line. "results" and the like are files that the test makes.
CASES = {
    ("bench", 0): BENCH,
    ("bench", 2): ["bench", "ecsb", "--ranks", "0"],
    ("check", 0): CHECK,
    ("check", 1): ["check", "--locks", "cohort.published", "--ranks", "3"],
    ("check", 2): ["check", "--locks", "cohrt"],
    ("check", 3): ["check", "--locks", "cohort", "--ranks", "3", "--executions", "10"],
    ("compare", 0): ["compare", "r.jsonl", "same.jsonl"],
    ("compare", 1): ["compare", "r.jsonl", "slow.jsonl"],
    ("compare", 2): ["compare", "r.jsonl", "none.jsonl"],
    ("compare", 3): ["compare", "r.jsonl", "few.jsonl"],
    ("completion", 0): ["completion", "bash"],
    ("completion", 2): ["completion", "tcsh"],
    ("doctor", 0): ["doctor", "--quick"],
    ("doctor", 2): ["doctor", "--output", "m.json"],
    ("figures", 0): ["figures", "stengel2007", "--list"],
    ("figures", 2): ["figures", "stengel2007", "--only", "9.9"],
    ("figures", 3): ["figures", "stengel2007", "--quick", "--only", "1.7"],
    ("list", 0): ["list", "mcs"],
    ("list", 2): ["list", "mcz"],
    ("report", 0): ["report", "--csv", "r.jsonl"],
    ("report", 2): ["report", "none.jsonl"],
    ("report", 3): ["report", "--csv", "few.jsonl"],
    ("run", 0): ["run", "--ranks", "2", "--", "./program"],
    ("run", 1): ["run", "--ranks", "2", "--", "./program", "1"],
    ("run", 2): ["run", "--ranks", "2", "--", "./none"],
    ("run", 3): ["run", "--ranks", "2", "--steps", "10", "--", "./program", "for", "ever"],
    ("sim", 0): SIM,
    ("sim", 2): ["sim", "ecsb", "--machine", "none"],
    ("sweep", 0): ["sweep", "study.json", "--list"],
    ("sweep", 2): ["sweep", "none.json", "--list"],
    ("topo", 0): ["topo"],
    ("topo", 2): ["topo", "--ranks", "0"],
    ("where", 0): ["where", "--containers", "array", "--length", "1000"],
    ("where", 2): ["where", "--threads", "0"],
}
PROGRAM = """#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  puts("hello");
  do MPI_Barrier(MPI_COMM_WORLD); while (argc > 2);
  MPI_Finalize();
  return argc > 1;
}
"""
# A sanitizer's build has no nearfar-program, which replaces functions as sanitizers do.
HAS_RUN = not os.environ.get("NEARFAR_SANITIZE")
if not HAS_RUN:
    CASES = {(name, status): words for (name, status), words in CASES.items() if name != "run"}
# With the words of a run that ends well each loses its standard output.
LOSES = {name: words for (name, status), words in CASES.items() if status == 0}


def invented(sample, repetition, factor=1.0, verified=True):
    """The sample of another repetition, with a time that is known."""
    times = {"duration_ns": round(factor * (100 + repetition) * sample["iterations"]), "ns_per_acquisition": factor * (100 + repetition)}
    return {**sample, **times, "repetition": repetition, "verified": verified, "measured": {**sample["measured"], "time": factor * (100 + repetition)}}


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "study.json").write_text(json.dumps(STUDY))

    def nearfar(self, *words, stdin="", **environment):
        return subprocess.run(
            [COMMAND, *words], cwd=self.folder, capture_output=True, text=True, input=stdin, check=False,
            env={**os.environ, **environment},
        )  # fmt: skip

    def in_shell(self, text, *words):
        """Runs the command as "$@" of a line of the shell."""
        return subprocess.run(
            ["bash", "-c", text, "bash", COMMAND, *words], cwd=self.folder, capture_output=True, text=True,
            stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip

    def left_behind(self):
        return sorted(path.name for path in self.folder.iterdir() if path.name != "study.json")

    def make_results(self):
        """Eight samples, the same twice as slow, two of eight, and one that is void; and an MPI program."""
        if HAS_RUN:
            (self.folder / "program.c").write_text(PROGRAM)
            subprocess.run([SOURCE / "scripts" / "nearfar-cc", "-g", "program.c", "-o", "program"], cwd=self.folder, check=True)
        self.assertEqual(self.nearfar(*BENCH, "--output", "r.jsonl").returncode, 0)
        head, sample, *_ = map(json.loads, (self.folder / "r.jsonl").read_text().splitlines())
        head["records_expected"] = 8
        for name, records in [
            ("r", [invented(sample, n) for n in range(8)]),
            ("same", [invented(sample, n) for n in range(8)]),
            ("slow", [invented(sample, n, 2) for n in range(8)]),
            ("few", [invented(sample, n) for n in range(2)]),
            ("void", [invented(sample, n, verified=n != 3) for n in range(8)]),
        ]:
            (self.folder / f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in [head, *records]))


class Statuses(InFolder):
    def table(self):
        """The cells of the document that say when a subcommand has a status."""
        text = (SOURCE / "docs" / "scripting.md").read_text()
        rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", text.partition("| subcommand |")[2], re.MULTILINE)
        rows = [(name, cells) for name, cells in rows if HAS_RUN or name != "run"]
        return {(name, status) for name, cells in rows for status, cell in enumerate(cells.split(" | ")) if cell != "-"}

    def test_every_cell_of_the_document(self):
        self.make_results()
        package = self.folder / "package"
        (package / "nearfar_report").mkdir(parents=True)
        (package / "nearfar_report" / "__main__.py").write_text(FAKE)
        of_figures = {"NEARFAR_REPORT_DIR": str(package), "FAKE_STATUS": "3"}
        for (name, status), words in CASES.items():
            with self.subTest(words=words):
                ended = self.nearfar(*words, **(of_figures if (name, status) == ("figures", 3) else {}))
                self.assertEqual(ended.returncode, status, ended.stdout + ended.stderr)
                if status == 2:
                    self.assertEqual((len(ended.stderr.splitlines()), ended.stdout), (1, ""), ended.stderr)
        tested = {*CASES, *((name, 1) for name in LOSES)}
        self.assertEqual(tested, self.table())

    def test_the_subcommands_are_those_of_the_document(self):
        listed = self.nearfar("--help").stdout.partition("\nSubcommands:\n")[2].partition("\n\n")[0]
        names = set(re.findall(r"^  (\w+)", listed, re.MULTILINE))
        self.assertEqual(names if HAS_RUN else names - {"run"}, {name for name, _ in self.table()})

    def test_lost_output_is_the_same_everywhere(self):
        self.make_results()
        for words in LOSES.values():
            for lost in [">/dev/full", ">&-"]:
                with self.subTest(words=words, lost=lost):
                    ended = self.in_shell(f'"$@" {lost}', *words)
                    self.assertEqual(ended.returncode, 1, ended.stderr)
                    self.assertIn("cannot write standard output", ended.stderr)
        for words in [["--help"], ["bench", "ecsb", "--help"], ["--version"], CASES[("check", 3)], CASES[("check", 1)]]:
            with self.subTest(words=words):
                self.assertEqual(self.in_shell('"$@" >/dev/full', *words).returncode, 1)

    def test_a_reader_that_goes_away(self):
        """The status is that of the signal, and nobody is told."""
        self.make_results()
        for words in [["list"], ["report", "--csv", "r.jsonl"], [*BENCH[:-1], "1"]]:
            with self.subTest(words=words):
                ended = self.in_shell('"$@" | true; echo "${PIPESTATUS[0]}"', *words)
                self.assertIn(ended.stdout, ["141\n", "0\n"])
                self.assertEqual(ended.stderr, "")
        ended = self.in_shell('{ sleep 0.5; "$@"; } | true; echo "${PIPESTATUS[0]}"', "list")
        self.assertEqual((ended.stdout, ended.stderr), ("141\n", ""))
        self.assertEqual([name for name in self.left_behind() if "partial" in name], [])

    def test_void_results(self):
        self.make_results()
        ended = self.nearfar("report", "--text", "void.jsonl")
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertIn("left out of the figures", ended.stderr)

    def test_a_page_that_the_disk_does_not_take(self):
        self.make_results()
        ended = self.in_shell('ulimit -f 8; exec "$@"', "report", "r.jsonl", "--output", "page")
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertIn("cannot be written (File too large)", ended.stderr)
        self.assertNotIn("page", self.left_behind())

    def test_no_page_for_openmp(self):
        for words in [["where"], ["bench", "triad", "--lengths", "1000"], ["topo", "--pin", "compact"]]:
            ended = self.in_shell('ulimit -f 0; exec "$@"', *words)
            self.assertIn(ended.returncode, (0, 2), "only LLVM's library needs a file")
            if ended.returncode == 2:
                self.assertEqual(len(ended.stderr.splitlines()), 1)
                self.assertIn("raise the limit (ulimit -f unlimited)", ended.stderr)

    def test_the_limit_of_files_is_a_full_disk(self):
        for words in [
            [*BENCH[:-1], "1000", "--output", "f.jsonl"],
            ["check", "--locks", "all", "--ranks", "2", "--acquisitions", "1", "--mode", "all", "--output", "f.jsonl"],
            ["sweep", "study.json", "--repetitions", "1000", "--output", "f.jsonl"],
        ]:
            with self.subTest(words=words):
                ended = self.in_shell('ulimit -f 8; exec "$@"', *words)
                self.assertEqual(ended.returncode, 1, ended.stderr)
                self.assertIn("File too large", ended.stderr)
                self.assertEqual([name for name in self.left_behind() if "partial" in name], [])
                for path in self.folder.glob("f.jsonl*"):
                    path.unlink()


class OlderFiles(InFolder):
    """A file that is there is replaced, or added to, only on request."""

    def refuse(self, *words, name):
        before = (self.folder / name).read_bytes()
        ended = self.nearfar(*words)
        self.assertEqual(ended.returncode, 2, ended.stdout + ended.stderr)
        (line,) = ended.stderr.splitlines()
        self.assertIn(f"{name}' exists: ", line)
        self.assertIn("--overwrite", line)
        self.assertEqual((self.folder / name).read_bytes(), before)
        return line

    def records(self, name):
        return [json.loads(line) for line in (self.folder / name).read_text().splitlines()]

    def test_of_every_subcommand(self):
        violation = CASES[("check", 1)]
        loop = ["bench", "triad", "--containers", "array", "--lengths", "100", "--threads", "1", "--min-time", "0.0005",
                "--repetitions", "1"]  # fmt: skip
        for number, (words, status) in enumerate([
            ([*BENCH, "--output"], 0), ([*SIM, "--output"], 0), ([*loop, "--output"], 0), ([*CHECK, "--output"], 0),
            ([*violation, "--trace"], 1), ([*violation, "--svg"], 1), (["doctor", "--machine", "--output"], 0),
            (["sim", "fit", "--evaluations", "1", "--iterations", "1", "--output"], 0),
        ]):  # fmt: skip
            with self.subTest(words=words):
                name = f"f{number}"
                self.assertEqual(self.nearfar(*words, name).returncode, status)
                line = self.refuse(*words, name, name=name)
                can_append = words[-1] == "--output" and words[0] in ("bench", "sim", "check") and words[1] != "fit"
                self.assertEqual("--append" in line, can_append, line)
                inode = (self.folder / name).stat().st_ino
                ended = self.nearfar(*words, name, "--overwrite")
                self.assertEqual(ended.returncode, status, ended.stderr)
                self.assertNotEqual((self.folder / name).stat().st_ino, inode)

    def test_that_come_during_the_run(self):
        """Another program's file stays, with and without an older file there at the beginning."""
        for older in [[], ["--overwrite"]]:
            with self.subTest(older=older):
                if older:
                    self.assertEqual(self.nearfar(*BENCH, "--output", "r.jsonl").returncode, 0)
                run = subprocess.Popen([COMMAND, *BENCH[:-4], "--duration", "0.2", "--repetitions", "3", "--output", "r.jsonl", *older],
                                       cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)  # fmt: skip
                while not any("partial" in name for name in self.left_behind()):
                    time.sleep(0.005)
                (self.folder / "r.jsonl").write_text("of another program\n")
                said = run.communicate()[1]
                self.assertEqual(run.returncode, 1, said)
                self.assertIn("'r.jsonl' has changed since this run began: the results are in 'r.jsonl.interrupted'", said)
                self.assertEqual((self.folder / "r.jsonl").read_text(), "of another program\n")
                kept = (self.folder / "r.jsonl.interrupted").read_text().splitlines()
                self.assertEqual([json.loads(line)["record"] for line in kept], ["provenance", *["sample"] * 3])
                for path in self.folder.glob("r.jsonl*"):
                    path.unlink()

    def test_a_link_and_an_empty_file(self):
        (self.folder / "empty").touch()
        self.assertEqual(self.nearfar(*BENCH, "--output", "empty").returncode, 0)
        (self.folder / "link").symlink_to("empty")
        self.refuse(*BENCH, "--output", "link", name="empty")

    def test_pages(self):
        self.make_results()
        self.assertEqual(self.nearfar("report", "r.jsonl", "--output", "page").returncode, 0)
        ended = self.nearfar("report", "r.jsonl", "--output", "page")
        self.assertEqual(ended.returncode, 2)
        self.assertRegex(ended.stderr, r"page/index.html exists: .*--overwrite")
        self.assertEqual(self.nearfar("report", "r.jsonl", "--output", "page", "--overwrite").returncode, 0)

    def test_bench_adds_what_is_new(self):
        words = ["bench", "ecsb", "--ranks", "1", "--duration", "0.002", "--output", "r.jsonl", "--locks"]
        self.assertEqual(self.nearfar(*words, "mcs", "--repetitions", "2").returncode, 0)
        ended = self.nearfar(*words, "tas,mcs", "--repetitions", "3", "--append")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("2 of 6 repetitions are there already", ended.stderr)
        samples = [(one["lock"], one["repetition"]) for one in self.records("r.jsonl") if one["record"] == "sample"]
        self.assertEqual(sorted(samples), [(lock, n) for lock in ("mcs", "tas") for n in range(3)])
        self.assertEqual(self.records("r.jsonl")[-1], {"schema": "nearfar.results/1", "record": "end", "samples": 6})
        self.assertEqual(self.nearfar("report", "--csv", "r.jsonl").returncode, 0)
        other = self.nearfar("bench", "wbab", "--ranks", "1", "--locks", "mcs", "--output", "r.jsonl", "--append")
        self.assertEqual(other.returncode, 2)
        self.assertIn("holds no results of wbab", other.stderr)
        self.assertEqual(self.nearfar(*words, "mcs", "--append", "--overwrite").returncode, 2)

    def test_check_adds_records(self):
        for count, more in [(2, []), (4, ["--append"]), (2, ["--overwrite"])]:
            self.assertEqual(self.nearfar(*CHECK, "--output", "c.jsonl", *more).returncode, 0)
            self.assertEqual(len(self.records("c.jsonl")), count)

    def test_sweeps_of_other_points(self):
        self.assertEqual(self.nearfar(*SWEEP).returncode, 0)
        (self.folder / "study.json").write_text(json.dumps({**STUDY, "locks": "tas"}))
        before = (self.folder / "r.jsonl").read_text()
        ended = self.nearfar(*SWEEP)
        self.assertEqual(ended.returncode, 2, ended.stderr)
        self.assertIn("'r.jsonl' holds results of other points only", ended.stderr)
        self.assertEqual((self.folder / "r.jsonl").read_text(), before)
        self.assertEqual(self.nearfar(*SWEEP, "--append").returncode, 0)
        self.assertTrue((self.folder / "r.jsonl").read_text().startswith(before))
        self.assertEqual(self.nearfar(*SWEEP, "--overwrite").returncode, 0)
        self.assertEqual({one["lock"] for one in self.records("r.jsonl") if one["record"] == "sample"}, {"tas"})

    def test_a_run_that_was_killed_is_told_of(self):
        run = subprocess.Popen([COMMAND, *BENCH[:-4], "--duration", "30", "--output", "r.jsonl"], cwd=self.folder,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        self.addCleanup(run.kill)
        while not self.left_behind():
            self.assertIsNone(run.poll())
            time.sleep(0.01)
        run.kill()
        run.wait()
        (left,) = self.left_behind()
        ended = self.nearfar(*BENCH, "--output", "r.jsonl")
        self.assertEqual(ended.returncode, 0)
        self.assertEqual(ended.stderr, f"nearfar: an earlier run was killed: what it measured is in '{left}'; report or remove that file\n")
        self.assertEqual(self.left_behind(), ["r.jsonl", left])

    def test_a_run_without_samples_leaves_no_file(self):
        run = subprocess.Popen([COMMAND, *BENCH[:-4], "--duration", "30", "--output", "r.jsonl"], cwd=self.folder,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        self.addCleanup(run.kill)
        while not self.left_behind():
            self.assertIsNone(run.poll())
            time.sleep(0.01)
        run.send_signal(signal.SIGINT)
        self.assertEqual(run.wait(), 128 + signal.SIGINT)
        self.assertEqual(self.left_behind(), [])

    def test_pictures_without_a_violation(self):
        ended = self.nearfar(*CHECK, "--svg", "x.svg", "--trace", "x.json")
        self.assertEqual(ended.returncode, 0)
        said = "".join(f"nearfar: no violation: '{name}' is not written\n" for name in ("x.json", "x.svg"))
        self.assertEqual(ended.stderr, said)
        self.assertEqual(self.left_behind(), [])


class Streams(InFolder):
    def test_results_outlive_an_unwritable_stderr(self):
        words = ["bench", "ecsb", "--ranks", "1", "--duration", "0.002", "--repetitions", "1"]
        self.assertIn("leaving out", self.nearfar(*words).stderr)
        for lost in ["2>/dev/full", "2>&-"]:
            ended = self.in_shell(f'"$@" {lost}', *words)
            self.assertEqual(ended.returncode, 0)
            self.assertIn("\nmcs ", ended.stdout)

    def test_long_steps_are_not_silent(self):
        """A line tells what is measured while the first repetition goes on, for which nobody has to wait."""
        run = subprocess.Popen([COMMAND, *BENCH[:-4], "--duration", "30", "--repetitions", "1"], cwd=self.folder,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)  # fmt: skip
        self.addCleanup(run.stderr.close)
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        self.assertRegex(run.stderr.readline(), r"^nearfar: 1/1 ecsb mcs, 1 rank")

    def test_records_on_standard_output(self):
        for words in [BENCH, SIM, CHECK]:
            with self.subTest(words=words):
                ended = self.nearfar(*words, "--output", "-")
                self.assertEqual(ended.returncode, 0, ended.stderr)
                kinds = [json.loads(line)["record"] for line in ended.stdout.splitlines()]
                self.assertEqual(kinds[0], "provenance")
                self.assertIn(set(kinds[1:]), [{"sample"}, {"result"}])
                if words is not CHECK:
                    self.assertIn("# nearfar ecsb", ended.stderr)
        self.assertEqual(self.nearfar(*SWEEP[:-1], "-").returncode, 2)
        self.assertEqual(self.nearfar(*BENCH, "--output", "-", "--append").returncode, 2)
        self.assertEqual(self.left_behind(), [])

    def test_report_reads_standard_input(self):
        printed = self.nearfar(*SIM, "--output", "-").stdout
        ended = self.nearfar("report", "--csv", "-", stdin=printed)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(len(ended.stdout.splitlines()), 2)

    def test_lines_appear_as_they_are_measured(self):
        """The first line is there while the second one is still measured."""
        run = subprocess.Popen(
            [COMMAND, "bench", "ecsb", "--ranks", "1", "--locks", "tas,mcs", "--repetitions", "1", "--duration", "1.5"],
            cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        self.addCleanup(run.kill)
        self.addCleanup(run.stdout.close)
        while not (line := run.stdout.readline()).startswith(("tas ", "mcs ")):
            self.assertNotEqual(line, "")
        self.assertIsNone(run.poll(), "the second lock takes 1.5 s more")
        rest = run.stdout.read()
        self.assertEqual(run.wait(), 0)
        self.assertEqual(len([one for one in rest.splitlines() if not one.startswith("#")]), 1)

    def test_the_bar_fits_the_terminal(self):
        for width in (80, 40):
            child, terminal = pty.fork()
            if child == 0:
                os.execv(COMMAND, [COMMAND, *BENCH])
            fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
            text = ""
            with contextlib.suppress(OSError):  # which says that the other end is closed
                while part := os.read(terminal, 1 << 16):
                    text += part.decode()
            os.close(terminal)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            bars = [part.splitlines()[0] for part in text.split("\r\x1b[K") if part.startswith("[")]
            self.assertGreaterEqual(len(bars), 2, text)
            self.assertLess(max(map(len, bars[1:])), width, bars)
            self.assertRegex(text, r"\nmcs +[0-9]")

    def test_the_table_is_the_same_as_at_once(self):
        """Several benchmarks and scenarios, whose lines come in the order of the tables."""
        study = {"world": "simulated", "machine": "coolmuc2", "nodes": 2, "ranks_per_node": 2, "repetitions": 2,
                 "duration": 0.0005, "lock_count": 5, "benchmark": ["upb", "ecsb"], "locks": ["dash", "cohort"]}  # fmt: skip
        (self.folder / "study.json").write_text(json.dumps(study))
        first = self.nearfar(*SWEEP)
        again = self.nearfar(*SWEEP)
        self.assertEqual((first.returncode, again.returncode), (0, 0), first.stderr)
        self.assertIn("are there already", again.stderr)
        self.assertEqual(first.stdout, again.stdout)


if __name__ == "__main__":
    unittest.main()
