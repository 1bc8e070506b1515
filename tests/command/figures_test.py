"""nearfar figures as its users meet it: the figures of a publication, measured here."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

COMMAND = os.environ["NEARFAR_COMMAND"]
SERIAL = "nearfar: built without OpenMP: all loops run on one thread\n"
NUMBERS = ["1.7", "1.8", "2.2", "2.4", "2.6", "2.7", "3.2", "3.3", "3.4", "3.7", "3.8", "4.2", "4.3"]


def figures(*arguments, cwd, **environment):
    return subprocess.run(
        [COMMAND, "figures", "stengel2007", *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **environment},
        check=False,
    )


def records(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


class Figures(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.folder = pathlib.Path(self._folder.name)

    def assert_refused(self, *arguments, saying):
        """One line on stderr, status 2, nothing on stdout, nothing new in the folder."""
        before = sorted(self.folder.rglob("*"))
        ended = figures(*arguments, cwd=self.folder)
        self.assertEqual(ended.returncode, 2, ended.stderr)
        ended.stderr = ended.stderr.removeprefix(SERIAL)
        self.assertEqual(len(ended.stderr.splitlines()), 1, ended.stderr)
        self.assertTrue(ended.stderr.startswith("nearfar"), ended.stderr)
        for text in [saying] if isinstance(saying, str) else saying:
            self.assertIn(text, ended.stderr)
        self.assertEqual(ended.stdout, "")
        self.assertEqual(sorted(self.folder.rglob("*")), before)

    def measured(self, *arguments, **environment):
        ended = figures("--quick", *arguments, cwd=self.folder, **environment)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.serial = ended.stderr == SERIAL
        self.assertIn(ended.stderr, ["", SERIAL])
        page = self.folder / ended.stdout.splitlines()[-1]
        return page.parent, page.read_text()

    def test_list_names_every_figure(self):
        ended = figures("--list", cwd=self.folder)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        lines = ended.stdout.splitlines()[1:]
        self.assertEqual([line.split()[0] for line in lines], NUMBERS)
        needing = [line.split()[0] for line in lines if "several NUMA domains" in line]
        self.assertEqual(needing, ["2.2", "2.4", "2.6", "2.7", "3.2", "3.3"])
        some = figures("--list", "--only", "3.8,1.7", cwd=self.folder).stdout.splitlines()[1:]
        self.assertEqual([line.split()[0] for line in some], ["1.7", "3.8"])
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_every_figure_is_drawn(self):
        folder, page = self.measured()
        self.assertEqual(folder, self.folder / "nearfar-figures")
        expected = {f"figure-{n}.{kind}" for n in NUMBERS for kind in ("jsonl", "png", "svg")} | {"index.html", "claims.jsonl"}
        self.assertEqual({path.name for path in folder.iterdir()}, expected)
        headings = [page.index(f"<h2>Figure {number}: ") for number in NUMBERS]
        self.assertEqual(headings, sorted(headings))
        for number in NUMBERS:
            head, *samples = records(folder / f"figure-{number}.jsonl")
            self.assertEqual(head["figure"]["number"], number)
            self.assertEqual(head["schema"], "nearfar.results/1")
            self.assertEqual(list(head["statements"]), [head["benchmark"]])
            self.assertEqual(len(samples), head["records_expected"])
            for sample in samples:
                self.assertTrue(sample["verified"], sample)
                self.assertEqual(sample["figure"], number)
                self.assertTrue(head["figure"]["axis"] in sample["axes"] or head["figure"]["axis"] == "ranks", sample)
                self.assertIn(sample["container"], head["objects"]["container"])
                self.assertEqual(sample["parameters"]["initialisation"], sample["initialisation"])
        claims = records(folder / "claims.jsonl")
        self.assertEqual({one["claim"].split(":")[0] for one in claims}, set(NUMBERS) - {"2.6"})
        # A short run judges each claim that the machine can decide.
        found = {one["claim"].split(":")[0] for one in claims if one["found"]}
        self.assertLessEqual({"1.7", "1.8", "3.3", "3.4", "3.7", "3.8", "4.2", "4.3"}, found)
        # A trial decides nothing.
        self.assertEqual([one for one in claims if one["holds"] is not None], [])
        self.assertIn("<h2>Claims</h2>", page)

    def test_short_runs_that_are_no_trial_are_judged(self):
        """Together with a trial's results in the folder, which decide nothing; the page says which these are."""
        folder, _ = self.measured("--only", "1.7", "--threads", "1")
        ended = figures("--only", "1.8", "--min-time", "0.001", "--repetitions", "2", "--threads", "1", "--output", folder,
                        cwd=self.folder)  # fmt: skip
        self.assertEqual(ended.returncode, 0, ended.stderr)
        judged = {one["claim"].split(":")[0] for one in records(folder / "claims.jsonl") if one["holds"] is not None}
        self.assertEqual(judged, {"1.8"})
        self.assertIn("A part is a trial (--quick), with short runs: 1.7.", (folder / "index.html").read_text())

    def test_what_the_axes_show(self):
        folder, _ = self.measured("--only", "2.7,3.8,4.3", "--threads", "1,2")
        _, *of_chunks = records(folder / "figure-2.7.jsonl")
        self.assertTrue({0, 8, 512} <= {sample["chunk"] for sample in of_chunks})
        self.assertEqual({sample["threads"] for sample in of_chunks}, {1} if self.serial else {2})
        self.assertEqual({sample["container"] for sample in of_chunks}, {"array", "array.unaligned", "vector-numa"})
        _, *of_segments = records(folder / "figure-3.8.jsonl")
        self.assertEqual({sample["length"] for sample in of_segments}, {3**10})
        self.assertTrue({1, 3, 9, 81} <= {sample["segments"] for sample in of_segments})
        _, *of_grids = records(folder / "figure-4.3.jsonl")
        self.assertEqual({sample["threads"] for sample in of_grids}, {1} if self.serial else {1, 2})
        self.assertEqual({sample["decomposition"] for sample in of_grids}, {"horizontal"})
        self.assertEqual(
            {sample["container"] for sample in of_grids}, {"array", "vector", "vector-numa", "numa_vector", "segmented"}
        )

    def test_emulated_domains_are_said_to_be_emulated(self):
        shape = "pack:3 [numa] core:1 pu:1"
        folder, page = self.measured("--only", "2.2", "--emulate", shape)
        head, *samples = records(folder / "figure-2.2.jsonl")
        self.assertEqual({sample["placement"] for sample in samples}, {"bind:0 (refused)", "bind:1 (refused)"})
        self.assertEqual({sample["parameters"]["placement"] for sample in samples}, {"bind:0 (refused)", "bind:1 (refused)"})
        self.assertEqual({sample["pinning"] for sample in samples}, {"compact (refused)"})
        self.assertEqual({sample["axes"]["pinning"] for sample in samples}, {"compact (refused)"})
        notes = " ".join(head["figure"]["notes"])
        self.assertIn(f"emulated topology '{shape}'", notes)
        self.assertIn("Asked for and not had: ", notes)
        self.assertIn("bind", notes.split("not had: ")[1])
        trial, notice = (part.split("</div>")[0] for part in page.split('<div class="notice">')[1:3])
        self.assertIn("This is a trial (--quick)", trial)
        self.assertIn("emulated topology", notice)
        self.assertIn("3 NUMA domains", head["hardware"])

    def test_one_domain_is_said_in_the_page(self):
        folder, page = self.measured("--only", "2.4,1.7", HWLOC_SYNTHETIC="core:2 pu:1")
        notes = records(folder / "figure-2.4.jsonl")[0]["figure"]["notes"]
        self.assertTrue(notes[0].startswith("This machine has one NUMA domain: "), notes)
        self.assertIn(notes[0], page)
        self.assertIn("emulated topology", notes[1])
        whole = records(folder / "figure-1.7.jsonl")[0]["figure"]["notes"]
        self.assertFalse(any("one NUMA domain" in note for note in whole), whole)

    def test_pages_keep_figures_measured_before(self):
        self.measured("--only", "1.7", "--output", "f")
        _, page = self.measured("--only", "2.6", "--output", "f")
        self.assertIn("<h2>Figure 1.7: ", page)
        self.assertIn("<h2>Figure 2.6: ", page)

    def test_settings_are_kept(self):
        folder, _ = self.measured("--only", "1.7", "--repetitions", "3", "--seed", "7")
        head, *samples = records(folder / "figure-1.7.jsonl")
        self.assertEqual({sample["repetition"] for sample in samples}, {0, 1, 2})
        self.assertEqual(head["seed"], 7)

    def test_bad_input(self):
        self.assert_refused("--only", "2.77", saying=["figure '2.77' is unknown; did you mean '2.7'? choose one of: 1.7, 1.8, 2.2"])
        self.assert_refused("--only", "1.7,7.1.1.1", saying="1.7, 1.8, 2.2")
        self.assert_refused("--threads", "0", saying="--threads")
        self.assert_refused("--threads", "100000", saying=["--threads", "1 to 4096"])
        self.assert_refused("--repetitions", "0", saying="--repetitions")
        self.assert_refused("--min-time", "0", saying="--min-time")
        self.assert_refused("--quik", saying=["'--quik' is unknown", "did you mean '--quick'?"])
        self.assert_refused("--quick", "--only", "2.2", "--emulate", "nonsense", saying="nonsense")

    def test_unknown_publications_suggest_the_nearest(self):
        ended = subprocess.run(
            [COMMAND, "figures", "stengel2008"], capture_output=True, text=True, cwd=self.folder, check=False
        )
        self.assertEqual(ended.returncode, 2)
        self.assertIn("did you mean 'stengel2007'", ended.stderr)

    def test_nothing_of_someone_else_is_overwritten(self):
        (self.folder / "notes").write_text("mine\n")
        self.assert_refused("--quick", "--only", "1.7", "--output", "notes", saying="not a directory")
        page = self.folder / "page"
        page.mkdir()
        (page / "index.html").write_text("<html>mine</html>")
        self.assert_refused("--quick", "--only", "1.7", "--output", "page", saying="index.html: is no page of nearfar")
        (page / "index.html").unlink()
        (page / "figure-1.7.jsonl").write_text("mine\n")
        self.assert_refused("--quick", "--only", "1.7", "--output", "page", saying="figure-1.7.jsonl")
        self.assertEqual((page / "figure-1.7.jsonl").read_text(), "mine\n")


if __name__ == "__main__":
    unittest.main()
