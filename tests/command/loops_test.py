"""The benchmarks of loops over containers as their users meet them."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

COMMAND = os.environ["NEARFAR_COMMAND"]
MPI = os.environ["NEARFAR_MPI_NAME"]
SOURCE = pathlib.Path(os.environ["NEARFAR_SOURCE_DIR"])
SHORT = ["--min-time", "0.0005", "--repetitions", "2"]
SMALL = [*SHORT, "--lengths", "1000"]
CONTAINERS = [
    "array", "object-array", "vector", "vector-numa", "numa_vector", "segmented", "segmented-iterator",
    "numa_vector-expression", "padded", "padded-iterator", "padded-pieces",
]  # fmt: skip
# Without a name none of these is measured: they differ from their container in one thing that the thesis measures.
VARIANTS = ["array.unaligned", "vector.iterator", "segmented.index", "padded.index"]
ALL = [*CONTAINERS, *VARIANTS]
BY_HAND = {
    "object-array", "vector.iterator", "segmented.index", "segmented-iterator", "numa_vector-expression", "padded.index",
    "padded-iterator", "padded-pieces",
}  # fmt: skip
GRIDS = ["array", "vector", "vector-numa", "numa_vector", "segmented"]


def nearfar(*arguments, cwd=None, **environment):
    return subprocess.run(
        [COMMAND, *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        check=False,
        env={**os.environ, **environment},
    )


class Loops(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.folder = pathlib.Path(self._folder.name)

    def samples(self, *arguments, says=None, **environment):
        """Samples of a run that ends well and leaves a complete results file; stderr holds only `says`."""
        ended = nearfar("bench", *arguments, "--output", "r.jsonl", "--overwrite", cwd=self.folder, **environment)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        if says is None:
            # Where the run takes more than 10 s, it says how far it is.
            self.assertEqual(re.sub(r"(?m)^nearfar: \d+/\d+, .*\n", "", ended.stderr), "")
        else:
            self.assertIn(says, ended.stderr)
        records = [json.loads(line) for line in (self.folder / "r.jsonl").read_text().splitlines()]
        provenance, samples = records[0], records[1:]
        self.assertEqual({record["schema"] for record in records}, {"nearfar.results/1"})
        self.assertEqual(provenance["record"], "provenance")
        self.assertEqual(provenance["records_expected"], len(samples))
        self.assertTrue(all(sample["verified"] for sample in samples))
        rows = [line for line in ended.stdout.splitlines() if not line.startswith("#")]
        repetitions = 1 + max(sample["repetition"] for sample in samples)
        self.assertEqual(len(rows) * repetitions, len(samples))
        return samples


class Triad(Loops):
    def test_every_container_is_right(self):
        for length in ["1", "10", "997", "20000"]:
            samples = self.samples("triad", *SHORT, "--lengths", length, "--threads", "1,2,3", "--containers", "all")
            self.assertEqual({(s["world"], s["kind"], s["nodes"]) for s in samples}, {("team", "container", 1)})
            self.assertEqual({sample["ranks"] for sample in samples}, {1, 2, 3})
            self.assertEqual({sample["container"] for sample in samples}, set(ALL))
            self.assertEqual({sample["threads"] for sample in samples}, {1, 2, 3})

    def test_every_initialisation_is_right(self):
        samples = self.samples(
            "triad", *SMALL, "--containers", "all", "--init", "all", "--threads", "2", "--verbose",
            says="leaving out container 'vector' in part",
        )  # fmt: skip
        placed_by_loops = [name for name in ALL if name.startswith("array")]
        placed_by_one = ["vector", "vector.iterator"]
        pairs = {(sample["container"], sample["initialisation"]) for sample in samples}
        self.assertEqual(pairs, {
            *((name, how) for name in placed_by_loops for how in ("serial", "parallel")),
            *((name, "serial") for name in placed_by_one),
            *((name, how) for name in ALL if name not in placed_by_loops + placed_by_one for how in ("serial", "allocator")),
        } - {("numa_vector-expression", "serial")})  # fmt: skip

    def test_every_kind_of_stores_is_right(self):
        for length in ["1", "5", "1003", "100000"]:
            samples = self.samples("triad", *SHORT, "--lengths", length, "--containers", "all", "--stores", "all", "--threads", "1,2")
            streamed = {sample["container"] for sample in samples if sample["stores"] == "streaming"}
            self.assertEqual(streamed, set(ALL) - BY_HAND)
            self.assertEqual({s["container"] for s in samples if "stores" not in s["parameters"]}, BY_HAND)

    def test_chunks_are_right(self):
        samples = self.samples(
            "triad", *SHORT, "--lengths", "20001", "--containers", "all", "--chunk", "8,512", "--threads", "2", "--verbose",
            says="segments in place of chunks",
        )  # fmt: skip
        self.assertEqual({sample["chunk"] for sample in samples}, {8, 512})
        self.assertEqual({sample["container"] for sample in samples}, {*CONTAINERS[:5], "numa_vector-expression", "array.unaligned", "vector.iterator"})
        samples = self.samples("triad", *SMALL, "--containers", "array,array.unaligned", "--chunk", "17", "--stores", "all", "--threads", "2")
        self.assertEqual({sample["chunk"] for sample in samples}, {17})

    def test_segments_and_padding_are_right(self):
        of_both = [[name for name in ALL if name.startswith(kind)] for kind in ("segmented", "padded")]
        for segments, padding in [(1, 0), (3, 64), (7, 8), (2000, 0)]:
            for containers in of_both if padding == 0 else of_both[1:]:
                samples = self.samples(
                    "triad", *SMALL, "--containers", ",".join(containers), "--threads", "1,2",
                    "--segments", str(segments), *(["--padding", str(padding)] if padding else []),
                )  # fmt: skip
                self.assertEqual({(s["segments"], s["padding"], s["chunk"]) for s in samples}, {(segments, padding, None)})

    def test_placements_and_pinnings_are_right(self):
        for pin in ["none", "compact", "scatter", "cache", "numa", "0"]:
            samples = self.samples("triad", *SMALL, "--threads", "2", "--pin", pin)
            self.assertEqual({sample["pinning"] for sample in samples}, {pin})
        for placement in ["interleave", "bind:0"]:
            ended = nearfar("bench", "triad", *SHORT, "--lengths", "20000", "--placement", placement)
            self.assertEqual(ended.returncode, 0, ended.stderr)
        samples = self.samples(
            "triad", *SHORT, "--lengths", "600000", "--huge-pages", "--containers", "array,numa_vector,segmented"
        )
        self.assertEqual({sample["placement"] for sample in samples}, {"first-touch huge-pages"})

    def test_figures_belong_together(self):
        for sample in self.samples("triad", *SMALL, "--threads", "1", "--stores", "regular,streaming"):
            seconds = sample["duration_ns"] / 1e9
            per_second = sample["iterations"] * sample["length"] / seconds
            self.assertGreaterEqual(seconds, 0.0005)
            self.assertAlmostEqual(sample["mflops"] / (2 * per_second / 1e6), 1)
            self.assertAlmostEqual(sample["gbytes_per_s"] / (32 * per_second / 1e9), 1)
            rfo = 32 if sample["stores"] == "streaming" else 40
            self.assertAlmostEqual(sample["gbytes_per_s_with_rfo"] / (rfo * per_second / 1e9), 1)
            self.assertEqual([sample[name] for name in ("rows", "columns", "decomposition", "sweeps", "mlups")], [None] * 5)

    def test_the_array_is_what_others_are_held_to(self):
        ended = nearfar("bench", "triad", *SMALL, "--threads", "1", "--containers", "array,vector")
        rows = [line.split() for line in ended.stdout.splitlines() if not line.startswith("#")]
        self.assertEqual([row[0] for row in rows], ["array", "vector"])
        self.assertEqual(rows[0][-1], "1.000")
        self.assertRegex(rows[1][-1], r"^\d+\.\d{3}$")
        ended = nearfar("bench", "triad", *SMALL, "--threads", "1", "--containers", "vector")
        self.assertEqual(ended.stdout.splitlines()[-1].split()[-1], "-")

    def test_lengths_may_be_written_as_powers_of_ten(self):
        samples = self.samples("triad", *SHORT, "--lengths", "1e3,2e1", "--containers", "array", "--threads", "1")
        self.assertEqual({sample["length"] for sample in samples}, {1000, 20})

    def test_what_is_asked_for_twice_is_measured_once(self):
        samples = self.samples(
            "triad", *SHORT, "--containers", "array,all,array", "--lengths", "100,1e2,100", "--threads", "2,2",
            "--chunk", "8,8", "--init", "all,serial", says="leaving out",
        )  # fmt: skip
        self.assertEqual(len(samples), len({(s["container"], s["initialisation"], s["repetition"]) for s in samples}))

    def test_what_does_not_fit_is_left_out(self):
        samples = self.samples(
            "triad", *SHORT, "--lengths", "100,1e12", "--containers", "array", "--threads", "1", says="leaving out"
        )
        self.assertEqual({sample["length"] for sample in samples}, {100})
        ended = nearfar("bench", "triad", *SHORT, "--lengths", "1e12")
        self.assertEqual(ended.returncode, 2)
        self.assertIn("nothing can run here: container 'array': it needs", ended.stderr)
        for arguments in [
            ["relax", "--rows", "1e6", "--columns", "1e6"],
            ["triad", "--containers", "padded", "--segments", "1e9", "--padding", "999999992"],
        ]:
            ended = nearfar("bench", *arguments, *SHORT)
            self.assertEqual(ended.returncode, 2)
            self.assertIn("it needs", ended.stderr)

    def test_described_machines_work_too(self):
        samples = self.samples(
            "triad", *SHORT, "--lengths", "20000", "--threads", "2", says="threads are not pinned",
            HWLOC_SYNTHETIC="pack:2 [numa] l3:1 core:2 pu:1",
        )  # fmt: skip
        self.assertEqual({sample["container"] for sample in samples}, set(CONTAINERS))
        self.assertEqual({sample["pinning"] for sample in samples}, {"none"})


class Stream(Loops):
    def test_every_loop_and_container_is_right(self):
        samples = self.samples("stream", *SMALL, "--containers", "all", "--threads", "1,2")
        loops = {"copy": 16, "scale": 16, "add": 24, "stream-triad": 24}
        self.assertEqual({sample["benchmark"] for sample in samples}, {"stream"})
        self.assertEqual({(s["axes"]["loop"], s["container"]) for s in samples}, {(b, c) for b in loops for c in ALL})
        for sample in samples:
            per_ns = sample["iterations"] * sample["length"] / sample["duration_ns"]
            self.assertAlmostEqual(sample["gbytes_per_s"] / (loops[sample["axes"]["loop"]] * per_ns), 1)
            self.assertEqual(sample["mflops"] is None, sample["axes"]["loop"] == "copy")

    def test_streaming_stores_are_right(self):
        samples = self.samples("stream", *SMALL, "--stores", "streaming", "--threads", "1,2")
        self.assertEqual({s["container"] for s in samples if s["stores"] == "regular"}, {"numa_vector-expression"})


class Relax(Loops):
    def test_every_grid_is_right(self):
        for rows, columns in [(3, 3), (4, 50), (61, 7), (130, 300)]:
            samples = self.samples(
                "relax", *SHORT, "--rows", str(rows), "--columns", str(columns), "--threads", "1,2,3"
            )
            self.assertEqual({(s["container"], s["decomposition"]) for s in samples},
                             {(c, d) for c in GRIDS for d in ("horizontal", "vertical", "vertical-by-row")})  # fmt: skip
            for sample in samples:
                points = (rows - 2) * (columns - 2) * sample["sweeps"]
                self.assertEqual(sample["sweeps"], sample["iterations"])
                self.assertAlmostEqual(sample["mlups"] / (points / sample["duration_ns"] * 1e3), 1)
                self.assertIsNone(sample["gbytes_per_s"])

    def test_sweeps_are_as_many_as_asked_for(self):
        size = ["--rows", "20", "--columns", "30", "--threads", "1,2"]
        samples = self.samples("relax", "--min-time", "0.01", "--repetitions", "2", *size, "--sweeps", "7")
        for sample in samples:
            self.assertEqual((sample["sweeps"], sample["iterations"], sample["effort"]["sweeps"]), (7, 7, 7))
            self.assertTrue(sample["verified"])
        ended = nearfar("bench", "relax", "--sweeps", "-1", cwd=self.folder)
        self.assertEqual(ended.returncode, 2)
        self.assertIn("--sweeps must be", ended.stderr)

    def test_serial_initialisation_is_right(self):
        samples = self.samples("relax", *SHORT, "--rows", "50", "--columns", "60", "--init", "serial", "--threads", "2")
        self.assertEqual({(s["container"], s["initialisation"]) for s in samples}, {(c, "serial") for c in GRIDS})

    def test_every_initialisation_is_right(self):
        size = ["--rows", "1e1", "--columns", "1e1", "--threads", "2"]
        samples = self.samples("relax", *SHORT, *size, "--containers", "all", "--init", "all", says="leaving out")
        self.assertEqual({sample["container"] for sample in samples}, set(GRIDS))
        self.assertEqual({sample["initialisation"] for sample in samples}, {"serial", "parallel", "allocator"})
        ended = nearfar("bench", "relax", *SHORT, *size, "--containers", "vector", "--init", "serial,parallel")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(
            ended.stderr,
            "nearfar: leaving out container 'vector' in part: vector has no initialisation 'parallel' in vertical-by-row"
            " decomposition, only: serial\n",
        )


class BadInput(Loops):
    def assert_refused(self, *arguments, saying):
        ended = nearfar("bench", *arguments, cwd=self.folder)
        self.assertEqual(ended.returncode, 2, ended.stderr)
        self.assertEqual(ended.stdout, "")
        for text in [saying] if isinstance(saying, str) else saying:
            self.assertIn(text, ended.stderr.splitlines()[-1])
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_unknown_names_suggest_the_nearest(self):
        self.assert_refused("trad", saying=["'trad'", "did you mean 'triad'"])
        self.assert_refused("triad", "--containers", "vectr", saying=["'vectr'", "did you mean 'vector'"])
        self.assert_refused("triad", "--init", "paralel", saying=["'paralel'", "parallel"])
        self.assert_refused("triad", "--stores", "streamin", saying=["'streamin'", "streaming"])
        self.assert_refused("relax", "--decomposition", "vertica", saying=["'vertica'", "vertical"])
        self.assert_refused("triad", "--placement", "interleaf", saying=["'interleaf'", "interleave"])
        self.assert_refused("triad", "--pin", "scater", saying="'scater'")

    def test_numbers_out_of_range(self):
        for lengths in ["0", "-1", "1.5", "ten", "1e13", ""]:
            self.assert_refused("triad", "--lengths", lengths, saying="--length")
        for threads in ["0", "-1", "5000"]:
            self.assert_refused("triad", "--threads", threads, saying="--threads")
        for time in ["0", "-1", "nan", "1e9"]:
            self.assert_refused("relax", "--min-time", time, saying="--min-time")
        self.assert_refused("triad", "--repetitions", "0", saying="--repetitions")
        self.assert_refused("triad", "--precision", "2", saying="--precision")
        for option in ["--rows", "--columns"]:
            for count in ["0", "-1", "1.5", "2e9", "4294967296"]:
                self.assert_refused("relax", option, count, saying=[option, f"'{count}'"])
        allowed_of = {"--segments": "0 to 1000000000", "--padding": "0 to 1000000000", "--chunk": "0 to 1000000000000"}
        for option, allowed in allowed_of.items():
            for count in ["-5", "1.5", "ten", "18446744073709551608"]:
                self.assert_refused("triad", option, count, saying=[option, f"from {allowed}", f"'{count}'"])
        self.assert_refused("triad", "--placement", "bind:99", saying="'99'")
        self.assert_refused("triad", "--placement", "bind", saying="bind:0")
        self.assert_refused("triad", "--placement", "first-touch:0", saying=["first-touch:0", "bind and interleave"])
        self.assert_refused("triad", "--pin", "99", saying="99")

    def test_fewer_threads_than_asked_for(self):
        ended = nearfar("bench", "triad", *SMALL, "--threads", "1,2", OMP_THREAD_LIMIT="1")
        if "built without OpenMP" in ended.stderr:  # then all loops run on one thread, and the output says so
            return
        self.assertEqual(ended.returncode, 2)
        self.assertIn("OpenMP gives 1 of 2 threads", ended.stderr)
        self.assertEqual(ended.stdout, "", "no point is measured before")

    def test_combinations_that_do_not_exist(self):
        for arguments in [
            ["triad", "--containers", "vector", "--init", "parallel"],
            ["triad", "--containers", "numa_vector", "--chunk", "9"],
            ["triad", "--containers", "segmented", "--chunk", "8"],
            ["triad", "--containers", "padded", "--padding", "4"],
            ["relax", "--containers", "object-array"],
            ["relax", "--rows", "2"],
            ["relax", "--rows", "1e9", "--columns", "1e9"],
        ]:
            self.assert_refused(*arguments, saying=["cannot run container"] if "--containers" in arguments else ["nothing can run here"])

    def test_settings_that_no_container_takes_are_pointed_out(self):
        for arguments in [["segmented-iterator", "--stores", "streaming"], ["segmented", "--padding", "64"]]:
            ended = nearfar("bench", "triad", *SMALL, "--threads", "1", "--containers", *arguments)
            self.assertEqual(ended.returncode, 0, ended.stderr)
            self.assertIn(f"{arguments[1]} has no effect: none of the chosen containers takes it", ended.stderr)


class Common(Loops):
    """Loops have all that other benchmarks have."""

    def test_sweeps_go_on_where_they_were_ended(self):
        study = self.folder / "s.json"
        study.write_text(json.dumps({
            "benchmark": ["triad", "relax"], "threads": [1], "length": [100], "rows": 10, "columns": 10,
            "min_time": 0.0005, "pinning": "0", "containers": ["array", "vector"], "repetitions": 2,
        }))  # fmt: skip
        sweep = ["sweep", str(study), "--output", "r.jsonl"]
        ended = nearfar(*sweep, cwd=self.folder)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        records = [json.loads(line) for line in (self.folder / "r.jsonl").read_text().splitlines()]
        samples = [record for record in records if record["record"] == "sample"]
        self.assertEqual({(s["benchmark"], s["container"]) for s in samples},
                         {(b, c) for b in ("triad", "relax") for c in ("array", "vector")})  # fmt: skip
        self.assertEqual({sample["pinning"] for sample in samples}, {"0"})
        again = nearfar(*sweep, cwd=self.folder)
        self.assertEqual(again.returncode, 0)
        self.assertIn("repetitions are there already", again.stderr)
        self.assertEqual(again.stdout, ended.stdout)
        more = nearfar(*sweep, "--repetitions", "3", cwd=self.folder)
        self.assertEqual(more.returncode, 0, more.stderr)
        listed = nearfar("sweep", str(study), "--list")
        self.assertIn("triad array, 1 thread", listed.stdout)

    def test_locks_and_loops_do_not_share_a_world(self):
        study = self.folder / "s.json"
        study.write_text(json.dumps({"benchmark": "triad", "world": "threads"}))
        ended = nearfar("sweep", str(study), "--output", str(self.folder / "r.jsonl"))
        self.assertEqual(ended.returncode, 2)
        self.assertIn("it does not exist in this world", ended.stderr)

    def test_precision_ends_a_case_early(self):
        samples = self.samples_of_any_count("triad", "--min-time", "0.0005", "--lengths", "1000", "--containers", "array",
                                            "--threads", "1", "--repetitions", "20", "--precision", "0.99")  # fmt: skip
        self.assertEqual(len(samples), 6)

    def samples_of_any_count(self, *arguments):
        ended = nearfar("bench", *arguments, "--output", "p.jsonl", cwd=self.folder)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        records = [json.loads(line) for line in (self.folder / "p.jsonl").read_text().splitlines()]
        return [record for record in records if record["record"] == "sample"]

    def test_list_names_the_containers(self):
        listed = json.loads(nearfar("list", "--json").stdout)
        (kind,) = [kind for kind in listed["kinds"] if kind["name"] == "container"]
        self.assertEqual([each["name"] for each in kind["objects"]][0], "array")
        self.assertEqual({each["name"] for each in kind["objects"]}, set(ALL))
        self.assertLessEqual({"triad", "stream", "relax"}, {each["name"] for each in listed["benchmarks"]})


class Help(unittest.TestCase):
    def test_help_is_enough(self):
        for name in ["triad", "stream", "relax"]:
            text = nearfar("bench", name, "--help").stdout
            for option in ["--containers", "--init", "--threads", "--pin", "--repetitions", "--min-time", "--output"]:
                self.assertIn(option, text)
            self.assertIn("Names from 'nearfar list'", text)
            self.assertIn(name, nearfar("bench", "--help").stdout)


class UnderMpi(unittest.TestCase):
    def test_one_rank_measures(self):
        launcher = [str(SOURCE / "scripts" / "run-mpi"), "--mpi", MPI, "--ranks", "2", "--"]
        ended = subprocess.run(
            [*launcher, COMMAND, "bench", "triad", *SMALL, "--containers", "array", "--threads", "1"],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(len([line for line in ended.stdout.splitlines() if line.startswith("array")]), 1)
        self.assertIn("only rank 0 measures", ended.stderr)


if __name__ == "__main__":
    unittest.main()
