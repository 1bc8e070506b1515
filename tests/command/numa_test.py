"""nearfar where and nearfar topo --pin: their output for this machine, for a described one, and for a system
that forbids the calls."""

import json
import os
import subprocess
import unittest

COMMAND = os.environ["NEARFAR_COMMAND"]
FORBID = os.environ["NEARFAR_FORBID_PLACEMENT"]
CONTAINERS = ["array", "vector", "vector-numa", "numa_vector", "segmented"]
DESCRIBED = {"HWLOC_SYNTHETIC": "pack:2 [numa] l3:1 core:2 pu:2"}
CPUS = sorted(os.sched_getaffinity(0))
PAGE = os.sysconf("SC_PAGESIZE")


def nearfar(*arguments, launcher=(), environment=None):
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("HWLOC_", "OMP_"))}
    return subprocess.run(
        [*launcher, COMMAND, *arguments],
        capture_output=True,
        text=True,
        env={**clean, **(environment or {})},
        stdin=subprocess.DEVNULL,
        check=False,
    )


class Commands(unittest.TestCase):
    def run_well(self, *arguments, **how):
        ended = nearfar(*arguments, **how)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return ended

    def shown(self, *arguments, **how):
        return json.loads(self.run_well(*arguments, "--json", **how).stdout)

    def assert_refused(self, *arguments, saying):
        ended = nearfar(*arguments)
        self.assertEqual(ended.returncode, 2, ended.stderr)
        self.assertEqual(ended.stdout, "")
        self.assertEqual(len(ended.stderr.splitlines()), 1, ended.stderr)
        for text in saying:
            self.assertIn(text, ended.stderr)


def kernel_tells():
    """Whether locate_pages() works here, tried on memory that is certainly touched."""
    found = json.loads(nearfar("where", "--containers", "array", "--json").stdout)
    return found["containers"][0]["on_domain"] is not None


class Where(Commands):
    def test_every_page_of_every_container_is_found(self):
        length = 200_000
        found = self.shown("where", "--length", "2e5", "--threads", "3")
        self.assertEqual(found["schema"], "nearfar-where-1")
        self.assertEqual([each["container"] for each in found["containers"]], CONTAINERS)
        self.assertEqual(found["length"], length)
        for each in found["containers"]:
            least = length * 8 // PAGE
            self.assertTrue(least <= each["pages"] <= least + 4, each)
            if not kernel_tells():
                self.assertIn("the kernel does not say where pages are", found["remarks"])
                continue
            self.assertEqual(each["untouched"], 0, each)
            self.assertEqual(each["unknown"], 0, each)
            self.assertEqual(len(each["on_domain"]), found["domains"])
            self.assertEqual(sum(each["on_domain"]), each["pages"])
            self.assertEqual(each["judged"], each["pages"])
            self.assertEqual(each["share"], each["right"] / each["judged"])
            if found["domains"] == 1:
                self.assertEqual(each["share"], 1.0)
        if kernel_tells() and found["domains"] == 1:
            self.assertTrue(any("1 NUMA domain" in remark for remark in found["remarks"]), found["remarks"])

    def test_who_initialises_is_shown(self):
        found = self.shown("where", "--init", "serial", "--chunk", "512", "--placement", "interleave", "--huge")
        self.assertEqual({each["init"] for each in found["containers"]}, {"serial"})
        self.assertEqual((found["chunk"], found["placement"]), (512, "interleave, huge pages"))
        ways = {each["container"]: each["init"] for each in self.shown("where")["containers"]}
        self.assertEqual(ways, {name: "serial" if name == "vector" else "parallel" for name in CONTAINERS})

    def test_text_has_a_line_for_each_container(self):
        lines = self.run_well("where", "--containers", "array,segmented", "--segments", "3").stdout.splitlines()
        rows = [line.split() for line in lines if not line.startswith("#")]
        self.assertEqual([row[0] for row in rows], ["array", "segmented"])
        self.assertEqual(rows[0][1], "parallel")

    def test_a_kernel_that_does_not_tell_is_mentioned_once(self):
        where = ["where", "--placement", "bind:0"]
        ended = nearfar(*where, launcher=[FORBID])
        if ended.returncode == 77:
            self.skipTest(ended.stderr)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(ended.stdout.count("the kernel does not say where pages are"), 1, ended.stdout)
        self.assertEqual(ended.stderr.count("move_pages: Operation not permitted"), 1, ended.stderr)
        self.assertEqual(ended.stderr.count("cannot bind memory"), 1, ended.stderr)
        found = self.shown(*where, launcher=[FORBID])
        self.assertEqual(len(found["problems"]), 2)
        for each in found["containers"]:
            self.assertGreater(each["pages"], 0)
            self.assertTrue(all(each[name] is None for name in ["untouched", "on_domain", "right", "share"]), each)

    def test_on_a_described_machine_no_page_is_right(self):
        found = self.shown("where", environment=DESCRIBED)
        self.assertEqual(found["domains"], 2)
        self.assertEqual(found["pinning"], "none")
        for each in found["containers"]:
            self.assertIsNone(each["share"])
        if kernel_tells():
            self.assertTrue(all(each["unknown"] == each["pages"] for each in found["containers"]), found)

    def test_bad_input_is_one_line(self):
        self.assert_refused("where", "--containers", "vecor", saying=["'vecor'", "did you mean 'vector'"])
        self.assert_refused("where", "--chunk", "7", saying=["--chunk 7", "0, 8, 64"])
        self.assert_refused("where", "--length", "0", saying=["--length"])
        self.assert_refused("where", "--length", "1e12", saying=["needs", "MiB are free"])
        self.assert_refused("where", "--chunk", "-5", saying=["--chunk", "'-5'"])
        for segments in ["-1", "0"]:
            self.assert_refused("where", "--segments", segments, saying=["--segments", f"'{segments}'"])
        for threads in ["0", "100000"]:
            self.assert_refused("where", "--threads", threads, saying=["--threads", "1 to 4096"])
        self.assert_refused("where", "--placement", "first-touch:0", saying=["first-touch:0", "bind and interleave"])
        self.assert_refused("where", "--init", "paralel", saying=["did you mean 'parallel'"])
        self.assert_refused("where", "--placement", "bind", saying=["bind:0"])
        self.assert_refused("where", "--placement", "bind:9999", saying=["'9999'"])
        self.assert_refused("where", "--pin", "compct", saying=["'compct'", "compact, scatter"])


class Pinning(Commands):
    def setUp(self):
        if "without OpenMP" in (self.shown("topo", "--threads", "2")["problem"] or ""):
            self.skipTest("built without OpenMP: there is 1 thread")

    def threads(self, *arguments, **how):
        return self.shown("topo", *arguments, **how)["threads"]

    def test_threads_are_where_the_list_says(self):
        threads = self.threads("--pin", f"{CPUS[-1]},{CPUS[0]}", "--threads", "3")
        self.assertEqual([each["cpus"] for each in threads], [[CPUS[-1]], [CPUS[0]], [CPUS[-1]]])
        self.assertEqual(threads[0]["binding"], threads[2]["binding"])
        self.assertTrue(all(each["binding"].startswith("core ") for each in threads), threads)
        self.assertTrue(all(each["numa"] is not None for each in threads), threads)
        if len(CPUS) == 2:
            self.assertNotEqual(threads[0]["cpus"], threads[1]["cpus"])

    def test_the_binding_is_what_the_system_says(self):
        taskset = ["taskset", "-c", str(CPUS[-1])]
        (thread,) = self.threads("--pin", "compact", launcher=taskset)
        self.assertEqual(thread["cpus"], [CPUS[-1]])
        alone = self.threads("--threads", "2", launcher=taskset)
        self.assertEqual([each["cpus"] for each in alone], [[], []])
        self.assertEqual({each["binding"] for each in alone}, {thread["binding"]})

    def test_text_has_a_line_for_each_thread(self):
        text = self.run_well("topo", "--pin", "scatter", "--threads", "2").stdout
        self.assertIn("pinning scatter of 2 threads:", text)
        self.assertIn(f"  thread 0: CPU {CPUS[0]}: core ", text)

    def test_a_described_machine_shows_the_order_and_binds_nobody(self):
        shown = self.shown("topo", "--pin", "scatter", "--threads", "9", environment=DESCRIBED)
        self.assertEqual([each["cpus"][0] for each in shown["threads"]], [0, 4, 2, 6, 1, 5, 3, 7, 0])
        self.assertTrue(all(each["binding"] is None for each in shown["threads"]), shown)
        self.assertIn("describes another machine", shown["problem"])
        text = self.run_well("topo", "--pin", "numa", "--threads", "2", environment=DESCRIBED).stdout
        self.assertIn("thread 1: CPUs 4,5,6,7: not bound", text)

    def test_bad_input_is_one_line(self):
        self.assert_refused("topo", "--pin", "sideways", saying=["'sideways'", "compact"])
        self.assert_refused("topo", "--pin", str(CPUS[-1] + 1000), saying=[f"CPU {CPUS[-1] + 1000}", "may not use"])
        for threads in ["0", "100000"]:
            self.assert_refused("topo", "--pin", "compact", "--threads", threads, saying=["--threads", "1 to 4096"])
        self.assert_refused("topo", "--pin", "compact", "--ranks", "2", saying=["--ranks"])


if __name__ == "__main__":
    unittest.main()
