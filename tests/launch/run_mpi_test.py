"""How scripts/run-mpi ends when a rank fails or a signal ends it, where it starts ranks, and what it refuses to start.

The refusals of scripts/two-nodes are here, too.
"""

import functools
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

COMMAND = os.environ["NEARFAR_COMMAND"]
RUN = [
    str(pathlib.Path(os.environ["NEARFAR_SOURCE_DIR"]) / "scripts" / "run-mpi"),
    *["--mpi", os.environ["NEARFAR_MPI_NAME"], "--ranks", "2", "--"],
]
TWO_NODES = str(pathlib.Path(RUN[0]).with_name("two-nodes"))
ENDLESS = [COMMAND, "bench", "ecsb", "--locks", "dash", "--duration", "0.1", "--repetitions", "1000000"]


@functools.cache
def has_two_nodes():
    return subprocess.run([TWO_NODES, "check"], capture_output=True, check=False).returncode == 0


def by_rank(first, second):
    return ["sh", "-c", f"if [ ${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}} = 0 ]; then {first}; fi; {second}"]


marks = []


def started(*program):
    """A run with a mark in its environment. The mark finds all its processes, however they are related."""
    mark = f"NEARFAR_TEST_MARK={os.getpid()}.{time.monotonic_ns()}"
    marks.append(mark)
    name, value = mark.split("=")
    run = subprocess.Popen(
        [*RUN, *program],
        env={**os.environ, name: value},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return run, lambda: [process for process in processes(mark) if process != run.pid]


def processes(mark):
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            environment = (path / "environ").read_bytes().split(b"\0")
            if mark.encode() in environment and "\nState:\tZ" not in (path / "status").read_text():
                found.append(int(path.name))
        except OSError:
            pass
    return found


def ranks_of(found):
    return [process for process in found if program_of(process) == os.path.realpath(COMMAND)]


def program_of(process):
    try:
        return os.readlink(f"/proc/{process}/exe")
    except FileNotFoundError:  # it has ended meanwhile
        return None


class Ends(unittest.TestCase):
    def tearDown(self):
        # Processes of a failed test would disturb the next one.
        while marks:
            for process in processes(marks.pop()):
                try:
                    os.kill(process, signal.SIGKILL)
                except ProcessLookupError:
                    pass

    def wait_until(self, what):
        deadline = time.monotonic() + 60
        while not what():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)

    def test_status_of_a_program(self):
        for status in [0, 1, 9, 77]:
            run, _ = started("sh", "-c", f"exit {status}")
            self.assertEqual(run.wait(), status)

    def test_status_of_one_rank(self):
        run, _ = started(*by_rank("exit 0", "exit 12"))
        self.assertEqual(run.wait(), 12)

    def test_a_rank_is_ended_by_a_signal(self):
        for name in ["KILL", "TERM", "ABRT", "SEGV"]:
            run, left = started(*by_rank(f"kill -{name} $$", "sleep 1"))
            self.assertEqual(run.wait(), 128 + signal.Signals[f"SIG{name}"], name)
            self.wait_until(lambda left=left: not left())

    def test_a_rank_within_mpi_is_ended_by_a_signal(self):
        for name in ["SIGKILL", "SIGTERM"]:
            run, left = started(*ENDLESS)
            self.wait_until(lambda left=left: len(ranks_of(left())) == 2)
            time.sleep(1)  # into MPI
            os.kill(ranks_of(left())[0], signal.Signals[name])
            self.assertEqual(run.wait(), 128 + signal.Signals[name], name)
            self.wait_until(lambda left=left: not left())

    def test_a_signal_ends_it_after_its_ranks(self):
        for name in ["SIGHUP", "SIGINT", "SIGTERM"]:
            run, left = started(*ENDLESS)
            self.wait_until(lambda left=left: len(ranks_of(left())) == 2)
            run.send_signal(signal.Signals[name])
            self.assertEqual(run.wait(), 128 + signal.Signals[name], name)
            self.assertEqual(left(), [], name)

    def test_ranks_that_do_not_listen(self):
        run, left = started("sh", "-c", "trap '' HUP INT TERM; while :; do sleep 1; done")
        self.wait_until(lambda: len(left()) >= 5)
        run.send_signal(signal.SIGTERM)
        self.assertEqual(run.wait(), 128 + signal.SIGTERM)
        self.wait_until(lambda: not left())

    def test_no_rank_outlives_it(self):
        run, left = started(*ENDLESS)
        self.wait_until(lambda: len(ranks_of(left())) == 2)
        run.kill()
        run.wait()
        self.wait_until(lambda: not left())


# The variables that batch systems set in a job on two nodes; HOSTS stands for a file with their names.
JOBS = [
    {"SLURM_JOBID": "77"},
    {
        "SLURM_JOBID": "77", "SLURM_JOB_ID": "77", "SLURM_NODELIST": "n[1-2]", "SLURM_JOB_NODELIST": "n[1-2]",
        "SLURM_NNODES": "2", "SLURM_TASKS_PER_NODE": "1(x2)",
    },
    {"PBS_ENVIRONMENT": "PBS_BATCH", "PBS_JOBID": "77", "PBS_NODEFILE": "HOSTS"},
    {"LSB_JOBID": "77", "LSB_MCPU_HOSTS": "n1 1 n2 1", "LSB_DJOB_HOSTFILE": "HOSTS"},
    {"SGE_ROOT": "/", "ARC": "lx-amd64", "JOB_ID": "77", "PE_HOSTFILE": "HOSTS"},
    {"COBALT_NODEFILE": "HOSTS"},
    {"HYDRA_HOST_FILE": "HOSTS"},
    {"HYDRA_RMK": "pbs", "HYDRA_LAUNCHER": "slurm", "HYDRA_BOOTSTRAP": "slurm"},
]  # fmt: skip


class Starts(unittest.TestCase):
    """Ranks start on this machine, whatever variables a batch system has set."""

    def assert_nodes(self, nodes, script, job):
        with tempfile.NamedTemporaryFile("w", encoding="ascii") as hosts:
            hosts.write("n1 1 all.q <NULL>\nn2 1 all.q <NULL>\n" if "SGE_ROOT" in job else "n1\nn2\n")
            hosts.flush()
            told = {name: hosts.name if value == "HOSTS" else value for name, value in job.items()}
            ended = subprocess.run(
                [*script, *RUN[1:], COMMAND, "topo"],
                env={**os.environ, **told},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
            )
        self.assertEqual(ended.returncode, 0, f"{job}: {ended.stderr}")
        self.assertIn(f"2 ranks on {nodes} node", ended.stdout, job)

    def test_in_a_job(self):
        for job in JOBS:
            self.assert_nodes(1, [RUN[0]], job)

    def test_on_two_nodes_in_a_job(self):
        if not has_two_nodes():
            self.skipTest("namespaces are not permitted here")
        for job in JOBS:
            self.assert_nodes(2, [TWO_NODES, "run"], job)

    def test_in_a_rank_of_a_launcher(self):
        """As from a shell that runs under mpirun."""
        outer = [*RUN]
        outer[outer.index("--ranks") + 1] = "1"
        ended = subprocess.run(
            [*outer, *RUN, COMMAND, "topo"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("2 ranks on 1 node", ended.stdout)


class Refuses(unittest.TestCase):
    """Faults of the caller's that end a script in one line, before a launcher makes many lines of them."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def refused(self, command, status, line, **how):
        """Runs a command that has to end with this status and one line on stderr, but for bash's own, and no output."""
        how = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **how}
        ended = subprocess.run(command, text=True, check=False, **how)
        # Bash says so before it reads a script.
        lines = [said for said in ended.stderr.splitlines() if "error retrieving current directory" not in said]
        self.assertEqual((ended.returncode, lines), (status, [line]), command)
        self.assertIn(ended.stdout, [None, ""], command)

    def both_refuse(self, program, status, message, **how):
        for script in [[RUN[0]], [TWO_NODES, "run"]]:
            name = pathlib.Path(script[0]).name
            self.refused([*script, *RUN[1:], *program], status, f"{name}: {message}", **how)

    def test_what_is_no_program(self):
        (self.folder / "plain_file").write_text("#!/bin/sh\n")
        (self.folder / "plain_file").chmod(0o644)
        (self.folder / "plain_folder").mkdir()
        in_path = {**os.environ, "PATH": f"{os.environ['PATH']}:{self.folder}"}
        not_executable = "is not executable; make it so with chmod +x, or name another program"
        for name in ["./plain_file", str(self.folder / "plain_file"), "plain_file"]:
            self.both_refuse([name], 126, f"program '{name}' {not_executable}", cwd=self.folder, env=in_path)
        for name in ["./plain_folder", str(self.folder)]:
            self.both_refuse([name], 126, f"program '{name}' is a folder; name a program in it", cwd=self.folder)
        for name in ["./none", "plain_folder", "nothing_has_this_name", "check_program"]:
            message = f"program '{name}' does not exist; scripts/build builds those of the project"
            self.both_refuse([name], 127, message, cwd=self.folder, env=in_path)

    @unittest.skipUnless(RUN[2].startswith("mpich"), "only MPICH's ranks need a file for their statuses")
    def test_temporary_files_that_cannot_be_written(self):
        def refuse(script, folder, reason):
            name = pathlib.Path(script[0]).name
            line = f"{name}: cannot write temporary files to '{folder}' ({reason}); "
            line += "set TMPDIR to a folder that can be written"
            self.refused([*script, *RUN[1:], "true"], 1, line, env={**os.environ, "TMPDIR": folder})

        refuse([RUN[0]], "/sys", "Permission denied")
        refuse([RUN[0]], f"{self.folder}/a: b", "No such file or directory")
        if has_two_nodes():
            refuse([TWO_NODES, "run"], "/sys", "Permission denied")

    def test_standard_output_that_loses_what_ranks_print(self):
        closing = ["sh", "-c", 'exec "$0" "$@" >&-']
        for script in [[RUN[0]], [TWO_NODES, "run"]]:
            name = pathlib.Path(script[0]).name
            line = f"{name}: standard output is closed; send it to a file or to /dev/null"
            self.refused([*closing, *script, *RUN[1:], "echo", "hi"], 1, line)
        with open("/dev/full", "w", encoding="ascii") as full:
            message = "standard output is /dev/full, which takes no data; send it to a file or to /dev/null"
            self.both_refuse(["echo", "hi"], 1, message, stdout=full)

    def test_a_working_directory_that_was_removed(self):
        gone = self.folder / "gone"
        for again in ["", '; mkdir "$0"']:
            removing = ["sh", "-c", f'mkdir "$0" && cd "$0" && rmdir "$0" {again}; exec "$@"', str(gone)]
            for script in [[RUN[0]], [TWO_NODES, "run"]]:
                name = pathlib.Path(script[0]).name
                line = f"{name}: the working directory '{gone}' was removed; change to a folder that exists"
                self.refused([*removing, *script, *RUN[1:], "true"], 1, line)
                if again:
                    gone.rmdir()

    def test_arguments_of_subcommands_that_have_none(self):
        for name in ["check", "up", "down"]:
            for arguments in [["x"], ["", "x"], ["--mpi", "mpich"]]:
                line = f"two-nodes: {name} takes no arguments, but got '{arguments[0]}' (try two-nodes --help)"
                self.refused([TWO_NODES, name, *arguments], 2, line)

    def test_help_of_subcommands(self):
        helps = [
            subprocess.run([TWO_NODES, *arguments], capture_output=True, text=True, check=True).stdout
            for arguments in [["--help"], ["check", "--help"], ["up", "-h"], ["down", "--help"], ["run", "--help"]]
        ]
        self.assertIn("usage: scripts/two-nodes run", helps[0])
        self.assertEqual(helps, helps[:1] * len(helps))


class SmallSharedMemory(unittest.TestCase):
    """A container has 64 MiB in /dev/shm by default."""

    MOUNT = 'mount -t tmpfs -o size="$0" tmpfs /dev/shm && exec "$@"'

    def with_shared_memory(self, size, *command):
        apart = ["unshare", "--mount", "--propagation", "private"]
        if os.geteuid() != 0:
            apart += ["--user", "--map-root-user"]
        if subprocess.run([*apart, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("namespaces are not permitted here")
        return subprocess.run(
            [*apart, "sh", "-c", self.MOUNT, size, *command],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def ecsb(self, size, ranks):
        run = [*RUN, COMMAND, "bench", "ecsb", "--locks", "cohort", "--duration", "0.02", "--repetitions", "1"]
        run[run.index("--ranks") + 1] = str(ranks)
        return self.with_shared_memory(size, *run)

    def test_of_a_container_is_enough_for_eight_ranks(self):
        ended = self.ecsb("64m", 8)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("8 ranks on 1 node", ended.stdout)

    @unittest.skipIf(RUN[2].startswith("mpich"), "MPICH itself ends, in UCX, and says so")
    def test_that_is_not_enough_is_said(self):
        ended = self.ecsb("2m", 8)
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("nearfar: /dev/shm has ", ended.stderr)

    @unittest.skipIf(RUN[2].startswith("mpich"), "MPICH itself ends, in UCX, and says so")
    def test_that_has_no_room_for_a_window_of_a_lock_is_said(self):
        """cohort has filled it when mpi_win asks for its window."""
        ended = self.with_shared_memory(
            "4m", *RUN, COMMAND, "bench", "upb", "--lock-count", "5000", "--repetitions", "1", "--locks", "cohort,mpi_win"
        )
        self.assertNotEqual(ended.returncode, 0)
        self.assertRegex(ended.stderr, r"nearfar: /dev/shm has .*make fewer locks of MPI's own")


if __name__ == "__main__":
    unittest.main()
