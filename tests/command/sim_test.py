"""The simulated cluster as its users meet it: results, determinism, machine files, fits, refusals."""

import json
import os
import pathlib
import pty
import re
import signal
import statistics
import subprocess
import tempfile
import unittest

COMMAND = os.environ["NEARFAR_COMMAND"]
SOURCE = pathlib.Path(os.environ["NEARFAR_SOURCE_DIR"])
SHAPE = ["--nodes", "2", "--ranks-per-node", "3"]
SHORT = ["--duration", "0.0005", "--repetitions", "2"]


class InEmptyFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def nearfar(self, *arguments):
        return subprocess.run(
            [COMMAND, *arguments],
            capture_output=True,
            text=True,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            check=False,
        )

    def succeed(self, *arguments):
        ended = self.nearfar(*arguments)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return ended.stdout

    def assert_refused(self, *arguments, saying):
        """One line on stderr, status 2, nothing on stdout."""
        ended = self.nearfar(*arguments)
        self.assertEqual(ended.returncode, 2, ended.stderr)
        lines = ended.stderr.splitlines()
        self.assertEqual(len(lines), 1, ended.stderr)
        for text in [saying] if isinstance(saying, str) else saying:
            self.assertIn(text, lines[0])
        self.assertEqual(ended.stdout, "")

    def samples(self, name):
        records = [json.loads(line) for line in (self.folder / name).read_text().splitlines()]
        return records[0], records[1:]


class Benchmarks(InEmptyFolder):
    def run_ecsb(self, name, *more):
        self.succeed("sim", "ecsb", "--locks", "dash,cohort", *SHAPE, *SHORT, "--output", name, *more)
        return self.samples(name)

    def test_results_are_those_of_bench(self):
        provenance, samples = self.run_ecsb("ecsb.jsonl")
        self.assertEqual(provenance["records_expected"], 4)
        self.assertFalse(provenance["oversubscribed"])
        self.assertEqual(provenance["machine"]["schema"], "nearfar.machine/1")
        self.assertEqual(provenance["machine"]["name"], "coolmuc2")
        self.assertEqual(len(samples), 4)
        for sample in samples:
            self.assertEqual((sample["world"], sample["machine"]), ("simulated", "coolmuc2"))
            self.assertEqual((sample["nodes"], sample["ranks"]), (2, 6))
            self.assertTrue(sample["verified"])
            self.assertGreater(sample["iterations"], 0)
        self.succeed("report", "ecsb.jsonl")
        self.assertIn("cohort", (self.folder / "nearfar-report" / "index.html").read_text())

    def test_upb_plays_all_scenarios_on_two_nodes(self):
        self.succeed("sim", "upb", "--locks", "d_mcs", *SHAPE, "--repetitions", "1", "--output", "upb.jsonl")
        _, samples = self.samples("upb.jsonl")
        times = {sample["scenario"]: sample["ns_per_acquisition"] for sample in samples}
        self.assertEqual(len(times), 9)
        self.assertGreater(times["1c"], 3 * times["1a"])
        self.succeed("report", "upb.jsonl")

    def test_the_same_seed_gives_the_same_samples(self):
        first = self.run_ecsb("first.jsonl", "--seed", "7")[1]
        again = self.run_ecsb("again.jsonl", "--seed", "7")[1]
        other = self.run_ecsb("other.jsonl", "--seed", "8")[1]
        self.assertEqual(first, again)
        self.assertNotEqual(first, other)

    def test_a_run_that_is_too_short_is_marked(self):
        """While the queues of many nodes form, a hand-over takes many times as long as later."""
        arguments = ["sim", "ecsb", "--locks", "cohort", "--nodes", "16", "--ranks-per-node", "14", "--repetitions", "1"]
        short = self.succeed(*arguments, "--duration", "0.004", "--output", "short.jsonl")
        self.assertRegex(short, r"\ncohort .*  not steady\n# not steady: .*--duration")
        self.assertEqual([sample["steady"] for sample in self.samples("short.jsonl")[1]], [False])
        long = self.succeed(*arguments, "--duration", "0.1", "--output", "long.jsonl")
        self.assertNotIn("not steady", long)
        self.assertEqual([sample["steady"] for sample in self.samples("long.jsonl")[1]], [True])
        self.succeed("report", "short.jsonl")
        self.assertIn("cohort (not steady)", (self.folder / "nearfar-report" / "index.html").read_text())

    def test_published_cohorts_leave_the_node_after_the_limit_in_each_turn(self):
        counters = ["published", "published_global", "published_local", "published_direct", "global_counter",
                    "local_counter", "direct_counter", "inline_counter"]  # fmt: skip
        below = ["ticket", "clh", "hemlock", "hemlock_base", "hemlock_overlap", "hemlock_ctr", "hemlock_beside"]
        strict = [*(f"cohort.{name}" for name in counters), *(f"cohort.mcs_{name}" for name in below)]
        for nodes in ["1", "2"]:
            names = ",".join([*strict, "cohort.unbiased"])
            self.succeed("sim", "ecsb", "--nodes", nodes, "--ranks-per-node", "4", "--locks", names, "--duration", "0.002",
                         "--repetitions", "1", "--max-local-passes", "8", "--output", f"{nodes}.jsonl")  # fmt: skip
            local = {sample["lock"]: sample["measured"]["local"] for sample in self.samples(f"{nodes}.jsonl")[1]}
            for name in strict:
                self.assertAlmostEqual(local[name], 100 * 8 / 9, delta=0.5, msg=f"{name} on {nodes} nodes")
            # This one stays while no other node asks.
            self.assertGreater(local["cohort.unbiased"], 92)

    def test_inserts_that_were_refused_are_told(self):
        crowded = ["sim", "dht", "--nodes", "64", "--ranks-per-node", "16", "--keys", "16", "--writers", "100",
                   "--duration", "0.0002", "--repetitions", "1"]  # fmt: skip
        table = self.succeed(*crowded, "--output", "r.jsonl")
        _, (sample,) = self.samples("r.jsonl")
        self.assertGreater(sample["refused"], 0)
        self.assertRegex(table, r"\nmap .*  refused\b")
        self.assertIn(f"\n# refused: {sample['refused']} inserts found", table)
        self.assertNotIn("refused", self.succeed("sim", "dht", "--duration", "0.0002", "--repetitions", "1"))

    def test_unsound_locks_are_marked_wherever_their_figures_are(self):
        table = self.succeed("sim", "ecsb", "--locks", "d_mcs.put,all", *SHAPE, *SHORT, "--output", "ecsb.jsonl")
        sound = {sample["lock"]: sample["sound"] for sample in self.samples("ecsb.jsonl")[1]}
        self.assertEqual([lock for lock in sound if not sound[lock]], ["d_mcs.put"])
        self.assertIn("cohort.strict", sound)
        lines = [line for line in table.splitlines() if line.endswith("  unsound")]
        self.assertEqual([line.split()[0] for line in lines], ["d_mcs.put"])

    def test_locks_keep_the_order_in_which_they_were_named(self):
        names = ["tas", "cohort", "dash"]
        table = self.succeed("sim", "ecsb", "--locks", ",".join(names), *SHAPE, *SHORT, "--output", "ecsb.jsonl")
        self.assertEqual([line.split()[0] for line in table.splitlines() if not line.startswith("#")], names)
        self.assertEqual(self.samples("ecsb.jsonl")[0]["locks"], names)

    def test_repetitions_differ(self):
        _, samples = self.run_ecsb("ecsb.jsonl")
        by_lock = {}
        for sample in samples:
            by_lock.setdefault(sample["lock"], []).append(sample["iterations_per_rank"])
        self.assertTrue(any(first != second for first, second in by_lock.values()))

    def test_a_lock_alone_behaves_as_among_others(self):
        _, both = self.run_ecsb("both.jsonl")
        self.succeed("sim", "ecsb", "--locks", "cohort", *SHAPE, *SHORT, "--output", "alone.jsonl")
        _, alone = self.samples("alone.jsonl")
        self.assertEqual([sample for sample in both if sample["lock"] == "cohort"], alone)

    def test_impossible_shapes(self):
        for option, value in [("--nodes", "0"), ("--nodes", "-1"), ("--ranks-per-node", "0")]:
            self.assert_refused("sim", "ecsb", option, value, saying=option)
        self.assert_refused("sim", "ecsb", "--ranks-per-node", "29", saying=["29", "coolmuc2", "28 cores"])
        self.assert_refused("sim", "ecsb", "--nodes", "100000", "--ranks-per-node", "28", saying="1048576")
        self.assert_refused("sim", "upb", "--nodes", "30000", "--lock-count", "1e6", saying="MiB are free")
        self.assert_refused("sim", "ecsb", *SHAPE, "--locks", "mcs", saying="one node only")
        self.assert_refused("sim", "ecsb", *SHAPE, "--duration", "0", saying="--duration")
        self.assert_refused("sim", "ecsb", *SHAPE, "--locks", "cohrt", saying="did you mean 'cohort'")
        self.assert_refused("sim", "ecbs", saying=["'ecbs'", "did you mean 'ecsb'"])
        self.assert_refused("sim", saying="subcommand")
        self.assert_refused(
            "sim", "ecsb", *SHAPE, "--locks", "dash", "--output", "missing/x.jsonl", saying="missing/x.jsonl"
        )

    def test_every_subcommand_has_help(self):
        self.assertIn("fit", self.succeed("sim", "--help"))
        for subcommand in ["ecsb", "upb", "machines", "compare", "fit"]:
            self.assertIn("--help", self.succeed("sim", subcommand, "--help"))

    def test_list_names_the_simulated_world(self):
        self.assertIn("simulated, checked", self.succeed("list"))


class Compositions(InEmptyFolder):
    """nearfar sim compose: the best composition of locks."""

    NAMES = "cohort.mcs_ticket,clof,clof.mcs_ticket_ticket,clof.mcs_mcs_tts"
    FEW = ["--nodes", "2", "--ranks-per-node", "1,4,16", "--duration", "0.04"]

    def setUp(self):
        super().setUp()
        # Lines move at small cost within caches of four cores, and at great cost between these.
        machine = json.loads((SOURCE / "machines/coolmuc2.json").read_text())
        machine["node"] = {"package": 2, "numa": 0, "cache": 2, "core": 4}
        machine["near"].update({"same_core": 5, "same_cache": 25, "same_numa": 100, "same_node": 300})
        (self.folder / "deep.json").write_text(json.dumps(machine))

    def compose(self, *more):
        return json.loads(self.succeed("sim", "compose", "--machine", "deep.json", *self.FEW, "--json", *more))

    def test_the_figures_are_those_of_the_benchmark(self):
        chosen = ["--locks", "clof,cohort", "--levels", "cache", "--seed", "3"]
        found = self.compose(*chosen)
        self.assertEqual((found["schema"], found["nodes"], found["seed"]), ("nearfar.compositions/1", 2, 3))
        # The benchmark leaves out the level where a node has one rank.
        self.succeed("sim", "ecsb", "--machine", "deep.json", *self.FEW, *chosen, "--repetitions", "1", "--output", "r.jsonl")
        measured = {(one["lock"], one["ranks"]): one["measured"] for one in self.samples("r.jsonl")[1]}
        self.assertIn(("clof", 32), measured)
        for one in found["compositions"]:
            self.assertEqual(one["levels"], "cache" if one["lock"] == "clof" else None)
            for point in one["points"]:
                if sample := measured.get((one["lock"], point["ranks"])):
                    self.assertAlmostEqual(point["ns"], sample["time"])
                    self.assertAlmostEqual(point["cv"], sample["cv"])

    def test_scores_and_the_best(self):
        found = self.compose("--locks", self.NAMES)
        all_of = found["compositions"]
        # clof with each level that divides nodes, cohort without levels.
        self.assertEqual(len(all_of), 1 + 3 * 2)
        self.assertEqual({one["levels"] for one in all_of}, {None, "package", "cache"})
        fair = [one for one in all_of if one["fair"]]
        self.assertTrue(fair)
        best = [min(one["points"][i]["ns"] for one in fair) for i in range(3)]
        for one in all_of:
            self.assertEqual([point["ranks"] for point in one["points"]], [2, 8, 32])
            shares = [by / point["ns"] for by, point in zip(best, one["points"])]
            self.assertAlmostEqual(one["high"], (2 * shares[0] + 8 * shares[1] + 32 * shares[2]) / 42)
            self.assertAlmostEqual(one["low"], (16 * shares[0] + 4 * shares[1] + shares[2]) / 21)
            self.assertEqual(one["fair"], one["points"][-1]["fair"])
        self.assertEqual(all_of, sorted(all_of, key=lambda one: (not one["fair"], -one["high"])))
        for contention in ("low", "high"):
            steady = [one for one in fair if all(point["steady"] for point in one["points"])]
            one = max(steady, key=lambda one: one[contention])
            self.assertEqual(found["best"][contention], {"lock": one["lock"], "levels": one["levels"]})

    def test_a_level_at_the_caches_wins_at_high_contention_where_caches_are_near(self):
        best = self.compose("--locks", self.NAMES)["best"]["high"]
        self.assertTrue(best["lock"].startswith("clof"), best)
        self.assertEqual(best["levels"], "cache")

    def test_without_names_all_sound_compositions_play(self):
        listed = json.loads(self.succeed("list", "locks", "--json"))["kinds"][0]["objects"]
        sound = {one["name"] for one in listed if one["family"] in ("cohort", "clof") and not one["unsound"]}
        self.assertGreater(len([name for name in sound if name.startswith("clof")]), 3)
        found = json.loads(self.succeed("sim", "compose", "--ranks-per-node", "2", "--duration", "0.0005", "--json"))
        self.assertEqual({one["lock"] for one in found["compositions"]}, sound)
        self.assertEqual(found["machine"], "coolmuc2")

    def test_the_table_names_the_best(self):
        arguments = ["--locks", self.NAMES, "--levels", "cache"]
        best = self.compose(*arguments)["best"]
        table = self.succeed("sim", "compose", "--machine", "deep.json", *self.FEW, *arguments)
        self.assertEqual(table, self.succeed("sim", "compose", "--machine", "deep.json", *self.FEW, *arguments))
        for contention in ("low", "high"):
            lock, levels = best[contention]["lock"], best[contention]["levels"]
            self.assertIn(f"\nbest at {contention} contention: {lock}{f' --levels {levels}' if levels else ''}\n", table)
        self.assertRegex(table, r"\n# lock +1 +4 +16 +cv +low +high\n")

    def test_locks_that_one_rank_takes_in_bursts_are_never_the_best(self):
        found = json.loads(self.succeed("sim", "compose", "--machine", "deep.json", "--nodes", "2", "--ranks-per-node", "1,16",
                                        "--locks", "cohort.mcs_fissile,clof", "--levels", "none", "--duration", "0.01", "--json"))  # fmt: skip
        time = {one["lock"]: one["points"][-1]["ns"] for one in found["compositions"]}
        self.assertLess(time["cohort.mcs_fissile"], time["clof"])
        self.assertEqual([one["lock"] for one in found["compositions"] if not one["fair"]], ["cohort.mcs_fissile"])
        self.assertEqual(found["best"]["high"]["lock"], "clof")

    def test_runs_that_are_too_short_name_no_best(self):
        chosen = ["sim", "compose", "--locks", "clof,d_mcs.put", "--ranks-per-node", "2", "--duration", "1e-5"]
        found = json.loads(self.succeed(*chosen, "--json"))
        self.assertEqual(found["best"], {"low": None, "high": None})
        ended = self.nearfar(*chosen)
        self.assertIn("give a longer --duration", ended.stdout)
        self.assertIn("'d_mcs.put' is unsound", ended.stderr)

    def test_what_cannot_run_is_refused(self):
        self.assert_refused("sim", "compose", "--locks", "mcs", saying=["'mcs'", "one node"])
        self.assert_refused("sim", "compose", "--locks", "cloff", saying="did you mean 'clof'")
        self.assert_refused("sim", "compose", "--levels", "core", saying=["'core'", "no two ranks"])
        self.assert_refused("sim", "compose", "--ranks-per-node", "29", saying=["29", "28 cores"])
        self.assert_refused("sim", "compose", "--nodes", "1,2", saying="--nodes")
        self.assert_refused("sim", "compose", "--machine", "coolmuc", saying="did you mean 'coolmuc2'")
        self.assert_refused("sim", "compose", "--duration", "0", saying="--duration")
        self.assert_refused("sim", "compose", "--locks", "d_mcs", "--levels", "package", saying=["--levels", "leave it out"])
        self.assert_refused("sim", "compose", "--locks", "d_mcs", "--max-local-passes", "3", saying="--max-local-passes")

    def test_what_is_complete_is_printed_when_a_signal_ends_it(self):
        """The terminal's bar says when the second lock begins. Others follow, so that the signal comes before the end."""
        terminal, its_end = pty.openpty()
        locks = ["d_mcs", "cohort", "hmcs", "rma_mcs", "fc_mcs", "shfl"]
        command = [COMMAND, "sim", "compose", "--locks", ",".join(locks), "--ranks-per-node", "28", "--duration", "2", "--json"]
        run = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=its_end, text=True)
        os.close(its_end)
        shown = ""
        while "cohort with 28 ranks" not in shown:
            shown += os.read(terminal, 1000).decode()
        run.send_signal(signal.SIGINT)
        complete = [one["lock"] for one in json.loads(run.communicate()[0])["compositions"]]
        self.assertLess(0, len(complete))
        self.assertLess(len(complete), len(locks))
        self.assertEqual(complete, locks[: len(complete)])
        self.assertEqual(run.returncode, 128 + signal.SIGINT)
        os.close(terminal)


class MachineFiles(InEmptyFolder):
    def text(self):
        return self.succeed("sim", "machines", "coolmuc2")

    def refuse(self, text, line, saying):
        (self.folder / "m.json").write_text(text)
        self.assert_refused("sim", "ecsb", "--machine", "m.json", *SHAPE, saying=[f"m.json:{line}:", *saying])

    def line_of(self, text, key):
        return next(n for n, line in enumerate(text.splitlines(), 1) if f'"{key}"' in line)

    def test_shipped_machines(self):
        listed = self.succeed("sim", "machines")
        for path in sorted((SOURCE / "machines").glob("*.json")):
            name = json.loads(path.read_text())["name"]
            self.assertEqual(path.stem, name)
            self.assertIn(name, listed)
            written = self.succeed("sim", "machines", name)
            self.assertEqual(json.loads(written), json.loads(path.read_text()))
            self.assertEqual(written, path.read_text(), f"{path} is not written as nearfar writes it")
            (self.folder / "copy.json").write_text(written)
            self.succeed("sim", "ecsb", "--machine", "copy.json", *SHAPE, *SHORT, "--locks", "d_mcs")

    def test_a_device_without_an_end_is_refused(self):
        self.assert_refused("sim", "upb", "--machine", "/dev/zero", saying=["/dev/zero", "larger than 1048576 bytes"])

    def test_unknown_machines_suggest_the_nearest(self):
        self.assert_refused("sim", "ecsb", "--machine", "coolmuc", saying=["'coolmuc'", "did you mean 'coolmuc2'"])
        self.assert_refused("sim", "ecsb", "--machine", "none.json", saying=["none.json", "No such file"])
        self.assert_refused("sim", "ecsb", "--machine", ".", saying="directory")
        self.assert_refused("sim", "ecsb", "--machine", "this-machine", saying="nearfar doctor --machine")

    def test_machines_without_time_are_refused(self):
        machine = json.loads((SOURCE / "machines" / "coolmuc2.json").read_text())
        machine["near"]["hit"] = 1e-9
        machine["near"]["atomic"] = machine["library"]["progress"] = machine["library"]["flush"] = 0
        (self.folder / "still.json").write_text(json.dumps(machine))
        self.assert_refused("sim", "ecsb", "--machine", "still.json", *SHAPE, *SHORT, saying=["still.json", "near.hit", "stand still"])

    def test_the_machine_at_hand_can_be_measured_and_simulated(self):
        self.succeed("doctor", "--machine")
        machine = json.loads((self.folder / "this-machine.json").read_text())
        self.assertIn("near.hit", machine["description"])
        self.assertGreater(machine["near"]["hit"], 0)
        shape = ["--nodes", "2", "--ranks-per-node", "1"]
        self.succeed("sim", "ecsb", "--machine", "this-machine", *shape, *SHORT, "--locks", "d_mcs")
        (self.folder / "notes.json").write_text("mine")
        self.assert_refused("doctor", "--machine", "--output", "notes.json", saying="notes.json")

    def test_wrong_fields_are_named_with_file_and_line(self):
        text = self.text()
        near = self.line_of(text, "near")
        self.refuse(text.replace('"same_cache": ', '"same_cache": -'), near, ["'near.same_cache' is negative"])
        self.refuse(text.replace('"same_cache"', '"same_cash"'), near, ["'near.same_cache' is missing"])
        self.refuse(text.replace('"hit": ', '"hitt": 1, "hit": '), near, ["field 'near.hitt' is unknown", "did you mean 'near.hit'"])
        self.refuse(text.replace('"hit": ', '"hit": "a", "x": '), near, ["'near.hit' must be a number"])
        self.refuse(text.replace('"hit": ', '"hit": null, "x": '), near, ["'near.hit' must be a number", "null"])
        self.refuse(text.replace('"hit": ', '"hit": [], "x": '), near, ["'near.hit' is a list"])
        self.refuse(text.replace('"hit": ', '"hit": {}, "x": '), near, ["'near.hit' must be a value"])
        self.refuse(text.replace('"hit": ', '"hit": 1e300, "x": '), near, ["'near.hit' must be 0 to"])
        self.refuse(text.replace('"hit": ', '"hit": 1, "hit": '), near, ["'near.hit' occurs twice"])
        schema = self.line_of(text, "schema")
        self.refuse(text.replace("nearfar.machine/1", "nearfar.machine/9"), schema, ["nearfar.machine/9"])
        self.refuse(text.replace('"schema": "nearfar.machine/1",', ""), 1, ["'schema' is missing"])
        self.refuse(text.replace('"core": 14', '"core": 1.5'), self.line_of(text, "node"), ["'node.core'", "whole"])
        self.refuse(text.replace('"core": 14', '"core": 0'), self.line_of(text, "node"), ["'node.core' must be 1 to"])
        for group, field in [("near", '"jitter": '), ("network", '"jitter": ')]:
            before, line, after = text.partition(f'  "{group}": ')
            wrong = before + line + after.replace(field, f"{field}2", 1)
            self.refuse(wrong, self.line_of(text, group), [f"{group}.jitter"])
        remote = self.line_of(text, "remote")
        self.refuse(
            "\n".join(
                line.replace('"by": "target"', '"by": "origin"') if n > remote else line
                for n, line in enumerate(text.splitlines(), 1)
            ),
            remote + 1,
            ["'transfers.remote.put.by' is 'origin'"],
        )
        self.refuse(text.replace('"by": "origin"', '"by": "me"', 1), self.line_of(text, "put"), ["origin, nic, target"])

    def test_the_last_word_of_a_line_is_on_that_line(self):
        for value, saying in [("1e999", "the number 1e999 is out of range"), ("nul", "nul<U+000A>'"), ("1 1", "not JSON at"), ("\0", "byte 0")]:
            self.refuse(f'{{\n"schema": "nearfar.machine/1",\n"a": {value}\n}}\n', 3, [saying])
        self.refuse("\n\n5\n", 3, ["holds no object"])
        self.refuse('{\n"a": 1,\n\n', 2, ["ends within the JSON text"])

    def test_what_no_machine_has_is_refused_in_few_words(self):
        self.refuse('{"a":' * 100_000, 1, ["8 deep"])
        (self.folder / "m.json").write_text('{"a": "' + "x" * 100_000)
        self.assertLess(len(self.nearfar("sim", "ecsb", "--machine", "m.json", *SHAPE).stderr), 500)

    def test_intervals_have_two_ends_in_order(self):
        for group in ("near", "library", "network"):
            line = self.line_of(self.written(json.loads(self.text())), group)
            low, high = f"{group}.measured_low", f"{group}.measured_high"
            for there, missing in [(low, high), (high, low)]:
                machine = json.loads(self.text())
                del machine[group][missing.partition(".")[2]]
                self.refuse(self.written(machine), line, [f"'{missing}' is missing beside '{there}'"])
            machine = json.loads(self.text())
            machine[group] |= {"measured_low": 1.5, "measured_high": 0.5}
            self.refuse(self.written(machine), line, [f"'{low}' must be at most '{high}'", "1.5", "0.5"])

    def written(self, machine):
        """One line for each group, as in the shipped files."""
        return "{" + ",\n".join(f'"{name}": {json.dumps(value)}' for name, value in machine.items()) + "}\n"

    def test_fields_that_older_files_lack_have_nominal_values(self):
        machine = json.loads(self.text())
        del machine["near"]["lines_at_once"], machine["near"]["readers_at_once"], machine["network"]["per_byte"]
        for field in ("nodes_per_island", "island_latency"):
            machine["network"].pop(field, None)
        for field in ("clock", "jitter", "measured_low", "measured_high"):
            machine["near"].pop(field, None)
        for field in ("measured_low", "measured_high"):
            machine["network"].pop(field, None)
        newer = {"lock_handover": 0, "request": 0, "served_per_call": 65536, "measured_low": 1, "measured_high": 1}
        for field in newer:
            machine["library"].pop(field, None)
        (self.folder / "older.json").write_text(json.dumps(machine))
        read = json.loads(self.succeed("sim", "machines", "older.json"))
        self.assertEqual(read["near"].pop("lines_at_once"), 10)
        self.assertEqual(read["near"].pop("readers_at_once"), 1)
        self.assertEqual((read["near"].pop("clock"), read["near"].pop("jitter")), (0, 0))
        for group in ("near", "network"):
            self.assertEqual((read[group].pop("measured_low"), read[group].pop("measured_high")), (1, 1))
        self.assertEqual(read["network"].pop("per_byte"), 0.08)
        self.assertEqual(read["network"].pop("nodes_per_island"), 0)
        self.assertEqual(read["network"].pop("island_latency"), 0)
        for field, value in newer.items():
            self.assertEqual(read["library"].pop(field), value)
        self.assertEqual(read, machine)
        text = self.text().replace('"per_byte": ', '"per_byte": -')
        self.refuse(text, self.line_of(text, "network"), ["'network.per_byte' is negative"])
        text = self.text().replace('"per_byte": ', '"per_bite": ')
        self.refuse(text, self.line_of(text, "network"), ["field 'network.per_bite' is unknown"])

    def test_islands_are_a_level_of_locks_that_know_them(self):
        machine = json.loads(self.text())
        machine["network"] |= {"nodes_per_island": 8, "island_latency": 10000}
        (self.folder / "islands.json").write_text(json.dumps(machine))
        shape = ["--nodes", "16", "--ranks-per-node", "2", "--duration", "0.005", "--repetitions", "1", "--max-local-passes", "8"]
        run = ["sim", "ecsb", "--machine", "islands.json", *shape, "--locks", "hmcs", "--output", "r.jsonl"]
        self.succeed(*run, "--levels", "none,island")
        provenance, samples = self.samples("r.jsonl")
        self.assertIn("island 1: ranks 16-31", provenance["topology"])
        times = {sample["parameters"]["levels"]: sample["ns_per_acquisition"] for sample in samples}
        self.assertLess(times["island"], times["none"])
        self.assertTrue(all(sample["verified"] for sample in samples))
        self.assert_refused("sim", "ecsb", *shape, "--locks", "hmcs", "--levels", "island", saying="which nodes form an 'island'")

    def test_texts_that_are_no_json(self):
        text = self.text()
        lines = text.splitlines()
        self.refuse("\n".join(lines[:5]), 5, ["ends"])
        for blank in ("", " \n"):
            self.refuse(blank, 1, ["the file is empty"])
        self.refuse("[]", 1, ["not an object"])
        self.refuse("7", 1, ["no object"])
        self.refuse(text.replace('"hit":', '"hit" 1'), self.line_of(text, "near"), ["not JSON"])


class Fit(InEmptyFolder):
    FEW = ["--iterations", "4"]
    UPB = [
        f"{holder}_{place}"
        for place in ("master_rank", "master_node", "slave_node")
        for holder in ("same_process", "same_node", "different_node")
    ]

    def test_compare_judges_the_shipped_machine(self):
        text = self.succeed("sim", "compare", *self.FEW)
        for word in ["ECSB", "UPB", "tau", "cohort.published", "DashLock", "local passes: 50"]:
            self.assertIn(word, text)

    def test_results_do_not_depend_on_threads(self):
        self.assertEqual(
            self.succeed("sim", "compare", *self.FEW), self.succeed("sim", "compare", *self.FEW, "--jobs", "3")
        )

    def test_a_short_fit_writes_a_machine_that_is_no_worse(self):
        published = SOURCE / "machines" / "coolmuc2"
        files = ["--upb", str(published / "upb.csv"), "--ecsb", str(published / "ecsb.csv")]
        text = self.succeed("sim", "machines", "coolmuc2")
        machine = json.loads(text)
        machine["library"]["progress"] /= 3
        machine["transfers"]["remote"]["message"]["latency"] *= 2
        (self.folder / "start.json").write_text(json.dumps(machine))
        self.succeed("sim", "fit", "--machine", "start.json", *files, *self.FEW, "--evaluations", "6", "--output", "fitted.json")
        self.assertLess(self.deviation("fitted.json"), self.deviation("start.json"))

    def deviation(self, machine):
        text = self.succeed("sim", "compare", "--machine", machine, *self.FEW)
        line = next(line for line in text.splitlines() if line.startswith("all "))
        return sum(float(value) for value in line.split()[1:])

    def test_results_are_no_older_machine(self):
        self.succeed("sim", "ecsb", "--locks", "cohort", *SHAPE, *SHORT, "--output", "r.jsonl")
        before = (self.folder / "r.jsonl").read_text()
        for command in (["fit", "--evaluations", "1"], ["compare", "--cross-validate"]):
            self.assert_refused("sim", *command, *self.FEW, "--output", "r.jsonl", "--overwrite",
                                saying=["'r.jsonl' exists", "no nearfar machine description"])  # fmt: skip
        self.assertEqual((self.folder / "r.jsonl").read_text(), before)

    def write_two_sessions(self, ranks_per_node=(15,)):
        """Two days on which four locks were measured; on the second everything took 1.4 times as long."""
        (self.folder / "upb.csv").write_text("suite,lock\n")
        rows = ["suite,lock,nodes,ranks_per_node,iteration_ns"]
        for suite, slower in [("fast", 1.0), ("slow", 1.4)]:
            for lock, ns in [("McsLock", 4000), ("McsLockAccumulate", 4000), ("McsLockTwoSided", 1900), ("MpiWinLock", 5800)]:
                for ranks in ranks_per_node:
                    rows += [f"{suite},{lock},2,{ranks},{ns * slower}", f"{suite},{lock},1,{ranks},600"]
        (self.folder / "ecsb.csv").write_text("\n".join(rows) + "\n")
        plan = json.loads((SOURCE / "machines" / "coolmuc2" / "fit.json").read_text())
        plan["free_parameters"] = plan["free_parameters"][:1]
        (self.folder / "plan.json").write_text(json.dumps(plan))
        return ["--upb", "upb.csv", "--ecsb", "ecsb.csv", "--plan", "plan.json", "--iterations", "60"]

    def test_a_fit_knows_no_interval(self):
        fit = ["sim", "fit", *self.write_two_sessions(), "--evaluations", "1", "--output", "fitted.json"]
        text = self.succeed(*fit)
        self.assertRegex(text, r"\n# measured_low, measured_high: not known yet; .*sim compare --cross-validate")
        machine = json.loads((self.folder / "fitted.json").read_text())
        for group in ("near", "network"):
            self.assertEqual((machine[group]["measured_low"], machine[group]["measured_high"]), (1, 1))
        plan = json.loads((self.folder / "plan.json").read_text())
        for field in ("near.measured_low", "network.measured_high"):
            plan["free_parameters"][0]["fields"] = [field]
            (self.folder / "plan.json").write_text(json.dumps(plan))
            self.assert_refused(*fit, "--overwrite", saying=["plan.json: free parameter", f"'{field}'", "sim compare --cross-validate"])

    def test_a_fit_gives_the_same_machine_again(self):
        fit = ["sim", "fit", *self.write_two_sessions(), "--evaluations", "4", "--output"]
        self.succeed(*fit, "fitted.json")
        self.succeed(*fit, "again.json")
        self.assertEqual((self.folder / "fitted.json").read_text(), (self.folder / "again.json").read_text())

    def test_each_session_has_a_network_of_its_own(self):
        files = self.write_two_sessions()
        text = self.succeed("sim", "compare", *files)
        found = re.findall(r"^(fast|slow) ECSB 2x15 +([0-9.]+)  \[([0-9.]+), ([0-9.]+)\]  4 points$", text, re.MULTILINE)
        factors = {session: [float(value) for value in values] for session, *values in found}
        self.assertGreater(factors["slow"][0], 1.15 * factors["fast"][0])
        for factor, low, high in factors.values():
            self.assertTrue(low <= factor <= high)
        plan = json.loads((self.folder / "plan.json").read_text())
        plan["same_session"] = {"fast": "one", "slow": "one"}
        (self.folder / "plan.json").write_text(json.dumps(plan))
        self.assertIn("\none ECSB 2x15 ", self.succeed("sim", "compare", *files))

    def test_cross_validation_leaves_whole_sessions_and_kinds_out(self):
        files = self.write_two_sessions(ranks_per_node=(4, 8, 15))
        text = self.succeed("sim", "compare", *files, "--cross-validate", "--evaluations", "3", "--output", "judged.json")
        for left_out in ["session fast", "session slow", "kind queue over RMA", "kind queue with messages"]:
            self.assertRegex(text, rf"\n{left_out} ")
        self.assertRegex(text, r"48 points \([0-9]+ %\) are in the interval of 90 %")
        machine = json.loads((self.folder / "judged.json").read_text())
        for group in ("near", "network"):
            self.assertLess(machine[group]["measured_low"], machine[group]["measured_high"])
        table = self.succeed("sim", "ecsb", "--machine", "judged.json", *SHAPE, "--duration", "0.003", "--locks", "d_mcs", "--output", "r.jsonl")
        self.assertRegex(table, r"\n# in 90 of 100 cases the real machine takes [0-9.]+ to [0-9.]+ times as long")
        for sample in self.samples("r.jsonl")[1]:
            self.assertLess(sample["predicted_low"], sample["predicted_high"])
        self.succeed("report", "r.jsonl")
        for option in (["--output", "x.json"], ["--start", "coolmuc2"], ["--evaluations", "3"]):
            self.assert_refused("sim", "compare", *option, saying=f"{option[0]} requires --cross-validate")
        self.assert_refused("sim", "compare", "--cross-validate", "--overwrite", saying="--overwrite requires --output")
        self.assert_refused("sim", "compare", "--cross-validate=false", "--output", "x.json", saying="cross-validate was given")

    def test_an_interval_needs_points_sessions_and_plausible_times(self):
        files = self.write_two_sessions(ranks_per_node=(4, 15))
        judge = ["sim", "compare", *files, "--cross-validate", "--evaluations", "1"]
        write = [*judge, "--output", "judged.json"]
        self.assert_refused(*write, saying=["needs 19 points", "have 16 on one node, 16 on several nodes", "leave --output out"])
        text = self.succeed(*judge)
        self.assertIn("network unknown: on one node not known, on several nodes not known, beside the home (1b, 2b, 3b) not known\n", text)
        rows = (self.folder / "ecsb.csv").read_text()
        (self.folder / "ecsb.csv").write_text(re.sub(r"(?m)^(slow,.*,)[0-9.]+$", r"\g<1>90000", rows))
        self.assertRegex(self.succeed(*judge), r" that the other folds give\n  These are few, .*; measure more sessions\.\n")
        self.write_two_sessions(ranks_per_node=(4, 8, 15))
        rows = (self.folder / "ecsb.csv").read_text()
        (self.folder / "ecsb.csv").write_text("".join(row for row in rows.splitlines(True) if not row.startswith("slow")))
        self.assert_refused(*write, saying=["need 2 sessions", "have 1", "'suite'"])
        far_too_short = re.sub(r"(?m),([0-9.]+)$", lambda ns: f",{float(ns[1]) / 5000:.6f}", rows)
        (self.folder / "ecsb.csv").write_text(far_too_short)
        ended = self.nearfar(*write)
        self.assertEqual(ended.returncode, 2, ended.stderr)
        self.assertRegex(ended.stderr, "^nearfar: measured times on .* outside 0.001 to 1000.*in nanoseconds")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["ecsb.csv", "plan.json", "upb.csv"])

    def test_work_and_waits_take_as_long_on_the_real_machine(self):
        shape = ["--nodes", "2", "--ranks-per-node", "4", "--locks", "cohort", "--repetitions", "1"]
        network = json.loads(self.succeed("sim", "machines", "coolmuc2"))["network"]
        low, high = network["measured_low"], network["measured_high"]
        for name, more in [("wbab", ["--wait-ns", "100000", "--duration", "0.05"]), ("ccwb", ["--duration", "0.01"])]:
            table = self.succeed("sim", name, *shape, *more, "--output", f"{name}.jsonl")
            self.assertIn(f"\n# in 90 of 100 cases the real machine takes beyond work and waits {low:.2f} to {high:.2f} times as long on several nodes\n", table)
            for sample in self.samples(f"{name}.jsonl")[1]:
                time = sample["ns_per_acquisition"]
                of_lock = sample["overhead_ns"] if name == "wbab" else time - sample["optimum_ns"]
                self.assertAlmostEqual(sample["predicted_low"], time + (low - 1) * of_lock, places=3)
                self.assertAlmostEqual(sample["predicted_high"], time + (high - 1) * of_lock, places=3)

    def test_ranks_beside_the_home_have_an_interval_of_their_own(self):
        factors = {"near": (0.5, 1.5), "network": (0.6, 1.6), "library": (2, 3)}
        machine = json.loads(self.succeed("sim", "machines", "coolmuc2"))
        for group, (low, high) in factors.items():
            machine[group] |= {"measured_low": low, "measured_high": high}
        (self.folder / "m.json").write_text(json.dumps(machine))
        for nodes in (1, 2):
            of_nodes = "near" if nodes == 1 else "network"
            table = self.succeed("sim", "upb", "--machine", "m.json", "--nodes", str(nodes), "--ranks-per-node", "2",
                                 "--locks", "d_mcs", "--repetitions", "1", "--output", f"{nodes}.jsonl")  # fmt: skip
            self.assertIn("2.00 to 3.00 times as long beside the home (1b, 2b, 3b)", table)
            samples = self.samples(f"{nodes}.jsonl")[1]
            self.assertIn("2b", [sample["scenario"] for sample in samples])
            for sample in samples:
                low, high = factors["library" if sample["scenario"][1] == "b" else of_nodes]
                self.assertAlmostEqual(sample["predicted_low"], low * sample["ns_per_acquisition"], places=3)
                self.assertAlmostEqual(sample["predicted_high"], high * sample["ns_per_acquisition"], places=3)
        del machine["library"]["measured_low"], machine["library"]["measured_high"]
        (self.folder / "m.json").write_text(json.dumps(machine))
        self.succeed("sim", "upb", "--machine", "m.json", "--nodes", "2", "--ranks-per-node", "2", "--locks", "d_mcs",
                     "--repetitions", "1", "--output", "unknown.jsonl")  # fmt: skip
        for sample in self.samples("unknown.jsonl")[1]:
            self.assertEqual("predicted_low" in sample, sample["scenario"][1] != "b")

    def test_locks_whose_ranks_poll_far_words_have_a_prediction_only_where_none_waits(self):
        shape = ["--nodes", "2", "--ranks-per-node", "2", "--repetitions", "1"]
        far = ["tas", "tts", "ticket", "clh", "clh_craig", "hclh", "rh", "shfl.tts"]
        for name, of in [("ecsb", ["--duration", "0.005"]), ("ccwb", ["--duration", "0.05"]), ("upb", [])]:
            table = self.succeed("sim", name, *shape, *of, "--locks", ",".join([*far, "d_mcs"]), "--output", f"{name}.jsonl")
            none_known = f"\n# how long the real machine takes is not known of {', '.join(far)}: ranks that wait there poll"
            self.assertEqual(none_known in table, name != "upb", table)
            self.assertIn("\n# in 90 of 100 cases the real machine takes", table)
            for sample in self.samples(f"{name}.jsonl")[1]:
                self.assertEqual("predicted_low" in sample, name == "upb" or sample["lock"] == "d_mcs", sample["lock"])
        # Neither has intervals: a machine without, and real threads.
        both = ["--locks", "tas,d_mcs", "--duration", "0.005", "--repetitions", "1"]
        self.assertNotIn("real machine", self.succeed("sim", "ecsb", *both, "--machine", "xeon-x5670-qdr", "--nodes", "2", "--ranks-per-node", "2"))
        self.assertNotIn("real machine", self.succeed("bench", "ecsb", *both, "--world", "threads", "--ranks", "2"))

    def test_samples_that_are_not_steady_have_no_prediction(self):
        run = ["sim", "ecsb", "--nodes", "2", "--ranks-per-node", "14", "--locks", "d_mcs", "--repetitions", "1"]
        for duration, is_steady in [("0.0003", False), ("0.005", True)]:
            table = self.succeed(*run, "--duration", duration, "--output", f"{duration}.jsonl")
            (sample,) = self.samples(f"{duration}.jsonl")[1]
            self.assertEqual(sample["steady"], is_steady)
            for end in ("predicted_low", "predicted_high"):
                self.assertEqual(sample[end] is not None, is_steady)
            self.assertEqual("in 90 of 100 cases" in table, is_steady)
        self.succeed("report", "0.0003.jsonl")

    def test_careless_measurements(self):
        (self.folder / "upb.csv").write_text("suite,lock,runs,same_process_master_rank_ns\n")
        columns = "suite,lock,nodes,ranks_per_node,ranks,iteration_ns,progress_cv,runs\n"
        good = "x,McsLock,2,3,6,500,0,8\n"
        compare = ["sim", "compare", "--upb", "upb.csv", "--ecsb", "ecsb.csv", *self.FEW]

        def refused(rows, saying):
            (self.folder / "ecsb.csv").write_text(columns + rows)
            self.assert_refused(*compare, saying=saying)

        refused(good + "x,McsLock,2,3,6,501,0.1,8\n", ["ecsb.csv:3: 501 ns contradicts the 500 ns of ecsb.csv:2", "keep one"])
        refused(good.replace(",6,", ",7,"), ["ecsb.csv:2: 'ranks' is 7", "is 2 x 3 = 6"])
        for runs in ("0", "-1", "1.5", "nan"):
            refused(good.replace(",8", f",{runs}"), [f"ecsb.csv:2: '{runs}' in column 'runs'", "positive whole number"])
        for variation in ("-1", "nan", "inf", "x"):
            refused(good.replace(",0,", f",{variation},"), [f"ecsb.csv:2: '{variation}' in column 'progress_cv'", "0 or more"])
        for time in ("1e300", "0.05"):
            refused(good.replace(",500,", f",{time},"), [f"ecsb.csv:2: '{time}' in column 'iteration_ns'", "nanoseconds, 0.1 to 1"])
        (self.folder / "ecsb.csv").write_text(columns + good + good + good.replace("x,", "y,").replace("500", "501"))
        text = self.succeed(*compare)
        self.assertRegex(text, r"points: 2 ECSB, 0 UPB; Kendall's tau .* within sessions: -\n")
        (self.folder / "ecsb.csv").write_text("\ufeff" + columns + good + good.replace("x,", "y,").replace("500", "501"), encoding="utf-8")
        self.assertEqual(self.succeed(*compare), text)
        upb = "suite,lock,runs," + ",".join(f"{self.UPB[at]}_ns" for at in range(9)) + "\n"
        for rows, saying in [
            ("x,McsLock,0,500" + ",600" * 8 + "\n", "upb.csv:2: '0' in column 'runs'"),
            ("x,McsLock,8,500" + ",600" * 8 + "\nx,McsLock,8,501" + ",600" * 8 + "\n", "upb.csv:3: 501 ns contradicts the 500 ns of upb.csv:2"),
        ]:
            (self.folder / "upb.csv").write_text(upb + rows)
            self.assert_refused(*compare, saying=saying)

    def test_measurements_that_do_not_fit_the_machine_are_named(self):
        (self.folder / "upb.csv").write_text("suite,lock\n")
        both = ["--upb", "upb.csv", "--ecsb", "ecsb.csv"]
        for command in (["compare"], ["fit", "--output", "out.json"]):
            for shape, saying in [("1,64", "ecsb.csv:2: ranks_per_node 64 does not fit"), ("99999,14", "ecsb.csv:2: 99999 nodes of 14 ranks")]:
                (self.folder / "ecsb.csv").write_text(f"suite,lock,nodes,ranks_per_node,iteration_ns\nx,McsLock,{shape},500\n")
                self.assert_refused("sim", *command, *both, saying=saying)
            (self.folder / "d").mkdir(exist_ok=True)
            self.assert_refused("sim", *command, "--upb", "upb.csv", "--ecsb", "d", saying=["'d'", "directory"])

    def test_plans_name_what_is_wrong(self):
        plan = json.loads((SOURCE / "machines" / "coolmuc2" / "fit.json").read_text())
        some = plan["free_parameters"][0]
        for wrong, saying in [
            ({name: value for name, value in plan.items() if name != "schema"}, "'schema' is missing"),
            (plan | {"schema": "nearfar.machine/1"}, ["'nearfar.machine/1'", "reads 'nearfar.fit/1'"]),
            (plan | {"same_algorithm": {"a": 1}}, "'a' must be a text, not: 1"),
            (plan | {"not_compared": []}, "'not_compared' must be an object"),
            (plan | {"free_parameters": {}}, "'free_parameters' must be a list"),
            (plan | {"free_parameters": [some | {"low": "x"}]}, "'low' must be a number"),
            (plan | {"free_parameters": [some | {"fields": [1]}]}, ["fields", some["meaning"]]),
            ([], ["there must be an object", "[]"]),
        ]:
            (self.folder / "plan.json").write_text(json.dumps(wrong))
            self.assert_refused("sim", "compare", "--plan", "plan.json", saying=["plan.json: ", *([saying] if isinstance(saying, str) else saying)])
        (self.folder / "plan.json").write_text(json.dumps(plan, indent=1)[:200])
        self.assert_refused("sim", "compare", "--plan", "plan.json", saying=["plan.json:", "not JSON"])

    def test_bad_data(self):
        (self.folder / "upb.csv").write_text("suite,lock\nx,McsLock\n")
        (self.folder / "ecsb.csv").write_text("suite,lock,nodes,ranks_per_node,iteration_ns\nx,McsLock,1,2,-3\n")
        fit = ["sim", "fit", "--output", "out.json"]
        both = ["--upb", "upb.csv", "--ecsb", "ecsb.csv"]
        self.assert_refused(*fit, *both, saying=["ecsb.csv:2:", "'-3'", "iteration_ns"])
        (self.folder / "ecsb.csv").write_text("suite,lock,nodes,ranks_per_node,iteration_ns\nx,McsLock,1,2,inf\n")
        self.assert_refused(*fit, *both, saying=["ecsb.csv:2:", "'inf'", "iteration_ns"])
        (self.folder / "empty.csv").write_text("")
        self.assert_refused(*fit, "--upb", "upb.csv", "--ecsb", "empty.csv", saying="'empty.csv' is empty")
        self.assert_refused(*fit, "--upb", "upb.csv", saying="--ecsb")
        self.assert_refused(*fit, "--upb", "none.csv", "--ecsb", "ecsb.csv", saying="none.csv")
        self.assert_refused(*fit, "--plan", "ecsb.csv", saying="ecsb.csv")
        self.assert_refused("sim", "fit", saying="--output")
        (self.folder / "notes.json").write_text("mine")
        self.assert_refused("sim", "fit", "--output", "notes.json", saying="notes.json")
        self.assertEqual((self.folder / "notes.json").read_text(), "mine")


class Latencies(InEmptyFolder):
    PARTS = ["min", "p50", "p90", "p99", "p999", "max"]

    def run_ecsb(self, name, *more):
        return self.succeed("sim", "ecsb", "--locks", "mpi_win,cohort", *SHAPE, *SHORT, "--output", name, *more)

    def test_are_in_records_and_table_and_take_no_virtual_time(self):
        table = self.run_ecsb("timed.jsonl")
        self.assertRegex(table, r"\n# lock .* p50 +p99 +p999\n")
        self.run_ecsb("untimed.jsonl", "--latency-interval", "0")
        provenance, timed = self.samples("timed.jsonl")
        _, untimed = self.samples("untimed.jsonl")
        for one, other in zip(timed, untimed, strict=True):
            self.assertEqual(one["acquire_timed"], one["iterations"])
            spans = [one[f"acquire_{part}"] for part in self.PARTS]
            self.assertEqual(spans, sorted(spans))
            self.assertEqual(spans, [one["measured"][f"acquire_{part}"] for part in self.PARTS])
            self.assertTrue(spans[0] <= one["acquire_mean"] <= spans[-1])
            # All six ranks take turns, so the average wait of a rank is at most a whole round.
            self.assertLess(one["acquire_mean"], 6 * one["ns_per_acquisition"] * 1.05)
            self.assertEqual((other["acquire_timed"], other["acquire_p50"]), (0, None))
            self.assertEqual(one["duration_ns"], other["duration_ns"])
        standing = {each["name"]: each["standing"] for each in provenance["statements"]["ecsb"]["columns"]}
        self.assertEqual((standing["time"], standing["acquire_p99"], standing["acquire_max"]), ("judged", "shown", "recorded"))

    def test_do_not_contain_the_loop(self):
        machine = json.loads(self.succeed("sim", "machines", "coolmuc2"))
        machine["near"]["jitter"] = 0
        times = []
        for clock in (0, 1000):
            machine["near"]["clock"] = clock
            (self.folder / "m.json").write_text(json.dumps(machine))
            self.succeed("sim", "ecsb", "--machine", "m.json", "--nodes", "1", "--ranks-per-node", "1", "--locks", "mcs",
                         *SHORT, "--output", f"{clock}.jsonl")  # fmt: skip
            times.append(self.samples(f"{clock}.jsonl")[1][0])
        self.assertAlmostEqual(times[1]["ns_per_acquisition"] - times[0]["ns_per_acquisition"], 1000, delta=20)
        self.assertEqual(times[0]["acquire_p50"], times[1]["acquire_p50"])

    def test_are_in_csv_and_page_and_not_compared(self):
        self.run_ecsb("r.jsonl")
        self.run_ecsb("again.jsonl")
        self.succeed("sim", "upb", "--locks", "mcs", "--nodes", "1", "--output", "upb.jsonl")
        lines = self.succeed("report", "--csv", "r.jsonl").splitlines()
        where = lines[0].split(",").index("measured.acquire_p99")
        self.assertEqual([float(line.split(",")[where]) for line in lines[1:]],
                         [sample["acquire_p99"] for sample in self.samples("r.jsonl")[1]])  # fmt: skip
        self.succeed("report", "r.jsonl", "upb.jsonl")
        page = (self.folder / "nearfar-report" / "index.html").read_text()
        self.assertGreaterEqual(page.count("99.9th percentile of the latency of acquisitions in ns"), 4, "head and notes of two tables")
        compared = self.nearfar("compare", "r.jsonl", "again.jsonl", "--json")
        self.assertEqual(compared.returncode, 3, "two repetitions are too few to tell")
        self.assertEqual(len(compared.stdout.splitlines()), 2)
        self.assertNotIn("column", compared.stdout)

    def test_of_locks_one_by_one(self):
        self.succeed("sim", "upb", "--locks", "cohort", *SHAPE, "--latency-count", "7", "--output", "upb.jsonl")
        for sample in self.samples("upb.jsonl")[1]:
            self.assertEqual((sample["acquire_timed"], sample["iterations"]), (7, 50))
            self.assertLess(sample["acquire_max"], 1.5 * sample["ns_per_acquisition"])


class Osu(InEmptyFolder):
    """--format osu, read as programs read the output of OSU's benchmarks."""

    HEADS = ["Avg Latency(us)", "Min Latency(us)", "Max Latency(us)", "P50 Tail Lat(us)", "P90 Tail Lat(us)",
             "P99 Tail Lat(us)", "P99.9 Tail Lat(us)", "Iterations"]  # fmt: skip

    def blocks(self, *arguments):
        """Titles, heads and rows of numbers of each block."""
        blocks = []
        for text in self.succeed(*arguments, "--format", "osu").strip("\n").split("\n\n"):
            lines = text.splitlines()
            self.assertRegex(lines[0], r"^# nearfar \w+ Latency Test v\d")
            at = next(i for i, line in enumerate(lines) if line.endswith(("Iterations", "(us)")))
            head = lines[at]
            self.assertTrue(all(line.startswith("#") for line in lines[:at]), lines)
            rows = [line for line in lines[at + 1 :] if not line.startswith("#")]
            for line in [head, *rows]:
                self.assertEqual((len(line) - 10) % 20, 0, "columns of 10 and 20 characters")
            for row in rows:
                for figure in row.split()[1:-1]:
                    self.assertRegex(figure, r"^\d+\.\d\d$")
            blocks.append((lines[1:at], [head[:10].strip(), *(head[i : i + 20].strip() for i in range(10, len(head), 20))],
                           [[float(each) for each in row.split()] for row in rows]))  # fmt: skip
        return blocks

    def test_has_a_block_for_each_lock_with_the_figures_of_the_records(self):
        found = self.blocks("sim", "ecsb", "--locks", "dash,cohort", "--nodes", "2,1", "--ranks-per-node", "3", *SHORT,
                            "--output", "r.jsonl")  # fmt: skip
        samples = self.samples("r.jsonl")[1]
        self.assertEqual([words[0] for words, _, _ in found], ["# lock dash: acquisitions", "# lock cohort: acquisitions"])
        for lock, (words, heads, rows) in zip(["dash", "cohort"], found, strict=True):
            self.assertIn("simulated world", words[1])
            self.assertNotIn("nodes", words[1])
            self.assertEqual(heads, ["# Ranks", *self.HEADS])
            self.assertEqual([row[0] for row in rows], [6, 3], "in the order in which they were asked for")
            for row in rows:
                mine = [one for one in samples if one["lock"] == lock and one["ranks"] == row[0]]
                self.assertEqual(len(mine), 2)

                def over(part, join, mine=mine):
                    return join([one[f"acquire_{part}"] for one in mine]) / 1000

                expected = [over("mean", statistics.median), over("min", min), over("max", max)]
                expected += [over(part, statistics.median) for part in ["p50", "p90", "p99", "p999"]]
                for figure, value in zip(row[1:-1], expected, strict=True):
                    self.assertAlmostEqual(figure, value, delta=0.0051)
                self.assertEqual(row[-1], sum(one["acquire_timed"] for one in mine))

    def test_tells_readers_from_writers_and_runs_along_what_varies(self):
        found = self.blocks("sim", "rw_ecsb", "--locks", "cohort_rw", "--writers", "0,50", *SHAPE, *SHORT)
        self.assertEqual([(words[0], heads[0], [row[0] for row in rows]) for words, heads, rows in found],
                         [("# reader-writer lock cohort_rw: readers", "# Writers", [0, 50]),
                          ("# reader-writer lock cohort_rw: writers", "# Writers", [50])])  # fmt: skip

    def test_has_a_block_for_each_scenario_and_each_other_number(self):
        found = self.blocks("sim", "upb", "--locks", "cohort", "--nodes", "2", "--ranks-per-node", "2,3", "--repetitions", "1")
        self.assertEqual(len(found), 9)
        self.assertEqual({tuple(row[0] for row in rows) for _, _, rows in found}, {(4, 6)})
        found = self.blocks("sim", "wbab", "--locks", "mcs", "--nodes", "1", "--ranks-per-node", "2,3", "--wait-ns", "0,100,200", *SHORT)
        self.assertEqual([heads[0] for _, heads, _ in found], ["# Wait_ns"] * 2)
        self.assertEqual([["ranks 2" in words[1], "ranks 3" in words[1]] for words, _, _ in found], [[True, False], [False, True]])

    def test_has_times_where_no_latency_was_measured(self):
        ((words, heads, rows),) = self.blocks("sim", "ecsb", "--locks", "mcs", "--nodes", "1", "--latency-interval", "0", *SHORT,
                                              "--output", "r.jsonl")  # fmt: skip
        self.assertIn("time from one acquisition to the next", words[0])
        self.assertEqual(heads, ["# Ranks", "Time (us)"])
        times = [one["ns_per_acquisition"] for one in self.samples("r.jsonl")[1]]
        self.assertAlmostEqual(rows[0][1], statistics.median(times) / 1000, delta=0.0051)

    def test_runs_along_the_bytes_of_messages(self):
        found = self.blocks("bench", "channel", "--channels", "ring", "--ranks", "2", "--size", "4,64", "--messages", "2000",
                            "--repetitions", "2")  # fmt: skip
        # Messages of 4 bytes have no room for the time of their sending.
        self.assertEqual([(heads[:2], [row[0] for row in rows]) for _, heads, rows in found],
                         [(["# Size", "Avg Latency(us)"], [64]), (["# Size", "Time (us)"], [4])])  # fmt: skip

    def test_says_what_is_unsound(self):
        ((words, _, _),) = self.blocks("sim", "ecsb", "--locks", "d_mcs.put", *SHAPE, *SHORT)
        self.assertTrue(any(line.startswith("# unsound") for line in words), words)

    def test_of_a_form_that_is_not_known(self):
        self.assertEqual(self.nearfar("sim", "ecsb", "--format", "osi").returncode, 2)


if __name__ == "__main__":
    unittest.main()
