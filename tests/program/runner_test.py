"""What nearfar-program does with programs: runs them, begins each execution anew, repeats schedules, refuses."""

import json
import os
import pathlib
import resource
import shutil
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

SOURCE = pathlib.Path(os.environ["NEARFAR_SOURCE_DIR"])
CHECKER = os.environ["NEARFAR_PROGRAM"]

BEGIN = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
"""
END = "MPI_Finalize(); return 0; }"

RACE = (
    BEGIN
    + """
  int* memory;
  MPI_Win win;
  MPI_Win_allocate(8, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  MPI_Win_lock_all(0, win);
  MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
"""
    + END
)


class runner_test(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def compile(self, text, suffix=".c", wrapper="nearfar-cc", flags=("-g",)):
        source = pathlib.Path(self.folder.name) / ("program" + suffix)
        source.write_text(text)
        program = pathlib.Path(self.folder.name) / "program"
        subprocess.run([SOURCE / "scripts" / wrapper, *flags, source, "-o", program], check=True)
        return program

    def call(self, *arguments):
        return subprocess.run([CHECKER, *map(str, arguments)], capture_output=True, text=True, timeout=60)

    def test_run_shows_the_output_of_all_ranks(self):
        program = self.compile(BEGIN + 'printf("%d %s\\n", rank, argv[1]);' + END)
        done = self.call("run", "--ranks", 3, "--", program, "word")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(done.stdout.splitlines()), ["0 word", "1 word", "2 word"])

    def test_each_rank_has_its_own_globals_and_each_execution_begins_anew(self):
        program = self.compile(
            "static int counter; static _Thread_local int local; static char* kept;\n"
            + BEGIN
            + """
  if (counter++ != 0 || local++ != 0 || kept != NULL || rand() != rand_first()) return 9;
  kept = malloc(100);
  MPI_Barrier(MPI_COMM_WORLD);
  int got, any = rank;
  if (rank == 0) {
    for (int i = 0; i < 2; ++i) MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Send(&any, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
""".replace("|| rand() != rand_first()", "|| (rand() ^ rand()) == 0")
            + END
        )
        done = self.call("check", "--ranks", 3, "--json", "--", program)
        report = json.loads(done.stdout)
        self.assertEqual(report["verdict"], "complete", report)
        self.assertGreater(report["executions"], 2)

    def test_a_race_has_both_lines_and_repeats(self):
        program = self.compile(RACE)
        schedule = pathlib.Path(self.folder.name) / "found.json"
        done = self.call("check", "--ranks", 2, "--keep", schedule, "--", program)
        self.assertEqual(done.returncode, 1)
        self.assertIn("Race: put races with put", done.stdout)
        self.assertEqual(done.stdout.count("program.c:14 (main)"), 2, done.stdout)
        again = self.call("check", "--replay", schedule)
        self.assertEqual(again.returncode, 1)
        self.assertIn("Race: put races with put", again.stdout)

    def test_a_picture_has_a_lane_for_each_rank_and_the_lines_of_the_program(self):
        program = self.compile(RACE)
        folder = pathlib.Path(self.folder.name)
        done = self.call("check", "--ranks", 3, "--node", 2, "--keep", folder / "found.json", "--svg", folder / "found.svg", "--", program)
        self.assertEqual(done.returncode, 1)
        self.assertIn("The picture of the schedule is in", done.stdout)
        again = self.call("check", "--replay", folder / "found.json", "--svg", folder / "again.svg")
        self.assertEqual(again.returncode, 1, again.stderr)
        pictures = [(folder / name).read_text() for name in ("found.svg", "again.svg")]
        self.assertEqual(*pictures)
        root = xml.etree.ElementTree.fromstring(pictures[0])
        texts = [one.text for one in root.iter("{http://www.w3.org/2000/svg}text")]
        self.assertEqual([text for text in texts if text in ("rank 0", "rank 1", "rank 2")], ["rank 0", "rank 1", "rank 2"])
        self.assertIn("node 1", texts)
        self.assertTrue(any("leaves MPI_Win_allocate  program.c:12 (main)" in text for text in texts), texts)
        self.assertTrue(any(text.startswith("Race: put races with put") for text in texts))
        bad = [text for text in texts if text.startswith("     rank ") and "put of 4 bytes" in text]
        self.assertEqual(len(bad), 2)
        circles = [one.get("class") for one in root.iter("{http://www.w3.org/2000/svg}circle")]
        self.assertEqual(circles.count("bad"), 2)

    def test_a_picture_has_an_arrow_for_each_delivery(self):
        program = self.poll("while (*memory != 1) MPI_Win_sync(win);", "MPI_Win_lock_all(0, win);", origin="MPI_Put(&one, 1, MPI_INT, 1, 0, 1, MPI_INT, win); MPI_Win_flush(1, win); MPI_Recv(&is_there, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);")
        picture = pathlib.Path(self.folder.name) / "found.svg"
        done = self.call("check", "--svg", picture, "--", program)
        self.assertEqual(done.returncode, 1, done.stdout)
        root = xml.etree.ElementTree.parse(picture)
        arrows = [one for one in root.iter("{http://www.w3.org/2000/svg}line") if one.get("class") == "rma"]
        self.assertEqual(len(arrows), 2, "the delivery, and the legend")

    def test_a_picture_of_a_hang_shows_few_turns_of_its_loops(self):
        program = self.poll("while (*memory != 2) MPI_Win_sync(win);", "MPI_Win_lock_all(0, win);")
        picture = pathlib.Path(self.folder.name) / "found.svg"
        done = self.call("check", "--svg", picture, "--", program)
        self.assertIn("Hang", done.stdout)
        texts = [one.text for one in xml.etree.ElementTree.parse(picture).iter("{http://www.w3.org/2000/svg}text")]
        self.assertEqual(sum("more turns" in text for text in texts), 1, texts)
        self.assertLess(sum("volatile load of window memory" in text for text in texts), 10)

    def test_a_picture_without_a_fault_is_not_written(self):
        program = self.compile(BEGIN + "MPI_Barrier(MPI_COMM_WORLD);" + END)
        picture = pathlib.Path(self.folder.name) / "none.svg"
        done = self.call("check", "--svg", picture, "--", program)
        self.assertEqual(done.returncode, 0)
        self.assertIn("is not written", done.stderr)
        self.assertFalse(picture.exists())

    def test_files_that_cannot_be_written_are_refused_before_the_search(self):
        program = self.compile(BEGIN + "MPI_Barrier(MPI_COMM_WORLD);" + END)
        for option in ("--keep", "--svg"):
            done = self.call("check", option, "/no/such/folder/file", "--", program)
            self.assertEqual(done.returncode, 2)
            self.assertIn("/no/such/folder/file", done.stderr)
            older = pathlib.Path(self.folder.name) / "older"
            older.write_text("kept")
            self.assertEqual(self.call("check", option, older, "--", program).returncode, 2)
            self.assertEqual(older.read_text(), "kept")

    def poll(self, loop, before="", origin="MPI_Put(&one, 1, MPI_INT, 1, 0, 1, MPI_INT, win); MPI_Win_flush(1, win);"):
        """Rank 1 waits in `loop` for what rank 0 does in `origin`."""
        return self.compile(
            BEGIN
            + """
  volatile int* memory;
  MPI_Win win;
  const int one = 1;
  int is_there;
  MPI_Win_allocate(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  *memory = 0;
  MPI_Barrier(MPI_COMM_WORLD);
"""
            + before
            + "if (rank == 0) {"
            + origin
            + "} else {"
            + loop
            + "}\n(void)one; (void)is_there; if (rank < 2) MPI_Barrier(MPI_COMM_WORLD);"
            + ("MPI_Win_unlock_all(win);" if before else "")
            + "MPI_Win_free(&win);"
            + END
        )

    def test_a_target_outside_the_library_hangs_in_mode_progress_alone(self):
        lock_all = "MPI_Win_lock_all(0, win);"
        sync = "while (*memory != 1) MPI_Win_sync(win);"
        for program in (
            self.poll(sync, lock_all),
            self.poll(sync, "", "MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win); MPI_Put(&one, 1, MPI_INT, 1, 0, 1, MPI_INT, win); MPI_Win_unlock(1, win);"),
            # Not what the loop reads: the origin's operation does not end, so that its message never comes.
            self.poll(
                "MPI_Barrier(MPI_COMM_WORLD); while (*memory != 1) MPI_Win_sync(win);",
                lock_all,
                "MPI_Barrier(MPI_COMM_WORLD); MPI_Accumulate(&one, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, win); MPI_Win_flush(1, win);",
            ),
        ):
            done = self.call("check", "--json", "--", program)
            self.assertEqual(json.loads(done.stdout)["verdict"], "complete", done.stdout)
            schedule = pathlib.Path(self.folder.name) / "progress.json"
            done = self.call("check", "--mode", "progress", "--keep", schedule, "--overwrite", "--", program)
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            self.assertIn("Hang: no rank can go on", done.stdout)
            self.assertIn("no call in the loop lets MPI progress", done.stdout)
            again = self.call("check", "--replay", schedule)
            self.assertIn("no call in the loop lets MPI progress", again.stdout, again.stderr)

    def test_a_target_that_enters_the_library_is_right_in_mode_progress(self):
        probe = "MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);"
        for program in (
            self.poll(f"while (*memory != 1) {{ {probe} }}", "MPI_Win_lock_all(0, win);"),
            self.poll("while (*memory != 1) MPI_Win_flush(1, win);", "MPI_Win_lock_all(0, win);"),
            # The loop ends by itself, and a wait in the library follows.
            self.poll("for (int i = 0; i < 20 && *memory != 1; ++i) MPI_Win_sync(win);", "MPI_Win_lock_all(0, win);"),
        ):
            done = self.call("check", "--mode", "progress", "--json", "--", program)
            self.assertEqual(json.loads(done.stdout)["verdict"], "complete", done.stdout + done.stderr)

    def test_an_operation_that_nobody_completes_may_never_arrive(self):
        probe = "while (*memory != 1) { MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE); }"
        unflushed = "MPI_Put(&one, 1, MPI_INT, 1, 0, 1, MPI_INT, win);"
        for more in (
            "",
            # A flush of another target's operation completes that one alone.
            "MPI_Put(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, win); MPI_Win_flush(0, win);",
        ):
            program = self.poll(probe, "MPI_Win_lock_all(0, win);", unflushed + more)
            for mode in ("any", "progress"):
                done = self.call("check", "--mode", mode, "--json", "--", program)
                self.assertEqual(json.loads(done.stdout).get("fault", {}).get("kind"), "hang", (more, mode, done.stdout))
        # The test of an MPI_Rput tells of its origin alone.
        tested = "MPI_Request request; MPI_Rput(&one, 1, MPI_INT, 1, 0, 1, MPI_INT, win, &request); do MPI_Test(&request, &is_there, MPI_STATUS_IGNORE); while (!is_there);"
        done = self.call("check", "--json", "--", self.poll(probe, "MPI_Win_lock_all(0, win);", tested))
        self.assertEqual(json.loads(done.stdout).get("fault", {}).get("kind"), "hang", done.stdout)

    def test_calls_that_only_look_something_up_let_nothing_progress(self):
        for call in ("MPI_Get_processor_name(name, &is_there)", "MPI_Type_size(MPI_INT, &is_there)", "MPI_Comm_rank(MPI_COMM_WORLD, &is_there)"):
            program = self.poll(f"char name[MPI_MAX_PROCESSOR_NAME]; (void)name; while (*memory != 1) {call};", "MPI_Win_lock_all(0, win);")
            done = self.call("check", "--mode", "progress", "--", program)
            self.assertEqual(done.returncode, 1, (call, done.stdout))

    def test_a_rank_that_waits_in_the_library_is_not_outside(self):
        lock_all = "MPI_Win_lock_all(0, win);"
        tries = "for (int i = 0; i < 8; ++i) if (*memory == 1) break;"
        put = "MPI_Put(&one, 1, MPI_INT, 1, 0, 1, MPI_INT, win); MPI_Win_flush(1, win);"
        rare = "for (int n = 1; *memory != 1; ++n) if (n % 10 == 0) MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);"
        for program in (
            self.poll(tries + "MPI_Recv(&is_there, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);", lock_all, put + "MPI_Send(&one, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);"),
            self.poll(tries, lock_all, put),
            self.poll(rare, lock_all, put),
        ):
            done = self.call("check", "--mode", "progress", "--json", "--", program)
            self.assertEqual(json.loads(done.stdout)["verdict"], "complete", done.stdout)

    def test_a_picture_shows_what_never_arrives(self):
        program = self.poll("while (*memory != 1) MPI_Win_sync(win);", "MPI_Win_lock_all(0, win);")
        picture = pathlib.Path(self.folder.name) / "found.svg"
        self.call("check", "--mode", "progress", "--svg", picture, "--", program)
        texts = [one.text for one in xml.etree.ElementTree.parse(picture).iter("{http://www.w3.org/2000/svg}text")]
        self.assertTrue(any("not done: delivery of put to rank 1" in text for text in texts), texts)

    def test_a_schedule_keeps_its_promises_and_has_its_own_freedoms(self):
        program = self.poll("while (*memory != 1) MPI_Win_sync(win);", "MPI_Win_lock_all(0, win);")
        kept = pathlib.Path(self.folder.name) / "kept.json"
        done = self.call("check", "--promises", "none", "--keep", kept, "--", program)
        self.assertIn("Race", done.stdout)
        self.assertIn("Race", self.call("check", "--replay", kept).stdout)
        for wrong in (["--mode", "any"], ["--lag"], ["--svg", kept, "--overwrite"]):
            self.assertEqual(self.call("check", "--replay", kept, *wrong).returncode, 2, wrong)
        both = pathlib.Path(self.folder.name) / "both"
        self.assertEqual(self.call("check", "--keep", both, "--svg", both, "--", program).returncode, 2)
        self.assertEqual(self.call("check", "--svg", self.folder.name, "--overwrite", "--", program).returncode, 2)
        self.assertEqual(self.call("check", "--svg", "", "--", program).returncode, 2)

    def test_a_test_may_say_that_what_is_complete_is_not(self):
        for begin, other in (
            ("MPI_Ibarrier(MPI_COMM_WORLD, &request);", "MPI_Barrier(MPI_COMM_WORLD);"),
            ("if (rank == 0) MPI_Issend(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request); else MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);", "MPI_Barrier(MPI_COMM_WORLD);"),
        ):
            verdicts = {}
            for expected in (0, 1):
                program = self.compile(
                    BEGIN
                    + "MPI_Request request = MPI_REQUEST_NULL; int x = 0, flag = 0;"
                    + begin
                    + (other if "Issend" in begin else "")
                    + f"if (rank == 0) {{ MPI_Test(&request, &flag, MPI_STATUS_IGNORE); if (flag == {expected}) abort(); }}"
                    + "MPI_Wait(&request, MPI_STATUS_IGNORE);"
                    + END
                )
                done = self.call("check", "--lag", "--json", "--", program)
                verdicts[expected] = json.loads(done.stdout)["verdict"]
            self.assertEqual(verdicts, {0: "fault", 1: "fault"}, begin)

    def test_the_random_tier_finds_it_too(self):
        done = self.call("check", "--tier", "random", "--executions", 50, "--", self.compile(RACE))
        self.assertEqual(done.returncode, 1)

    def test_a_search_that_is_cut_short_is_incomplete(self):
        program = self.compile(BEGIN + "MPI_Barrier(MPI_COMM_WORLD);" + END)
        done = self.call("check", "--tier", "random", "--executions", 5, "--", program)
        self.assertEqual(done.returncode, 3)

    def test_an_ordinary_executable_is_refused(self):
        done = self.call("check", "--", "/bin/true")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertIn("nearfar-cc", done.stderr)

    def test_fork_is_refused_by_name(self):
        program = self.compile("#include <unistd.h>\n" + BEGIN + "fork();" + END)
        done = self.call("check", "--", program)
        self.assertEqual(done.returncode, 3)
        self.assertIn("fork", done.stdout)

    def test_a_program_cannot_replace_the_checker(self):
        for call in ('execlp("true", "true", (char*)0);', "vfork();", 'char* all[] = {"true", 0}; execv("/bin/true", all);'):
            program = self.compile("#include <unistd.h>\n" + BEGIN + call + END)
            done = self.call("check", "--", program)
            self.assertEqual(done.returncode, 3, call)
            self.assertIn(call.split("(")[0].split()[-1], done.stdout)

    def test_a_pause_is_a_hang_and_an_alarm_never_comes(self):
        program = self.compile("#include <unistd.h>\n" + BEGIN + "alarm(1); if (rank == 1) pause();" + END)
        done = self.call("check", "--", program)
        self.assertEqual(done.returncode, 1)
        self.assertIn("waits for a signal", done.stdout)

    def test_each_execution_reads_the_same_input(self):
        program = self.compile(BEGIN + "int x = 0; if (rank == 0 && (scanf(\"%d\", &x) != 1 || x != 5)) abort(); MPI_Barrier(MPI_COMM_WORLD);" + END)
        for source in ("pipe", "file"):
            text = pathlib.Path(self.folder.name) / "input"
            text.write_text("5\n")
            command = [CHECKER, "check", "--", program]
            if source == "pipe":
                done = subprocess.run(command, input="5\n", capture_output=True, text=True, timeout=60)
            else:
                with text.open() as given:
                    done = subprocess.run(command, stdin=given, capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, source + done.stdout)

    def test_files_that_a_program_leaves_open_are_closed(self):
        program = self.compile(
            "#include <fcntl.h>\n" + BEGIN
            + """
  for (int i = 0; i < 100; ++i) if (open("/dev/null", O_RDONLY) < 0) abort();
  int got;
  if (rank == 0) for (int i = 0; i < 2; ++i) MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  else MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
"""
            + END
        )
        done = subprocess.run(
            [CHECKER, "check", "--ranks", "3", "--json", "--", program],
            capture_output=True,
            text=True,
            timeout=60,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (400, 400)),
        )
        report = json.loads(done.stdout)
        self.assertEqual(report["verdict"], "complete", report)
        self.assertGreater(report["executions"], 4)

    def test_each_rank_has_its_own_place_in_strtok(self):
        program = self.compile(
            "#include <string.h>\n" + BEGIN
            + 'char text[] = "a b"; strtok(text, " "); MPI_Barrier(MPI_COMM_WORLD); char* next = strtok(NULL, " "); if (!next || *next != \'b\') abort();'
            + END
        )
        self.assertEqual(self.call("check", "--", program).returncode, 0)

    def test_a_program_that_the_wrapper_has_not_compiled_is_refused(self):
        source = pathlib.Path(self.folder.name) / "plain.c"
        source.write_text(BEGIN + END)
        program = source.with_suffix("")
        subprocess.run(["cc", "-shared", "-fPIC", "-I", SOURCE / "include/nearfar-mpi", source, "-o", program], check=True)
        done = self.call("check", "--", program)
        self.assertEqual(done.returncode, 2)
        self.assertIn("was not compiled with nearfar-cc", done.stderr)

    def test_a_program_that_is_started_as_such_says_how_to_start_it(self):
        program = self.compile(BEGIN + END)
        done = subprocess.run([program], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertIn("nearfar run -- PROGRAM", done.stderr)

    def test_a_program_that_is_started_as_such_is_run_where_the_command_is_beside_the_wrapper(self):
        there = pathlib.Path(self.folder.name) / "bin"
        there.mkdir()
        (there / "nearfar-cc").write_text((SOURCE / "scripts/nearfar-cc").read_text())
        (there / "nearfar-cc").chmod(0o755)
        (there / "nearfar").symlink_to(CHECKER)
        (there.parent / "include").symlink_to(SOURCE / "include")
        source = there.parent / "program.c"
        source.write_text(BEGIN + 'printf("%d %s\\n", rank, argv[1]);' + END)
        subprocess.run([there / "nearfar-cc", source, "-o", there / "program"], check=True)
        done = subprocess.run([there / "program", "a b"], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (0, "0 a b\n"), done.stderr)

    def test_a_function_that_is_nowhere_is_an_error_of_the_link(self):
        source = pathlib.Path(self.folder.name) / "undefined.c"
        source.write_text("int is_nowhere(void); int main(void) { return is_nowhere(); }")
        done = subprocess.run([SOURCE / "scripts/nearfar-cc", source, "-o", source.with_suffix("")], capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("is_nowhere", done.stderr)
        self.assertFalse(source.with_suffix("").exists())

    def test_flags_of_the_user_do_not_hide_accesses(self):
        text = RACE.replace("MPI_Win_unlock_all(win);", "if (rank == 0) memory[0] = 1; MPI_Win_unlock_all(win);").replace(
            "MPI_Put(&rank, 1, MPI_INT, 0,", "if (rank == 1) MPI_Put(&rank, 1, MPI_INT, 0,"
        )
        for flags in (["-O3", "-flto"], ["-O2", "-D_FORTIFY_SOURCE=2"], ["-x", "c"], ["-std=c11", "-pedantic"], ["-static"]):
            program = self.compile(text, flags=flags)
            self.assertEqual(self.call("check", "--", program).returncode, 1, flags)

    def test_a_fortified_program_prints_nothing_in_a_search(self):
        program = self.compile(BEGIN + 'printf("%d\\n", rank);' + END, flags=["-O2", "-D_FORTIFY_SOURCE=2"])
        self.assertEqual(self.call("check", "--", program).stdout.count("\n"), 1)

    def test_clang(self):
        clang = next((name for name in ("clang", "clang-16") if shutil.which(name)), None)
        if clang is None:
            self.skipTest("there is no clang")
        source = pathlib.Path(self.folder.name) / "program.c"
        source.write_text(
            "struct cells { int all[16]; };\n"
            + RACE.replace("(8, 4", "(64, 4").replace("MPI_Put(&rank", "struct cells copy = *(struct cells*)memory; (void)copy; if (rank == 1) MPI_Put(&rank")
        )
        program = source.with_suffix("")
        subprocess.run([SOURCE / "scripts/nearfar-cc", "-g", source, "-o", program], check=True, env={**os.environ, "NEARFAR_CC": clang})
        done = self.call("check", "--", program)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("Race", done.stdout)

    def test_wrong_options_are_named(self):
        program = self.compile(BEGIN + END)
        for option, value in (("--promises", "love"), ("--time-limit", "-1"), ("--executions", "-1"), ("--node", "-1"), ("--steps", "0")):
            done = self.call("check", option, value, "--", program)
            self.assertEqual(done.returncode, 2, option)
            self.assertIn(value, done.stderr)
        self.assertIn("is a folder", self.call("run", "--", "/").stderr)

    def test_a_replay_with_another_number_of_ranks_is_refused(self):
        program = self.compile(RACE)
        schedule = pathlib.Path(self.folder.name) / "found.json"
        self.call("check", "--keep", schedule, "--", program)
        done = self.call("check", "--replay", schedule, "--ranks", 3)
        self.assertEqual(done.returncode, 2)
        self.assertIn("one of 2 ranks", done.stderr)

    def test_a_missing_function_is_refused_by_name(self):
        program = self.compile(BEGIN + "MPI_Comm c; MPI_Comm_join(0, &c);" + END)
        done = self.call("check", "--", program)
        self.assertEqual(done.returncode, 3)
        self.assertIn("MPI_Comm_join is not supported", done.stdout)

    def test_a_null_pointer_is_a_crash_with_its_line(self):
        program = self.compile(BEGIN + "if (rank == 1) *(volatile int*)0 = 1;" + END)
        done = self.call("check", "--", program)
        self.assertEqual(done.returncode, 1)
        self.assertIn("null pointer", done.stdout)
        self.assertIn("program.c:9", done.stdout)

    def test_cpp_with_static_objects_and_streams(self):
        program = self.compile(
            '#include <mpi.h>\n#include <iostream>\n#include <string>\n#include <vector>\nstatic std::vector<std::string> names{"a", "b"};\n'
            "int main() { MPI_Init(nullptr, nullptr); names.push_back(std::string(100, 'x')); std::cout << 1.5 << names.size() << '\\n';\n"
            "MPI_Barrier(MPI_COMM_WORLD); MPI_Finalize(); return names.size() == 3 ? 0 : 1; }",
            ".cpp",
            "nearfar-c++",
        )
        done = self.call("run", "--ranks", 2, "--", program)
        self.assertEqual(done.stdout, "1.53\n1.53\n", done.stderr)
        self.assertEqual(self.call("check", "--ranks", 3, "--", program).returncode, 0)

    def test_an_exception_through_a_collective_leaves_no_request(self):
        program = self.compile(
            "#include <mpi.h>\nstatic void refuse(void*, void*, int*, MPI_Datatype*) { throw 1; }\n"
            "int main() { MPI_Init(nullptr, nullptr); MPI_Op op; int x = 1, y = 0; MPI_Op_create(refuse, 1, &op);\n"
            "try { MPI_Allreduce(&x, &y, 1, MPI_INT, op, MPI_COMM_WORLD); } catch (int) { y = 3; }\n"
            "MPI_Op_free(&op); MPI_Finalize(); return y == 3 ? 0 : 1; }",
            ".cpp",
            "nearfar-c++",
        )
        self.assertEqual(self.call("check", "--", program).returncode, 0)

    def test_the_document_shows_what_the_checker_says_of_its_example(self):
        program = self.compile((SOURCE / "examples/checking/handover.c").read_text())
        schedule = pathlib.Path(self.folder.name) / "found.json"
        done = self.call("check", "--ranks", 2, "--keep", schedule, "--", program)
        shown = done.stdout.replace("program.c", "handover.c").replace(str(schedule), "found.json")
        self.assertIn(f"```\n{shown}```", (SOURCE / "docs/checking-a-program.md").read_text())

    def test_the_published_lock_hangs_and_the_repaired_one_does_not(self):
        text = (SOURCE / "examples/checking/d_mcs.c").read_text()
        document = (SOURCE / "docs/checking-a-program.md").read_text()
        line_of = {words: 1 + text[: text.index(words)].count("\n") for words in ("own[next_of(self)] = nobody;", "MPI_Put(&rank")}
        program = self.compile(text, flags=("-g", "-DFORM=1"))
        done = self.call("check", "--ranks", 2, "--", program, 1)
        self.assertEqual(done.returncode, 1)
        self.assertIn("Hang: no rank can go on", done.stdout)
        self.assertIn(f"```\n{done.stdout.replace('program.c', 'd_mcs.c')}```", document)
        program = self.compile(text, flags=("-g", "-DFORM=2"))
        done = self.call("check", "--ranks", 2, "--", program, 2)
        self.assertEqual(done.returncode, 1)
        for line in line_of.values():
            self.assertIn(f"program.c:{line} (acquire)", done.stdout)
            self.assertIn(f"line {line}", document)
        program = self.compile(text, flags=("-g", "-DFORM=3"))
        done = self.call("check", "--ranks", 2, "--", program, 2)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn(f"No fault in any schedule: {9516} executions", done.stdout)

    def test_a_loop_of_tests_ends_when_the_last_rank_calls_the_collective(self):
        program = self.compile(
            BEGIN
            + """
  // While rank 1 waits, this loop looks like one that waits, too.
  for (int i = 0, flag; rank == 0 && i < 9; ++i) MPI_Iprobe(1, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  MPI_Request request;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  int flag = 0;
  while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
"""
            + END
        )
        for sends in ("wait", "buffer"):
            done = self.call("check", "--sends", sends, "--", program)
            self.assertEqual(done.returncode, 0, done.stdout)

    def test_a_get_beside_an_atomic_store_needs_a_promise(self):
        program = self.compile(
            BEGIN.replace("#include <stdio.h>", "#include <stdatomic.h>\n#include <stdio.h>")
            + """
  long *cell, got = 0;
  MPI_Win win;
  MPI_Win_allocate(8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &cell, &win);
  *cell = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, win);
  if (rank == 0) atomic_store((_Atomic long*)cell, 1);
  if (rank == 1) MPI_Get(&got, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
"""
            + END
        )
        self.assertIn("Race: ", self.call("check", "--", program).stdout)
        done = self.call("check", "--promises", "racing_gets", "--", program)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("beyond the standard: racing_gets", done.stdout)

    def test_a_counting_loop_in_which_nothing_changes_needs_more_turns(self):
        program = self.compile(
            BEGIN
            + "int flag; for (int i = 0; i < 1000; ++i) MPI_Iprobe(1 - rank, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);"
            + END
        )
        self.assertIn("Hang", self.call("check", "--", program).stdout)
        self.assertEqual(self.call("check", "--turns", 2000, "--", program).returncode, 0)

    def test_a_put_may_reach_over_two_attached_regions_that_are_neighbours(self):
        text = (
            BEGIN
            + """
  static int memory[4];
  static const int from[4] = {1, 2, 3, 4};
  MPI_Win win;
  MPI_Aint where;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_attach(win, memory, 8);
  MPI_Win_attach(win, memory + 2, SECOND);
  MPI_Get_address(memory, &where);
  MPI_Bcast(&where, 1, MPI_AINT, 0, MPI_COMM_WORLD);
  MPI_Win_fence(0, win);
  if (rank == 1) MPI_Put(from, 4, MPI_INT, 0, where, 4, MPI_INT, win);
  MPI_Win_fence(0, win);
  if (rank == 0 && memory[3] != 4) return 1;
  MPI_Win_detach(win, memory);
  MPI_Win_detach(win, memory + 2);
  MPI_Win_free(&win);
"""
            + END
        )
        done = self.call("check", "--", self.compile(text, flags=("-g", "-DSECOND=8")))
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("Out of range", self.call("check", "--", self.compile(text, flags=("-g", "-DSECOND=4"))).stdout)

    def test_the_tool_interface_has_no_variables(self):
        program = self.compile(
            BEGIN + "int n; MPI_T_init_thread(MPI_THREAD_SINGLE, &n); MPI_T_cvar_get_num(&n);"
            "if (n != 0 || MPI_T_cvar_get_index(\"x\", &n) == MPI_SUCCESS) return 1; MPI_T_finalize();" + END
        )
        self.assertEqual(self.call("check", "--", program).returncode, 0)

    def test_the_hints_of_a_window_come_back(self):
        program = self.compile(
            BEGIN
            + """
  MPI_Win win;
  MPI_Info info;
  char value[5];  // without room for more than the value
  int flag, *memory;
  MPI_Info_create(&info);
  MPI_Info_set(info, "no_locks", "true");
  MPI_Info_set(info, "unknown", "true");
  MPI_Win_allocate(4, 4, info, MPI_COMM_WORLD, &memory, &win);
  MPI_Info_free(&info);
  MPI_Win_get_info(win, &info);
  MPI_Info_get(info, "no_locks", 5, value, &flag);
  if (!flag || value[0] != 't') return 1;
  MPI_Info_get(info, "unknown", 5, value, &flag);
  if (flag) return 2;
  MPI_Info_free(&info);
  MPI_Win_free(&win);
"""
            + END
        )
        done = self.call("check", "--", program)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_the_speed_script_shows_the_number_of_schedules(self):
        command = [SOURCE / "scripts/program-speed", "--program", CHECKER, "--executions", "10"]
        names = ["counter by fetch_and_op", "exchange by fence and put"]
        done = subprocess.run([*command, *names], capture_output=True, text=True, timeout=120)
        self.assertIn("| counter by fetch_and_op | 12,870 |", done.stdout, done.stderr)  # 16 over 8
        self.assertIn("| exchange by fence and put | 1 |", done.stdout)

    def test_make_style_compilation_in_two_steps(self):
        source = pathlib.Path(self.folder.name) / "part.c"
        source.write_text(RACE)
        for command in (["-g", "-c", "part.c", "-o", "part.o"], ["part.o", "-o", "part", "-lm"]):
            subprocess.run([SOURCE / "scripts/nearfar-cc", *command], check=True, cwd=self.folder.name)
        self.assertEqual(self.call("check", "--", pathlib.Path(self.folder.name) / "part").returncode, 1)


if __name__ == "__main__":
    unittest.main()
