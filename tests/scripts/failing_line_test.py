"""A script that set -e ends names the line once and keeps the status. A failure that the script handles adds no line."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("NEARFAR_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
START = """set -euo pipefail
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"
"""
FIRST = START.count("\n") + 1


class InFolder(unittest.TestCase):
    """Copies the scripts to an empty folder."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        shutil.copytree(SOURCE / "scripts", self.root / "scripts")

    def run_script(self, name, *arguments, **environment):
        return subprocess.run(
            ["bash", self.root / "scripts" / name, *arguments],
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def ends(self, text, status, *lines, **environment):
        """Runs a script with this text after the usual start, and compares its status and the lines of its stderr."""
        (self.root / "scripts" / "trial").write_text(START + text + "\n")
        ended = self.run_script("trial", **environment)
        self.assertEqual((ended.returncode, ended.stderr.splitlines()), (status, list(lines)), text)

    def says(self, text, status, line, command):
        """The same, for the one line of the trap; line counts from 0, which is the first of the text."""
        self.ends(text, status, f"trial: line {FIRST + line} failed with status {status}: {command}")


class FailingLine(InFolder):
    def test_of_a_command(self):
        self.says("false", 1, 0, "false")
        self.says(":\n(exit 7)", 7, 1, "( exit 7 )")
        self.says("for a in 1; do\n  [[ $a == 2 ]]\ndone", 1, 1, "[[ $a == 2 ]]")
        self.says("sleep 0 &\nwait $!\nsh -c 'exit 5' &\nwait $!", 5, 3, "wait $!")
        self.says("declare -A command=([a]=1)\nfalse", 1, 1, "false")
        self.says("sh -c '\n  exit 5'", 5, 0, "sh -c '")

    def test_of_a_pipeline(self):
        self.says("sh -c 'exit 9' | cat", 9, 0, "... | cat")
        self.says("a=$(sh -c 'kill -PIPE $$' | cat)", 141, 0, "a=$(sh -c 'kill -PIPE $$' | cat)")
        self.says("f() { false; }\nf | cat", 1, 1, "... | cat")

    def test_of_a_function(self):
        self.says("f() {\n  false\n  :\n}\nf", 1, 1, "false")
        self.says("f() { false; }\n(f)", 1, 1, "( f )")
        self.says("f() { return 4; }\na=$(f)", 4, 1, "a=$(f)")

    def test_of_a_function_in_lib(self):
        (self.root / "scripts" / "a.c").touch()
        lines = (self.root / "scripts" / "lib.sh").read_text().splitlines()
        (line,) = [n for n, text in enumerate(lines, 1) if "-fno-builtin -shared" in text]
        command = lines[line - 1].strip()
        self.ends("build_preload a.c", 1, f"trial: line {line} of lib.sh failed with status 1: {command}", CC="false")

    def test_a_trap_at_the_end_runs_after_it(self):
        said = f"trial: line {FIRST + 1} failed with status 6: ( exit 6 )"
        self.ends("trap 'echo \"end $?\" >&2' EXIT\n(exit 6)", 6, said, "end 6")


class Handled(InFolder):
    def test_failures_that_are_handled(self):
        for text in [
            "if false; then :; fi",
            "false || :",
            "! true",
            "while false; do :; done",
            "(exit 3) || :",
            "f() { false; false; }\nf || :",
            "if a=$(false); then :; fi",
            "a=$(false; echo b)",
            "mapfile -t a < <(echo b; false)",
            "set +e\n(\n  set -e\n  false\n)\nset -e",
            "false &\nwait $! || :",
        ]:
            self.ends(text + "\n:", 0)

    def test_statuses_that_are_passed_on(self):
        self.ends("exit 3", 3)
        self.ends("exec sh -c 'exit 4'", 4)
        self.ends("a=0\nsh -c 'exit 5' || a=$?\nexit $a", 5)

    def test_what_has_been_said(self):
        self.ends("die a", 1, "trial: a")
        self.ends("false || misuse a", 2, "trial: a (try trial --help)")
        self.ends("f() { die a; }\na=$(f) || exit", 1, "trial: a")
        self.ends("f() { die a; }\nf", 1, "trial: a")

    def test_scripts_that_die(self):
        for name, arguments, environment in [
            ("run-mpi", ["--mpi", "mpich5", "--ranks", "1", "true"], {}),
            ("two-nodes", ["run", "--mpi", "openmpi5", "--ranks", "2", "true"], {}),
            ("two-nodes", ["check"], {"NEARFAR_FORBID_NAMESPACES": "1"}),
            ("two-nodes", ["down"], {}),
            ("mpi-python", ["nothing"], {}),
            ("bench", ["nothing"], {}),
            ("compile-time", ["--compiler", "nothing"], {}),
            ("soak", ["--minutes", "0"], {}),
        ]:
            ended = self.run_script(name, *arguments, **environment)
            self.assertIn(ended.returncode, [1, 2], name)
            self.assertEqual(len(ended.stderr.splitlines()), 1, ended.stderr)
            self.assertNotIn("failed with status", ended.stderr)

    def test_no_python_with_the_modules(self):
        # Neither the python3 in PATH nor Debian's has such a module.
        self.ends("python=$(find_python nothing_has_this) || exit", 1,
                  "trial: no Python 3 with the modules nothing_has_this is installed; run scripts/setup test, or name"
                  " one in NEARFAR_PYTHON", NEARFAR_PYTHON="")  # fmt: skip

    def test_a_python_that_was_named_and_is_none(self):
        self.ends("python=$(find_python sys) || exit", 1,
                  "trial: '/none', which NEARFAR_PYTHON names, is no Python 3 with the modules sys; unset it, or name"
                  " one that has them", NEARFAR_PYTHON="/none")  # fmt: skip

    def test_run_mpi_passes_on_the_status_of_a_program(self):
        """Launchers that run one rank stand in for those of MPI."""
        (self.root / "bin").mkdir()
        for library in ["openmpi", "mpich"]:
            launcher = self.root / "bin" / f"mpirun.{library}"
            launcher.write_text('#!/bin/sh\nwhile [ "$1" != -n ]; do shift; done\nshift 2\nexec "$@"\n')
            launcher.chmod(0o755)
            for program, status in [("exit 0", 0), ("exit 7", 7), ("kill -TERM $$", 143)]:
                ended = self.run_script(
                    *["run-mpi", "--mpi", library, "--ranks", "1", "--", "sh", "-c", program],
                    PATH=f"{self.root / 'bin'}:{os.environ['PATH']}",
                )
                self.assertEqual(ended.returncode, status, ended.stderr)
                self.assertNotIn("failed with status", ended.stderr)


if __name__ == "__main__":
    unittest.main()
