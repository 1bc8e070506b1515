"""All that README.md says, in its order: build, install, use in each language, measure, report, check.

The test begins with an empty prefix, and takes its commands from README.md and from the documents that README.md names
for them. Two things stand in for what the tests have already done: the build under test for `make build`, and the tree
for the repository that FetchContent would clone.
"""

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["NEARFAR_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["NEARFAR_BUILD_DIR"])
MPI = os.environ["NEARFAR_MPI_NAME"]
MPI_COMPILER = os.environ["NEARFAR_MPI_COMPILER"]
COMPILER = os.environ["NEARFAR_COMPILER"]
LAUNCHER = os.environ.get("NEARFAR_COMPILER_LAUNCHER", "")
README = (SOURCE / "README.md").read_text()
PACKAGES = (SOURCE / "docs/packages.md").read_text()
LANGUAGES = (SOURCE / "docs/languages.md").read_text()
PERFORMANCE = (SOURCE / "docs/performance.md").read_text()
COUNTED = "4 ranks counted to 400"


def blocks(text, language=""):
    found = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [block for of, block in found if of == language]


def commands(text):
    """The command lines in blocks without a language, without their comments."""
    lines = [line.split("  #")[0].strip() for block in blocks(text) for line in block.splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


class Readme(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        place = tempfile.TemporaryDirectory(prefix="nearfar-readme-")
        cls.addClassCleanup(place.cleanup)
        cls.folder = pathlib.Path(place.name)
        cls.prefix = cls.folder / "prefix"

    def shell(self, command, cwd=None, **environment):
        """Runs a command as it is shown, and returns what it prints."""
        ended = subprocess.run(
            ["bash", "-c", command], cwd=cwd or self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, check=False, env={**os.environ, "LC_ALL": "C", **environment},
        )  # fmt: skip
        self.assertEqual(ended.returncode, 0, f"{command}\n{ended.stdout}")
        return ended.stdout

    def only(self, text, pattern):
        """The one command of a document that matches."""
        found = [line for line in commands(text) if re.search(pattern, line)]
        self.assertEqual(len(found), 1, f"{pattern}: {found}")
        return found[0]

    def here(self, command):
        """A command of the documents with the installed command, this MPI library, and this tree's scripts."""
        installed = command.replace("build/nearfar-mpich", "build/nearfar").replace("build/nearfar", str(self.prefix / "bin/nearfar"))
        return re.sub(r"\b(openmpi|mpich)\b", MPI, installed).replace("scripts/", f"{SOURCE}/scripts/")

    def ranks(self, number, program, **environment):
        return self.shell(f"{SOURCE}/scripts/run-mpi --mpi {MPI} --ranks {number} -- {program}", **environment)

    def project(self, text, languages, program):
        """Builds a project with a CMake block of the documents, and returns the folder of its program."""
        project = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        shutil.copy(SOURCE / "examples" / program, project)
        head = f"cmake_minimum_required(VERSION 3.25)\nproject(mine LANGUAGES {languages})\n"
        add = f"add_executable(program {pathlib.Path(program).name})\n"
        before, link, after = text.partition("target_link_libraries")
        (project / "CMakeLists.txt").write_text(head + before + add + link + after)
        compilers = {"CXX": "mpicxx", "C": "mpicc", "Fortran": "mpifort"}
        options = [f"-DMPI_{one}_COMPILER={MPI_COMPILER.replace('mpicxx', compilers[one])}" for one in languages.split()]
        options += [f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DCMAKE_CXX_COMPILER={COMPILER}", f"-DCMAKE_CXX_COMPILER_LAUNCHER={LAUNCHER}"]
        self.shell(shlex.join(["cmake", "-G", "Ninja", "-S", str(project), "-B", str(project / "build"), "-DCMAKE_BUILD_TYPE=Debug",
                               "-DCMAKE_CXX_FLAGS_DEBUG=-O0", *options]))  # fmt: skip
        self.shell(f"cmake --build {project}/build -j 2")
        return project / "build"

    def test_1_build_and_install(self):
        makes = {line for line in commands(README) if line.startswith("make ")}
        self.assertEqual(makes, {"make bench", "make build"})
        presets = json.loads((SOURCE / "CMakePresets.json").read_text())["buildPresets"]
        (release,) = (preset for preset in presets if preset["name"] == "release-openmpi")
        self.shell(shlex.join(["cmake", "--build", str(BUILD), "--target", *release["targets"]]))
        install = self.only(PACKAGES, "^cmake --install build/release-openmpi")
        self.shell(install.replace("build/release-openmpi", str(BUILD)).replace("DIR", str(self.prefix)))
        said = self.shell(f"{self.prefix}/bin/nearfar --help")
        for subcommand in set(re.findall(r"`(?:build/)?nearfar (\w+)", README)):
            self.assertRegex(said, rf"\n +{subcommand}\b")
        for name in ("pthread", f"pmpi_{MPI}", f"c_{MPI}"):
            self.assertTrue((self.prefix / f"lib/libnearfar_{name}.so").exists(), name)

    def test_2_doctor(self):
        (doctor,) = re.findall(r"`(scripts/run-mpi [^`]* doctor)`", README)
        self.assertIn("\n", self.shell(self.here(doctor)))

    def test_3_check(self):
        """The output is that of the README, apart from the time."""
        command = self.only(README, "^build/nearfar check")
        shown = next(line for block in blocks(README) for line in block.splitlines() if line.startswith("mcs "))
        said = self.shell(self.here(command))

        def without_time(line):
            lock, mode, executions, pruned, steps, _, *result = line.split()
            return [lock, mode, executions, pruned, steps, *result]

        found = [without_time(line) for line in said.splitlines() if line.startswith("mcs ")]
        self.assertEqual(found, [without_time(shown)], said)

    def test_4_cpp_by_fetch_content(self):
        (text,) = blocks(README, "cmake")
        self.assertIn("GIT_REPOSITORY REPOSITORY GIT_TAG main", text)
        program = self.project(
            text.replace("GIT_REPOSITORY REPOSITORY GIT_TAG main", f'SOURCE_DIR "{SOURCE}"'), "CXX", "protected_counter.cpp"
        )
        self.assertIn(COUNTED, self.ranks(4, program / "program"))

    def test_5_each_language_by_cmake(self):
        of_cpp = [text for text in blocks(PACKAGES, "cmake") if "COMPONENTS mpi" in text]
        of_others = blocks(LANGUAGES, "cmake")
        self.assertEqual((len(of_cpp), len(of_others)), (1, 2))
        for text, language, program in (
            (of_cpp[0], "CXX", "protected_counter.cpp"),
            (of_others[0], "C", "c/protected_counter.c"),
            (of_others[1], "Fortran", "fortran/protected_counter.f90"),
        ):
            with self.subTest(language):
                self.assertIn(COUNTED, self.ranks(4, self.project(text, language, program) / "program"))

    def test_6_each_language_by_pkg_config(self):
        library = self.prefix / "lib"
        environment = {"PKG_CONFIG_PATH": f"{library}/pkgconfig:{os.environ.get('PKG_CONFIG_PATH', '')}"}
        for document, pattern, program in (
            (PACKAGES, r"^c\+\+ .*pkg-config", "protected_counter.cpp"),
            (LANGUAGES, r"^cc .*pkg-config", "c/protected_counter.c"),
            (LANGUAGES, r"^mpifort.*pkg-config", "fortran/protected_counter.f90"),
        ):
            with self.subTest(program):
                folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
                shutil.copy(SOURCE / "examples" / program, folder / f"program{pathlib.Path(program).suffix}")
                self.shell(f"{self.here(self.only(document, pattern))} -Wl,-rpath,{library}", folder, **environment)
                self.assertIn(COUNTED, self.ranks(4, folder / "a.out"))

    def test_7_python(self):
        environment = {"PYTHONPATH": str(SOURCE / "python"), "NEARFAR_LIBRARY": str(self.prefix / f"lib/libnearfar_c_{MPI}.so")}
        program = f"{SOURCE}/scripts/mpi-python {MPI} {SOURCE}/examples/python/protected_counter.py"
        self.assertIn("2 ranks counted to 200", self.ranks(2, program, **environment))

    def test_8_preload(self):
        preload = f"LD_PRELOAD={self.prefix}/lib/libnearfar_pthread.so"
        self.shell(f"{preload} xz -0 -T2 --block-size=10000 <{SOURCE}/README.md | {preload} xz -dc -T2 | cmp - {SOURCE}/README.md")

    def test_9_measure_simulate_and_report(self):
        short = "--duration 0.01 --repetitions 2"
        measure = self.only(PERFORMANCE, r"^scripts/run-mpi .* --output one\.jsonl$")
        self.shell(f"{self.here(measure)} {short}")
        simulate = f"sim ecsb --locks cohort --nodes 2 --ranks-per-node 2 {short} --output two.jsonl"
        self.shell(f"{self.prefix}/bin/nearfar {simulate}")
        report = self.only(PERFORMANCE, r"^build/nearfar report one\.jsonl two\.jsonl --output page$")
        self.assertEqual(self.shell(self.here(report)).splitlines()[-1], "page/index.html")
        page = (self.folder / "page/index.html").read_text()
        self.assertIn("rma_mcs", page)
        self.shell(self.here(self.only(PERFORMANCE, r"^build/nearfar report --csv")))
        self.assertIn("rma_mcs", (self.folder / "all.csv").read_text())
        self.assertIn("cohort", self.shell(f"{self.prefix}/bin/nearfar list"))
        self.assertIn("%", self.shell(f"{self.prefix}/bin/nearfar where"))


if __name__ == "__main__":
    unittest.main()
