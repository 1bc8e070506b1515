"""`nearfar check` as its users meet it: options, exit statuses, files, and its output for right locks and for faults."""

import json
import os
import pathlib
import re
import shlex
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

COMMAND = os.environ["NEARFAR_COMMAND"]
MPI = os.environ["NEARFAR_MPI_NAME"]
SOURCE = pathlib.Path(os.environ["NEARFAR_SOURCE_DIR"])
VIOLATION = ["--locks", "cohort.published", "--ranks", "3"]
# No reader-writer lock is unsound, but this one needs more than MPI promises.
RW_VIOLATION = ["--locks", "cohort_rw", "--ranks", "3", "--readers", "2", "--acquisitions", "1", "--promises", "none"]


def run(arguments, cwd=None, launcher=()):
    return subprocess.run(
        [*launcher, COMMAND, "check", *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        check=False,
    )


def records(text):
    return [json.loads(line) for line in text.splitlines()]


def without_times(text):
    """The results without the provenance, which has time and place."""
    results = [record for record in records(text) if record["record"] == "result"]
    for result in results:
        del result["time_ns"]
    return results


class Check(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.folder = pathlib.Path(self._folder.name)

    def check(self, *arguments):
        return run(arguments, cwd=self.folder)

    def left_behind(self):
        return sorted(path.name for path in self.folder.iterdir())

    def assert_right(self, *arguments):
        """Nothing found, and the status says whether a limit ended a search."""
        ended = self.check(*arguments)
        self.assertEqual(ended.returncode, 3 if "before the limit" in ended.stdout else 0, ended.stdout + ended.stderr)
        # Of a search that takes long a line says now and then how far it is.
        self.assertEqual(re.sub(r"nearfar: \S+, \w+: \d+ executions\n", "", ended.stderr), "")
        self.assertNotIn("VIOLATION", ended.stdout)
        return ended.stdout

    def assert_incomplete(self, *arguments):
        """A limit ended the search, which the status says, and the last line but for records."""
        ended = self.check(*arguments)
        self.assertEqual(ended.returncode, 3, ended.stdout + ended.stderr)
        self.assertEqual(ended.stderr, "")
        self.assertNotIn("VIOLATION", ended.stdout)
        self.assertRegex(ended.stdout.splitlines()[-1], r"^Incomplete: limits ended \d+ of \d+ searches before")
        return ended.stdout

    def assert_refused(self, *arguments, saying):
        """One line on stderr, status 2, nothing on stdout, nothing new in the folder."""
        before = self.left_behind()
        ended = self.check(*arguments)
        self.assertEqual(ended.returncode, 2, ended.stdout + ended.stderr)
        self.assertEqual(len(ended.stderr.splitlines()), 1, ended.stderr)
        self.assertTrue(ended.stderr.startswith("nearfar: "), ended.stderr)
        for text in [saying] if isinstance(saying, str) else saying:
            self.assertIn(text, ended.stderr)
        self.assertEqual(ended.stdout, "")
        self.assertEqual(self.left_behind(), before)

    @staticmethod
    def schedule_of(text):
        """The text from the head of the columns to the end of the explanation."""
        shown = text[text.index("  step  rank") :]
        return shown[: shown.index(".\n\n")]

    def keep_violation(self, *more):
        ended = self.check(*VIOLATION, "--trace", "t.json", *more)
        self.assertEqual(ended.returncode, 1, ended.stdout + ended.stderr)
        return ended.stdout


class RightLocks(Check):
    def test_exhaustive_search_of_every_family_by_default(self):
        text = self.assert_right()
        for family in ["mpi_win", "d_mcs", "dash", "rma_mcs", "tas", "mcs", "cohort"]:
            self.assertRegex(text, rf"(?m)^{family} +lazy .* nothing found, complete")
        for family in ["cohort_rw", "rma_rw", "near_rw", "rw_ticket", "rw_spin", "mpi_rw"]:
            self.assertRegex(text, rf"(?m)^{family} +lazy .* nothing found, complete;( on one node;)? 1 reads$")
        self.assertRegex(text, r"(?m)^mcs .*on one node")
        self.assertEqual(self.left_behind(), [])

    def test_all_modes(self):
        text = self.assert_right("--locks", "dash", "--mode", "all", "--ranks", "3", "--acquisitions", "1")
        self.assertEqual([line.split()[1] for line in text.splitlines()[3:]], ["eager", "lazy", "progress"])
        text = self.assert_right("--locks", "dash", "--mode", "progress,eager")
        self.assertEqual([line.split()[1] for line in text.splitlines()[3:]], ["eager", "progress"])

    def test_hashed_states_find_the_same(self):
        text = self.assert_right("--locks", "dash,mcs", "--tier", "hash")
        self.assertIn("near cells sequential", text)
        self.assertEqual(text.count("nothing found, complete"), 2)

    def test_random_schedules_of_many_ranks(self):
        text = self.assert_right("--locks", "cohort,d_mcs", "--tier", "random", "--ranks", "16", "--nodes", "4",
                                 "--executions", "64", "--depth", "5", "--home", "7")  # fmt: skip
        self.assertRegex(text, r"(?m)^cohort +lazy +64 .* nothing found$")

    def test_a_random_search_that_a_limit_ended_says_so(self):
        for limits in [["--time-limit", "0.01"], ["--time-limit", "0.01", "--executions", "100000000"]]:
            text = self.assert_incomplete("--locks", "d_mcs", "--tier", "random", *limits)
            self.assertRegex(text, r"(?m)^d_mcs .* nothing found before the limit$")

    def test_islands_are_a_level_of_locks_that_know_them(self):
        arguments = ["--locks", "hmcs,cohort", "--ranks", "3", "--nodes", "3", "--acquisitions", "1"]
        without = self.check(*arguments, "--json")
        with_islands = self.check(*arguments, "--nodes-per-island", "2", "--json")
        self.assertEqual((without.returncode, with_islands.returncode), (0, 0), without.stderr + with_islands.stderr)
        traces = [{one["lock"]: one["executions"] for one in records(text) if one["record"] == "result"}
                  for text in (without.stdout, with_islands.stdout)]  # fmt: skip
        self.assertNotEqual(traces[0]["hmcs"], traces[1]["hmcs"])
        self.assertEqual(traces[0]["cohort"], traces[1]["cohort"])
        shapes = [one.get("nodes_per_island") for text in (without.stdout, with_islands.stdout)
                  for one in records(text) if one["record"] == "result"]  # fmt: skip
        self.assertEqual(shapes, [None, None, 2, 2])
        text = self.assert_right("--locks", "hmcs", "--ranks", "3", "--nodes", "3", "--nodes-per-island", "2", "--acquisitions", "1")
        self.assertIn("3 ranks on 3 nodes in islands of 2, 1 acquisition each", text)

    def test_by_try_lock_first(self):
        self.assertIn("by try_lock first", self.assert_right("--locks", "tas,mcs", "--try-first"))

    def test_readers_of_reader_writer_locks_alone(self):
        text = self.assert_right("--readers", "2", "--ranks", "3", "--acquisitions", "1")
        self.assertEqual([line.split()[0] for line in text.splitlines()[3:]], ["cohort_rw", "rma_rw", "near_rw", "rw_ticket", "rw_spin", "mpi_rw"])
        self.assertIn("3 ranks on 2 nodes, 2 of them readers, 1 acquisition each,", text)
        text = self.assert_right("--locks", "all", "--readers", "1", "--acquisitions", "1")
        self.assertRegex(text, r"(?m)^rma_rw\.numa ")
        self.assertNotRegex(text, r"(?m)^(mcs|cohort)[ .]")

    def test_readers_in_every_tier_and_way(self):
        bounds = ["--locks", "rma_rw,rw_spin", "--acquisitions", "1"]
        half = self.assert_incomplete(*bounds, "--ranks", "4", "--tier", "hash", "--executions", "100")
        self.assertIn("4 ranks on 2 nodes, 2 of them readers", half)
        self.assertNotIn("reader", self.assert_right(*bounds, "--readers", "0"))
        self.assert_right(*bounds, "--ranks", "3", "--readers", "3", "--mode", "all")
        self.assertIn("a reader, 1 acquisition each by try_lock first", self.assert_right(*bounds, "--try-first"))
        self.assertIn("end blocked by a crash", self.assert_right(*bounds, "--crashes", "1"))
        self.assert_right("--locks", "all", "--readers", "20", "--ranks", "40", "--nodes", "5", "--tier", "random",
                          "--executions", "1")  # fmt: skip

    def test_limits_end_a_search_and_are_named(self):
        text = self.assert_incomplete("--locks", "cohort", "--ranks", "4", "--acquisitions", "3", "--executions", "100")
        self.assertIn("nothing found before the limit", text)
        text = self.assert_incomplete("--locks", "cohort", "--ranks", "4", "--acquisitions", "3", "--time-limit", "0.2")
        self.assertIn("nothing found before the limit", text)

    def test_same_arguments_same_results(self):
        random = ["--locks", "dash", "--tier", "random", "--ranks", "5", "--executions", "50", "--json", "--seed"]
        for arguments in [["--json", "--locks", "mcs,tas"], [*random, "3"]]:
            one, other = self.check(*arguments), self.check(*arguments)
            self.assertEqual(without_times(one.stdout), without_times(other.stdout))
        steps = [without_times(self.check(*random, seed).stdout)[0]["steps"] for seed in "34"]
        self.assertNotEqual(steps[0], steps[1])

    def test_only_one_rank_of_a_launch_acts(self):
        launcher = [str(SOURCE / "scripts" / "run-mpi"), "--mpi", MPI, "--ranks", "2", "--"]
        ended = run(["--locks", "mcs"], cwd=self.folder, launcher=launcher)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(ended.stdout.count("nothing found"), 1, ended.stdout)


class Records(Check):
    def test_json_is_one_record_for_each_lock_and_mode(self):
        ended = self.check("--locks", "dash,tas", "--mode", "all", "--json", "--output", "r.jsonl")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual((self.folder / "r.jsonl").read_text(), ended.stdout)
        first, *results = records(ended.stdout)
        self.assertEqual(first["record"], "provenance")
        for field in ["library_version", "commit", "compiler", "flags", "argv", "start_time"]:
            self.assertIn(field, first)
        self.assertEqual(len(results), 6)
        for result in results:
            self.assertEqual(result["schema"], "nearfar.check/1")
            self.assertTrue(result["complete"])
            self.assertIsNone(result["violation"])
            for field in ["lock", "ranks", "nodes", "acquisitions", "mode", "near", "tier", "executions", "pruned",
                          "steps", "time_ns"]:  # fmt: skip
                self.assertIn(field, result)

    def test_a_violation_is_in_its_record(self):
        ended = self.check(*VIOLATION, "--json")
        self.assertEqual(ended.returncode, 1)
        violation = records(ended.stdout)[1]["violation"]
        self.assertEqual(violation["fault"], "conflict")
        self.assertTrue(all(len(step) == 3 for step in violation["schedule"]))

    def test_records_say_which_objects_are_unsound(self):
        ended = self.check("--locks", "d_mcs.put,d_mcs", "--acquisitions", "1", "--json")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual([result["sound"] for result in records(ended.stdout)[1:]], [False, True])

    def test_records_say_how_many_read(self):
        ended = self.check("--locks", "mcs,mpi_rw,cohort_rw", "--ranks", "4", "--acquisitions", "1", "--json")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual([result["readers"] for result in records(ended.stdout)[1:]], [0, 2, 2])

    def test_text_and_records_at_once(self):
        self.assert_right("--locks", "tas", "--output", "r.jsonl")
        self.assertEqual(len(records((self.folder / "r.jsonl").read_text())), 2)


class UnsoundObjects(Check):
    @staticmethod
    def unsound():
        listed = subprocess.run([COMMAND, "list", "--json"], capture_output=True, text=True, check=True)
        for kind in json.loads(listed.stdout)["kinds"]:
            for entry in kind["objects"]:
                if entry["unsound"]:
                    yield kind["option"], entry["name"]

    def test_the_advice_shows_the_fault(self):
        unsound = list(self.unsound())
        self.assertIn(("--locks", "d_mcs.put"), unsound)
        for option, name in unsound:
            ended = self.check(option, name)
            self.assertEqual(ended.returncode, 1, ended.stdout + ended.stderr)
            self.assertRegex(ended.stdout, rf"(?m)^{re.escape(name)} .* VIOLATION: [a-z]+$")

    def test_a_search_that_finds_nothing_names_the_one_that_does(self):
        for option, name in self.unsound():
            text = self.assert_right(option, name, "--ranks", "1", "--executions", "1")
            self.assertIn(f"; unsound, as 'nearfar check {option} {name}' shows\n", text)
        text = self.assert_right("--locks", "d_mcs.put", "--acquisitions", "1")
        self.assertIn("nothing found, complete; unsound, as 'nearfar check --locks d_mcs.put' shows\n", text)


class Violations(Check):
    def test_a_long_name_stays_apart_from_the_next_column(self):
        found = run(["--locks", "cohort.mcs_tts_published", "--acquisitions", "1", "--mode", "lazy"])
        self.assertRegex(found.stdout, r"(?m)^cohort\.mcs_tts_published +lazy ")

    def test_columns_explanation_and_how_to_see_it_again(self):
        text = self.keep_violation()
        self.assertRegex(text, r"(?m)^ +step +rank +operation +word +values")
        self.assertRegex(text, r"(?m)^ +2 +0 +exchange +mcs_lock\.tail of rank 0 +0 -> 1")
        self.assertRegex(text, r"deliver swap \[\d+\] +far_queue\.tail of rank 0")
        self.assertRegex(text, r"(?m)^> +\d+ +0 +write_direct +far_queue\.next of rank 0 ")
        self.assertIn("conflict: write_direct of far_queue.next of rank 0", text)
        self.assertIn("--replay t.json", text)
        again = next(line for line in text.splitlines() if "Again: " in line).split("nearfar check ")[1]
        repeated = self.check(*again.split())
        self.assertEqual(repeated.returncode, 1)
        self.assertIn(self.schedule_of(text), repeated.stdout)
        shown = self.schedule_of(text).splitlines()
        self.assertLessEqual(max(len(line) for line in shown), 110)

    def test_nothing_is_written_unless_asked_for(self):
        self.check(*VIOLATION)
        self.assertEqual(self.left_behind(), [])
        ended = self.check("--locks", "tas", "--trace", "t.json", "--svg", "t.svg")
        said = "".join(f"nearfar: no violation: '{name}' is not written\n" for name in ("t.json", "t.svg"))
        self.assertEqual((ended.returncode, ended.stderr), (0, said))
        self.assertEqual(self.left_behind(), [], "there is no violation to write")

    def test_older_files_that_are_left_are_named(self):
        self.keep_violation("--svg", "t.svg")
        before = {name: (self.folder / name).read_text() for name in self.left_behind()}
        self.assertEqual(sorted(before), ["t.json", "t.svg"])
        ended = self.check("--locks", "tas", "--trace", "t.json", "--svg", "t.svg", "--overwrite")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(ended.stderr, "".join(f"nearfar: no violation: '{name}' is left as it was\n" for name in before))
        self.assertEqual({name: (self.folder / name).read_text() for name in self.left_behind()}, before)

    def test_replay_shows_the_same(self):
        found = self.keep_violation()
        ended = self.check("--replay", "t.json")
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertIn("happens again", ended.stdout)
        self.assertIn(self.schedule_of(found), ended.stdout)

    def test_of_a_reader_writer_lock(self):
        ended = self.check(*RW_VIOLATION, "--trace", "t.json", "--svg", "t.svg")
        self.assertEqual(ended.returncode, 1, ended.stdout + ended.stderr)
        self.assertIn("cohort_rw, 3 ranks on 2 nodes, 2 of them readers, 1 acquisition each, mode lazy", ended.stdout)
        found = self.schedule_of(ended.stdout)
        self.assertIn("conflict: ", found)
        again = next(line for line in ended.stdout.splitlines() if "Again: " in line).split("nearfar check ")[1]
        self.assertIn(found, self.check(*again.split()).stdout)
        replayed = self.check("--replay", "t.json", "--svg", "again.svg")
        self.assertEqual(replayed.returncode, 1, replayed.stderr)
        self.assertIn("happens again", replayed.stdout)
        self.assertIn(found, replayed.stdout)
        self.assertEqual(*((self.folder / name).read_text() for name in ["t.svg", "again.svg"]))
        path = self.folder / "t.json"
        self.assertEqual(json.loads(path.read_text())["readers"], 2)
        path.write_text(path.read_text().replace('"cohort_rw"', '"cohort"'))
        self.assertEqual(self.check("--replay", "t.json").returncode, 2)

    def test_replay_of_files_from_before_there_were_readers(self):
        found = self.keep_violation()
        path = self.folder / "t.json"
        older = re.sub(r',\s*"readers": 0', "", path.read_text())
        self.assertNotIn("readers", older)
        path.write_text(older)
        ended = self.check("--replay", "t.json")
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertIn(self.schedule_of(found), ended.stdout)

    def test_replay_of_what_does_not_happen_any_more(self):
        path = self.folder / "changed.json"
        path.write_text(json.dumps(self.schedule_without_fault()))
        ended = self.check("--replay", "changed.json")
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        self.assertIn("does not happen again", ended.stdout)

    def schedule_without_fault(self):
        """The same steps where MPI promises what the lock needs."""
        ended = self.check(*RW_VIOLATION, "--trace", "t.json")
        self.assertEqual(ended.returncode, 1, ended.stdout + ended.stderr)
        return json.loads((self.folder / "t.json").read_text()) | {"promises": "racing_gets,racing_loads,mixed_accumulates"}

    def assert_not_followed(self, schedule, why):
        (self.folder / "changed.json").write_text(json.dumps(schedule))
        ended = self.check("--replay", "changed.json")
        self.assertEqual(ended.returncode, 3, ended.stdout + ended.stderr)
        self.assertRegex(ended.stdout, rf"Undecided: the schedule could not be followed: {why}\.")
        self.assertNotIn("happen again", ended.stdout)

    def test_replay_of_what_cannot_be_followed(self):
        schedule = self.schedule_without_fault()
        steps = schedule["steps"]
        self.assertEqual(schedule["length"], len(steps))
        refused = r"\d+ of the \d+ recorded steps could not be taken: the lock or the file has changed since"
        self.assert_not_followed(schedule | {"lock": "rma_rw"}, refused)
        self.assert_not_followed(schedule | {"steps": steps + 1000 * steps[-1:]}, refused)
        self.assert_not_followed(schedule | {"steps": []}, "the file has no steps")
        self.assert_not_followed(schedule | {"steps": steps[:5]}, f"the file lacks {len(steps) - 5} of its {len(steps)} steps")

    def test_replay_of_a_part_of_a_run_whose_end_shows_the_fault(self):
        ended = self.check("--locks", "d_mcs.unflushed", "--trace", "t.json")
        self.assertIn("VIOLATION: deadlock", ended.stdout)
        schedule = json.loads((self.folder / "t.json").read_text())
        del schedule["length"]  # as in older files
        self.assert_not_followed(schedule | {"steps": schedule["steps"][:1]}, "the run went on after the 1 recorded step")

    def test_replay_that_finds_the_fault_in_another_run(self):
        self.keep_violation()
        schedule = json.loads((self.folder / "t.json").read_text())
        schedule["steps"].pop()
        (self.folder / "changed.json").write_text(json.dumps(schedule))
        ended = self.check("--replay", "changed.json")
        self.assertEqual(ended.returncode, 1, ended.stdout + ended.stderr)
        self.assertRegex(ended.stdout, r"The violation happens again, although the file lacks 1 of its \d+ steps\.")

    def test_pictures_are_xml_with_every_rank_and_step(self):
        text = self.keep_violation("--svg", "found.svg")
        last = int(re.search(r"(?m)^> +(\d+) ", text)[1])
        self.check("--replay", "t.json", "--svg", "again.svg")
        found, again = ((self.folder / name).read_text() for name in ["found.svg", "again.svg"])
        self.assertEqual(found, again)
        root = xml.etree.ElementTree.fromstring(found)
        name = "{http://www.w3.org/2000/svg}"
        texts = [element.text for element in root.iter(f"{name}text")]
        for rank in range(3):
            self.assertIn(f"rank {rank}", texts)
        ids = [element.get("id") for element in root.iter(f"{name}circle") if element.get("id")]
        self.assertEqual(ids, [f"step{i}" for i in range(1, last + 1)])
        self.assertIn("cohort", root.find(f"{name}title").text)

    def test_each_violation_of_a_run_is_printed(self):
        ended = self.check("--locks", "d_mcs.put,dash.published")
        self.assertEqual(ended.returncode, 1)
        self.assertIn("Violation 1 of 2: d_mcs.put", ended.stdout)
        self.assertIn("Violation 2 of 2: dash.published", ended.stdout)


    def test_a_replay_that_is_cut_off_is_undecided(self):
        self.keep_violation()
        path = self.folder / "t.json"
        # Enacted, the conflict is no fault, and the rest of the run goes beyond the limit.
        changed = path.read_text().replace('"conflicts": "report"', '"conflicts": "enact"')
        path.write_text(re.sub(r'"step_limit": \d+', '"step_limit": 3', changed))
        ended = self.check("--replay", "t.json")
        self.assertEqual(ended.returncode, 3, ended.stdout + ended.stderr)
        self.assertRegex(ended.stdout, r"Undecided: the schedule was cut off after \d+ steps, beyond the file's step_limit\.")

    def test_lost_output_is_an_error(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            for arguments, status in [
                (["--locks", "tas"], 1),
                (["--locks", "tas", "--json"], 1),
                (["--locks", "tas", "--step-limit", "3"], 1),
                (VIOLATION, 1),
            ]:
                ended = subprocess.run([COMMAND, "check", *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
                self.assertEqual(ended.returncode, status, ended.stderr)
                self.assertEqual(len(ended.stderr.splitlines()), 1, ended.stderr)
                self.assertIn("cannot write standard output", ended.stderr)


    def test_a_closed_standard_output_is_lost_and_no_file_gets_its_number(self):
        for closed, status in [(">&-", 1), ("<&-", 0), ("2>&-", 0), ("<&- >&- 2>&-", 1)]:
            (self.folder / "r.jsonl").unlink(missing_ok=True)
            ended = subprocess.run(
                ["sh", "-c", f'exec "$0" "$@" {closed}', COMMAND, "check", "--locks", "tas", "--output", "r.jsonl"],
                cwd=self.folder, stderr=subprocess.PIPE, text=True, check=False)  # fmt: skip
            self.assertEqual(ended.returncode, status, (closed, ended.stderr))
            self.assertEqual("cannot write standard output" in ended.stderr, closed == ">&-", ended.stderr)
            self.assertEqual(self.left_behind(), ["r.jsonl"])
            self.assertEqual(len(records((self.folder / "r.jsonl").read_text())), 2)


class Plans(Check):
    """Queues, maps and channels, judged by the results of their operations."""

    LOST = ["--channels", "flagged.published", "--near", "sequential", "--tier", "random", "--executions", "200000", "--plan",
            "try_send 1, try_send 2 | try_send 3, try_send 4 | try_receive, try_receive | try_receive, try_receive"]  # fmt: skip

    def test_a_plan_of_each_kind(self):
        for kind, name, plan in [
            ("queue", "ticket_queue", "push 1, try_pop | push 2, try_pop"),
            ("map", "map", "insert 1 10; erase 1 | find 1"),
            ("channel", "ring", "send 1, send 2 | receive, receive"),
        ]:
            text = self.assert_right(f"--{kind}s", name, "--plan", plan)
            self.assertIn(f"plan '{plan}'", text)
            self.assertRegex(text, rf"(?m)^# {kind} ")
            self.assertRegex(text, rf"(?m)^{name} +lazy +[0-9]+ .* nothing found, complete$")

    def test_usual_plans_of_several_kinds_at_once(self):
        text = self.assert_right("--queues", "ticket_queue,spsc_queue", "--maps", "map", "--channels", "ring", "--locks", "tas")
        self.assertEqual(re.findall(r"(?m)^# (lock|queue|map|channel) +mode", text), ["lock", "queue", "map", "channel"])
        self.assertRegex(text, r"(?m)^spsc_queue .*; plan 'try_pop, try_pop \| try_push 2, try_push 102'$")
        self.assertRegex(text, r"(?m)^ring .* nothing found, complete$")

    def test_all_name_what_they_leave_out(self):
        text = self.assert_right("--channels", "all", "--executions", "20")
        self.assertRegex(text, r"(?m)^# left out, as the checker cannot run them: .*mutex, .*segments")
        self.assertRegex(text, r"(?m)^rendezvous .*plan 'send 1 \| receive'$")
        self.assertNotIn("flagged.published ", text)
        for kinds, name in [("--queues", "central_queue.mpi_win"), ("--maps", "map.bucket")]:
            self.assertIn(f"{name} ", self.assert_right(kinds, "all", "--executions", "20", "--mode", "progress"))

    def test_the_options_of_searches(self):
        bounds = ["--queues", "ticket_queue", "--plan", "push 1; try_pop | try_pop | push 2"]
        self.assert_right(*bounds, "--nodes", "3", "--executions", "100", "--mode", "all", "--conflicts", "enact")
        self.assertIn("capacity 1", self.assert_right(*bounds, "--capacity", "1", "--executions", "100"))
        self.assert_right(*bounds, "--ranks", "3", "--tier", "random", "--executions", "100", "--home", "2")
        self.assert_right(*bounds, "--crashes", "1", "--executions", "100")
        self.assert_right("--maps", "map", "--jobs", "2", "--promises", "all")

    def test_records_say_kind_and_plan(self):
        ended = self.check("--maps", "map", "--plan", "insert 1 2 | find 1", "--json")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        result = records(ended.stdout)[1]
        self.assertEqual((result["map"], result["plan"], result["ranks"]), ("map", "insert 1 2 | find 1", 2))
        self.assertNotIn("acquisitions", result)

    def test_a_violation_shows_operations_and_can_be_seen_again(self):
        ended = self.check(*self.LOST, "--trace", "t.json", "--svg", "t.svg")
        self.assertEqual(ended.returncode, 1, ended.stdout + ended.stderr)
        self.assertIn("VIOLATION: history", ended.stdout)
        self.assertRegex(ended.stdout, r"(?m)^ +[0-9]+ +[0-9] +CALL try_send\(1\)")
        self.assertRegex(ended.stdout, r"(?m)^ +rank [0-9] +\[ *[0-9]+, +[0-9]+\] +try_receive\(\) -> ")
        self.assertIn("is not linearizable", ended.stdout)
        found = self.schedule_of(ended.stdout)
        again = next(line for line in ended.stdout.splitlines() if "Again: " in line).split("nearfar check ")[1]
        self.assertIn(found, self.check(*shlex.split(again)).stdout)
        replayed = self.check("--replay", "t.json", "--svg", "again.svg")
        self.assertEqual(replayed.returncode, 1, replayed.stderr)
        self.assertIn("The violation happens again.", replayed.stdout)
        self.assertIn(found, replayed.stdout)
        self.assertEqual(*((self.folder / name).read_text() for name in ["t.svg", "again.svg"]))
        for change, saying in [
            (("try_send 1,", "try_sent 1,"), "channel operation 'try_sent' is unknown"),
            (("flagged.published", "mutex"), "lock of the system"),
            (('"ranks": 4', '"ranks": 5'), "plan of 4 ranks"),
            (('"channel":', '"lock": "tas", "channel":'), "must have one of 'lock', 'queue', 'map' and 'channel', and has 2"),
        ]:
            (self.folder / "bad.json").write_text((self.folder / "t.json").read_text().replace(*change))
            self.assert_refused("--replay", "bad.json", saying=["'bad.json'", saying])

    def test_the_fault_of_an_unsound_object_shows_by_itself(self):
        ended = self.check("--channels", "ring,flagged.published")
        self.assertEqual(ended.returncode, 1, ended.stdout + ended.stderr)
        self.assertRegex(ended.stdout, r"(?m)^ring .* nothing found, complete$")
        self.assertRegex(ended.stdout, r"(?m)^flagged\.published .* VIOLATION: history$")
        again = next(line for line in ended.stdout.splitlines() if "Again: " in line).split("nearfar check ")[1]
        self.assertIn(self.schedule_of(ended.stdout), self.check(*shlex.split(again)).stdout)
        alone = self.check("--channels", "flagged.published", "--executions", "3")
        self.assertEqual(alone.returncode, 0, alone.stdout + alone.stderr)
        self.assertIn("# nearfar check, random: 4 ranks on 1 node, plan 'try_send 1, ", alone.stdout)

    def test_a_search_that_does_not_show_the_fault_names_the_one_that_does(self):
        for own in [["--plan", "try_send 1 | try_receive"], ["--ranks", "2"], ["--tier", "exhaustive"], ["--near", "release_acquire"]]:
            text = self.assert_right("--channels", "flagged.published", "--executions", "50", *own)
            self.assertIn("unsound, as 'nearfar check --channels flagged.published' shows", text)

    def test_a_rank_that_waits_for_what_no_rank_brings(self):
        for plan in ["push 1 | pop | try_pop", "push 1, pop | pop, push 2"]:
            text = self.assert_right("--queues", "ticket_queue", "--plan", plan)
            self.assertRegex(text, r"nothing found, complete; [1-9]\d* end with ranks that have to wait")
        ended = self.check("--channels", "ring", "--plan", "receive | send 1 | try_receive", "--json")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        found = next(one for one in records(ended.stdout) if one["record"] == "result")
        self.assertGreater(found["waiting"], 0)
        self.assertGreater(found["executions"], found["waiting"])
        self.assertEqual((found["early_wakes"], found["blocked"]), (0, 0))

    def test_a_plan_that_never_comes_to_its_end(self):
        plan = ["--queues", "ticket_queue", "--capacity", "1", "--plan", "push 1, pop, push 2, push 3, push 4; | pop"]
        ended = self.check(*plan)
        self.assertEqual(ended.returncode, 1, ended.stdout + ended.stderr)
        self.assertIn("unreached: no schedule reaches: every operation of the plan returns", ended.stdout)
        self.assertNotRegex(ended.stdout, "(?m)^ +step +rank")
        drawn = self.check(*plan, "--tier", "random", "--executions", "5")
        self.assertEqual(drawn.returncode, 3, drawn.stdout + drawn.stderr)
        self.assertIn("nothing found, but no schedule reached: every operation of the plan returns", drawn.stdout)
        self.assertIn("Give more --executions", drawn.stdout)
        told = self.check(*plan, "--tier", "random", "--executions", "5", "--json")
        self.assertEqual(told.returncode, 3, told.stderr)
        found = next(one for one in records(told.stdout) if one["record"] == "result")
        self.assertEqual(found["unmet"], ["every operation of the plan returns"])

    def test_ranks_that_wake_early(self):
        bounds = ["--channels", "parking", "--plan", "receive | send 1"]
        counts = []
        for early in ["0", "1"]:
            ended = self.check(*bounds, "--early-wakes", early, "--json")
            counts.append(next(one for one in records(ended.stdout) if one["record"] == "result")["executions"])
        self.assertLess(*counts)
        self.assertIn("each rank may have 2 spurious wake-ups", self.assert_right(*bounds, "--early-wakes", "2"))

    def test_a_plan_that_does_nothing_or_blocks_itself(self):
        self.assert_refused("--queues", "ticket_queue", "--plan", "try_pop | try_pop", saying=["nobody pushes", "add 'push 1'"])
        self.assert_refused("--queues", "ticket_queue", "--plan", "close; push 1 | pop", saying="close it later, as in 'push 1, close | pop'")
        self.assert_refused("--queues", "ticket_queue", "--plan", "pop; push 1 |", saying=["before ';'", "write it behind ';'"])
        self.assert_refused("--maps", "map", "--plan", "find 1 | erase 1", saying="add 'insert 1 10'")
        self.assert_refused("--channels", "ring", "--plan", "|", saying="add 'send 1'")
        self.assert_refused("--channels", "rendezvous", "--ranks", "1", saying="give --ranks 2")
        self.assert_refused("--channels", "rendezvous", "--plan", "send 1, receive |", saying="a rank cannot meet itself")

    def test_all_leave_out_what_cannot_carry_out_the_plan(self):
        plan = ["--queues", "all", "--executions", "5", "--plan", "push 1 | try_pop"]
        text = self.assert_right(*plan)
        self.assertIn("# left out: spsc_queue: only rank 1 pushes, and in this plan rank 0\n", text)
        self.assertRegex(text, r"(?m)^ticket_queue ")
        self.assertNotRegex(text, r"(?m)^spsc_queue")
        ended = self.check(*plan, "--json")
        self.assertEqual((ended.returncode, len(ended.stderr.splitlines())), (3, 1), ended.stderr)
        self.assertIn("left out: spsc_queue: only rank 1 pushes", ended.stderr)
        self.assertIn("ticket_queue", [result.get("queue") for result in records(ended.stdout)])
        self.assertIn("# left out: lockfree_queue: ", self.assert_right("--queues", "all", "--capacity", "1", "--executions", "5"))
        self.assert_refused("--queues", "all", "--plan", "try_pop | try_pop", saying="nobody pushes")
        self.assert_refused("--queues", "all", "--plan", "psh 1", saying="operation 'psh' is unknown; did you mean 'push'?")

    def test_plans_that_are_none(self):
        queue = ["--queues", "ticket_queue", "--plan"]
        self.assert_refused(*queue, "psh 1 | pop", saying=["operation 'psh' is unknown; did you mean 'push'?", "try_push V", "close"])
        self.assert_refused(*queue, "push | pop", saying="'push' is not 'push V'")
        self.assert_refused(*queue, "push 4294967296 | pop", saying=["4294967295", "4294967296"])
        self.assert_refused(*queue, "push 1,, pop", saying="empty")
        self.assert_refused(*queue, "try_pop|push 1;pop", saying="only rank 0 has operations before ';': leave out '|' in 'try_pop|push 1'")
        self.assert_refused(*queue, "push 1 | pop", "--ranks", "3", saying=["2 ranks", "--ranks is 3"])
        self.assert_refused(*queue, "push 1 | push 1", saying="value 1 comes twice")
        self.assert_refused(*queue, "push 1 | pop, pop", saying="wait for ever")
        self.assert_refused(*queue, "send 1 | pop", saying="queue operation 'send' is unknown")
        self.assert_refused("--maps", "map", "--plan", "get 1", saying="insert K V, update K V, find K, erase K")
        self.assert_refused("--queues", "spsc_queue", "--plan", "push 1 | pop", saying=["'spsc_queue'", "only rank 1 pushes"])
        self.assert_refused("--channels", "spin.mpsc", "--plan", "receive | receive | send 1, send 2", saying="only one rank receives")

    def test_names(self):
        self.assert_refused("--queues", "tickt_queue", saying="did you mean 'ticket_queue'")
        self.assert_refused("--queues", "ring", saying="give it to --channels")
        self.assert_refused("--channels", "segments", saying=["heap of one process", "'segments.fixed'"])
        self.assert_refused("--channels", "mutex", saying="lock of the system")

    def test_a_limit_of_hand_overs_without_effect_is_said(self):
        for locks, expected in [("tas", 1), ("tas,cohort", 0)]:
            ended = self.check("--locks", locks, "--executions", "1", "--max-local-passes", "2")
            self.assertEqual(ended.stderr.count("--max-local-passes has no effect"), expected, ended.stderr)

    def test_options_of_other_kinds(self):
        for option, value, owner in [
            ("--acquisitions", "2", "--locks"),
            ("--readers", "1", "--locks"),
            ("--max-local-passes", "2", "--locks"),
        ]:
            self.assert_refused("--maps", "map", option, value, saying=f"{option} belongs to {owner}")
        self.assert_refused("--maps", "map", "--try-first", saying="--try-first belongs to --locks")
        self.assert_refused("--maps", "map", "--home", "1", saying="--home belongs to --locks and --queues")
        self.assert_refused("--maps", "map", "--capacity", "1", saying="--capacity belongs to --queues and --channels")
        self.assert_refused("--locks", "tas", "--plan", "push 1", saying="--plan belongs to --queues and --maps and --channels")
        self.assert_refused("--queues", "all", "--maps", "all", "--plan", "push 1", saying="--plan is of one kind")
        self.assert_refused("--queues", "all", "--tier", "hash", saying="--tier hash belongs to --locks")
        self.assert_refused("--channels", "ring", "--nodes", "2", saying="one node only")
        self.assert_refused("--channels", "rendezvous", "--capacity", "2", saying="it has none")
        self.assert_refused("--channels", "ring", "--capacity", "0", saying="--capacity")
        for kind, name in [("--queues", "ticket_queue"), ("--channels", "ring")]:
            for capacity in ["1025", "3000000", str(2**56), str(2**63 - 1), str(2**64 - 1)]:
                self.assert_refused(kind, name, "--capacity", capacity, saying=["--capacity", "from 1 to 1024", f"not '{capacity}'"])
        self.assert_refused("--queues", "ticket_queue", "--ranks", "65", saying="--ranks")
        self.assert_refused("--all", "--queues", "all", saying="--queues")
        self.assert_refused("--replay", "t.json", "--plan", "push 1", saying="--plan")


class Undecided(Check):
    """A schedule that the limit of steps cuts off is no violation, and not right either."""

    def test_status_text_and_record(self):
        ended = self.check("--locks", "mcs,tas", "--step-limit", "3", "--trace", "t.json")
        self.assertEqual(ended.returncode, 3, ended.stdout)
        self.assertEqual(ended.stdout.count("undecided: a schedule of more than 3 steps"), 2)
        self.assertRegex(self.check("--locks", "tas", "--step-limit", "1").stdout, "undecided: a schedule of more than 1 step\n")
        self.assertIn("--step-limit", ended.stdout.splitlines()[-1])
        self.assertEqual(self.left_behind(), [])
        ended = self.check("--locks", "tas", "--step-limit", "3", "--json")
        self.assertEqual(ended.returncode, 3)
        result = records(ended.stdout)[1]
        self.assertEqual((result["undecided"], result["complete"], result["violation"]), (True, False, None))

    def test_a_violation_weighs_more(self):
        ended = self.check("--locks", "d_mcs.put,cohort", "--ranks", "2", "--step-limit", "35")
        self.assertEqual(ended.returncode, 1, ended.stdout)

    def test_the_limit_follows_the_size(self):
        # 25,000 steps, more than the limit of a small program
        self.assert_right("--locks", "cohort", "--ranks", "8", "--nodes", "4", "--acquisitions", "150", "--tier", "random",
                          "--executions", "1")  # fmt: skip


class BadInput(Check):
    @unittest.skipIf(os.environ.get("NEARFAR_SANITIZE"), "AddressSanitizer needs more addresses")
    def test_threads_that_cannot_be_started(self):
        launcher = ["sh", "-c", 'ulimit -v 300000 && exec "$@"', "sh"]
        ended = run(["--locks", "d_mcs", "--jobs", "100"], cwd=self.folder, launcher=launcher)
        self.assertEqual(ended.returncode, 2, ended.stdout)
        self.assertIn("use fewer jobs", ended.stderr)

    def test_names(self):
        self.assert_refused("--locks", "cohrt", saying=["'cohrt'", "did you mean 'cohort'"])
        self.assert_refused("--locks", "map", saying="'map' is a map, not a lock: give it to --maps")
        self.assert_refused("--mode", "lasy", saying=["--mode", "did you mean 'lazy'"])
        self.assert_refused("--tier", "exhaustiv", saying=["--tier", "did you mean 'exhaustive'"])
        self.assert_refused("--near", "weak", saying=["--near", "sequential, release_acquire"])

    def test_shapes(self):
        self.assert_refused("--ranks", "0", saying="--ranks")
        self.assert_refused("--ranks", "65", saying="--ranks")
        self.assert_refused("--ranks", "two", saying="--ranks")
        self.assert_refused("--ranks", "2", "--nodes", "3", saying="--nodes")
        self.assert_refused("--nodes", "0", saying="--nodes")
        self.assert_refused("--nodes-per-island", "0", saying="--nodes-per-island")
        self.assert_refused("--nodes", "2", "--nodes-per-island", "3", saying=["--nodes-per-island", "2, not 3"])
        self.assert_refused("--acquisitions", "0", saying="--acquisitions")
        self.assert_refused("--locks", "cohort", "--max-local-passes", "0", saying=["--max-local-passes", "1 to 254"])
        self.assert_refused("--home", "2", saying="--home")
        self.assert_refused("--max-local-passes", "255", saying="--max-local-passes")
        self.assert_refused("--step-limit", "0", saying="--step-limit")
        self.assert_refused("--step-limit", str(2**64 - 1), saying=f"from 1 to {2**63 - 1}")
        for option, least, most in [
            ("--ranks", 1, 64),
            ("--nodes", 1, 64),
            ("--nodes-per-island", 1, 64),
            ("--acquisitions", 1, 2**31 - 1),
            ("--readers", 0, 64),
            ("--home", 0, 63),
            ("--max-local-passes", 0, 254),
            ("--crashes", 0, 64),
            ("--early-wakes", 0, 8),
            ("--depth", 1, 64),
            ("--jobs", 1, 1024),
        ]:
            for value in ["99999999999", str(2**64)]:
                self.assert_refused("--locks", "cohort", option, value, saying=[option, f"from {least} to {most},", f"not '{value}'"])
        self.assert_refused("--depth", "0", saying="--depth")
        for seconds in ["-1", "nan", "1e300"]:
            self.assert_refused("--time-limit", seconds, saying="--time-limit")
        self.assert_refused("--locks", "mcs", "--nodes", "2", saying="one node only")

    def test_readers(self):
        self.assert_refused("--ranks", "3", "--readers", "4", saying=["--readers", "3, not 4"])
        self.assert_refused("--readers", "-1", saying="--readers")
        self.assert_refused("--readers", "some", saying="--readers")
        self.assert_refused("--locks", "rma_rw,mcs", "--readers", "1", saying=["--readers", "'mcs'", "exclusive"])
        self.assert_refused("--all", "--readers", "1", saying="--readers")
        self.assert_refused("--replay", "t.json", "--readers", "1", saying="--readers")
        self.assert_refused("--locks", "cohort_rv", saying="did you mean 'cohort_rw'")

    def test_one_rank_is_on_one_node(self):
        self.assertIn("1 rank on 1 node", self.assert_right("--ranks", "1", "--locks", "dash"))

    def test_what_does_not_go_together(self):
        self.assert_refused("--tier", "hash", "--near", "release_acquire", saying=["hash", "sequential"])
        for option in ["--seed", "--depth"]:
            self.assert_refused("--locks", "tas", option, "3", saying=f"{option} belongs to --tier random")
        for tier in ["hash", "random"]:
            self.assert_refused("--tier", tier, "--jobs", "2", saying=["--jobs", tier])
        self.assert_refused("--all", "--ranks", "2", saying="--ranks")
        self.assert_refused("--quick", saying="--all")
        self.assert_refused("--markdown", "x.md", saying="--all")
        self.assert_refused("--replay", "t.json", "--ranks", "2", saying="--ranks")
        self.assert_refused("--replay", "t.json", "--all", saying="--all")

    def test_files_that_cannot_be_written(self):
        (self.folder / "mine.txt").write_text("mine\n")
        for option in ["--output", "--trace", "--svg"]:
            self.assert_refused("--locks", "tas", option, "missing/file", saying="missing/file")
            self.assert_refused("--locks", "tas", option, "mine.txt", saying="mine.txt")
            self.assert_refused("--locks", "tas", option, ".", saying="directory")
        self.assert_refused("--all", "--markdown", "missing.md", saying="missing.md")
        self.assert_refused("--all", "--markdown", "mine.txt", saying="mine.txt")
        self.assertEqual((self.folder / "mine.txt").read_text(), "mine\n")

    def test_names_that_the_system_cannot_follow(self):
        for option in ["--output", "--trace", "--svg"]:
            self.assert_refused("--locks", "tas", option, "x" * 300, saying=["cannot write 'xxx", "File name too long"])
            ended = run(["--locks", "tas", option, "/dev/stdout"])
            self.assertEqual((ended.returncode, ended.stdout), (2, ""), ended.stderr)
            self.assertEqual(ended.stderr, "nearfar: cannot write '/dev/stdout': it is not a regular file: choose another name\n")
            ended = subprocess.run(
                ["sh", "-c", 'mkdir gone && cd gone && rmdir ../gone && exec "$0" "$@"', COMMAND, "check", "--locks", "tas", option, "x.json"],
                cwd=self.folder, capture_output=True, text=True, check=False)  # fmt: skip
            self.assertEqual((ended.returncode, ended.stdout), (2, ""), ended.stderr)
            self.assertEqual(ended.stderr, "nearfar: cannot write 'x.json': No such file or directory\n")

    def test_files_that_may_not_end(self):
        os.mkfifo(self.folder / "pipe")
        for name in ["pipe", "/dev/zero"]:
            for option in [["--replay"], ["--all", "--markdown"]]:
                ended = subprocess.run([COMMAND, "check", *option, name], cwd=self.folder, capture_output=True, text=True, timeout=60, check=False)
                self.assertEqual((ended.returncode, ended.stdout), (2, ""), ended.stderr)
                self.assertEqual(ended.stderr, f"nearfar: cannot read '{name}': it is not a regular file: choose another name\n")

    def test_one_file_for_two_things(self):
        self.assert_refused("--locks", "tas", "--trace", "x", "--output", "./x", saying=["--trace", "--output"])

    def test_schedules_that_cannot_be_replayed(self):
        self.keep_violation()
        good = (self.folder / "t.json").read_text()
        self.assert_refused("--replay", "none.json", saying="none.json")
        self.assert_refused("--replay", ".", saying="'.'")
        for change, saying in [
            (lambda text: "", "bad.json"),
            (lambda text: text[: len(text) // 2], "cut off"),
            (lambda text: '{"colour": "red"}', "no schema"),
            (lambda text: text.replace("nearfar.schedule/2", "nearfar.schedule/99"), "nearfar.schedule/99"),
            (lambda text: text.replace("nearfar.schedule/2", "nearfar.results/1"), "nearfar.results/1"),
            (lambda text: text.replace('"cohort.published"', '"cohrt"'), "did you mean 'cohort'"),
            (lambda text: text.replace('"lock":', '"kind":'), "and has 0"),
            (lambda text: text.replace('"nodes": 2', '"nodes": 7'), "--nodes"),
            (lambda text: text.replace('"cohort.published"', '"mcs"'), "one node"),
            (lambda text: text.replace('"readers": 0', '"readers": 4'), "--readers"),
            (lambda text: text.replace('"readers": 0', '"readers": 1'), "exclusive"),
            (lambda text: text.replace('"rank":0', '"rank":9', 1), '"rank":9'),
        ]:
            (self.folder / "bad.json").write_text(change(good))
            self.assert_refused("--replay", "bad.json", saying=["'bad.json'", saying])


class Help(Check):
    def test_help_is_enough(self):
        ended = self.check("--help")
        self.assertEqual(ended.returncode, 0)
        for option in ["--locks", "--ranks", "--acquisitions", "--nodes", "--mode", "--tier", "--near", "--seed",
                       "--executions", "--time-limit", "--depth", "--step-limit", "--max-local-passes", "--home",
                       "--json", "--output", "--trace", "--replay", "--svg", "--all", "--quick", "--markdown",
                       "--try-first", "--readers", "--crashes", "--early-wakes", "--promises", "--conflicts", "--jobs", "--queues", "--maps",
                       "--channels", "--plan", "--capacity", "push V", "insert K V", "try_send V"]:  # fmt: skip
            self.assertIn(option, ended.stdout)

    def test_help_names_each_default(self):
        text = " ".join(self.check("--help").stdout.split())
        for defaults in [
            "(default: no limit; 10000 with --tier random; 20000 without --plan; 0: the default)",
            "(default: release_acquire; sequential with --tier hash)",
            "Room of a queue at each rank (default: for all values), or of a channel (default: 1)",
        ]:
            self.assertIn(defaults, text)


if __name__ == "__main__":
    unittest.main()
