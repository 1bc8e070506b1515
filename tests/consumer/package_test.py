"""The installed package as other projects meet it: by CMake and its components, by pkg-config, with an older C++."""

import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import textwrap
import unittest

SOURCE = pathlib.Path(os.environ["NEARFAR_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["NEARFAR_BUILD_DIR"])
CONFIG = os.environ["NEARFAR_CONFIG"]
COMPILER = os.environ["NEARFAR_COMPILER"]
LAUNCHER = os.environ["NEARFAR_COMPILER_LAUNCHER"]
MPI = os.environ["NEARFAR_MPI_NAME"]
MPI_COMPILER = os.environ["NEARFAR_MPI_COMPILER"]
CONSUMERS = SOURCE / "tests/consumer"
PROGRAMS = {
    "nearfar": CONSUMERS / "threads_consumer.cpp",
    "containers": CONSUMERS / "containers_consumer.cpp",
    "engine": SOURCE / "examples/checked_queue.cpp",
    "mpi": CONSUMERS / "mpi_consumer.cpp",
    "c": SOURCE / "examples/c/protected_counter.c",
    "fortran": SOURCE / "examples/fortran/protected_counter.f90",
}
OTHER = {"openmpi": "mpich", "mpich": "openmpi"}
NEEDED = {"nearfar": None, "containers": "OpenMP", "engine": "Boost", "mpi": "MPI"}

NO_SYSTEM_PATHS = ["-DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF", "-DCMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH=OFF"]


def run(*command, environment=None, cwd=None):
    return subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "LC_ALL": "C", **(environment or {})},
        stdin=subprocess.DEVNULL,
        check=False,
    )


def of_language(mpicxx, name):
    """The compiler of another language of the same MPI library."""
    path = pathlib.Path(mpicxx)
    return path.with_name(path.name.replace("mpicxx", name))


def options():
    return [
        "--no-warn-unused-cli", "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={shutil.which('ninja')}", f"-DCMAKE_BUILD_TYPE={CONFIG}", f"-DCMAKE_CXX_COMPILER={COMPILER}",
        f"-DCMAKE_CXX_COMPILER_LAUNCHER={LAUNCHER}", f"-DMPI_CXX_COMPILER={MPI_COMPILER}",
    ]  # fmt: skip


class Package(unittest.TestCase):
    """With an installation in `prefix`."""

    @classmethod
    def setUpClass(cls):
        cls._folder = tempfile.TemporaryDirectory(prefix="nearfar package ")  # users' paths may have a blank, too
        cls.addClassCleanup(cls._folder.cleanup)
        cls.folder = pathlib.Path(cls._folder.name)
        cls.prefix = cls.folder / "prefix"
        cls.install()

    @classmethod
    def install(cls):
        cls.succeed("cmake", "--install", BUILD, "--prefix", cls.prefix, "--config", CONFIG)

    @classmethod
    def succeed(cls, *command, environment=None, cwd=None):
        ended = run(*command, environment=environment, cwd=cwd)
        if ended.returncode != 0:
            raise AssertionError(f"{command} ended with {ended.returncode}:\n{ended.stdout}")
        return ended.stdout

    def run_program(self, of, program, environment=None):
        launcher = [SOURCE / "scripts/run-mpi", "--mpi", MPI, "--ranks", "2", "--"] if of in ("mpi", "c", "fortran") else []
        self.succeed(*launcher, program, environment=environment)

    def configure(self, text, *arguments, language="CXX"):
        """Configures a project with this text. Returns the result of CMake and the folder."""
        project = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        (project / "CMakeLists.txt").write_text(
            f"cmake_minimum_required(VERSION 3.25)\nproject(consumer LANGUAGES {language})\n" + textwrap.dedent(text)
        )
        build = project / "build"
        place = f"-DCMAKE_PREFIX_PATH={self.prefix}"
        return run("cmake", "-S", project, "-B", build, *options(), place, *arguments), build

    def build_component(self, component, *disabled, more=()):
        """A program that uses the component in a project that asks for no other, without these packages."""
        asked = "" if component == "nearfar" else f"COMPONENTS {component}"
        ended, build = self.configure(
            f"""
            find_package(nearfar 0.1 REQUIRED {asked})
            foreach(other containers engine mpi)
              if(TARGET nearfar::${{other}} AND "{asked}" AND NOT other STREQUAL "{component}")
                message(FATAL_ERROR "${{other}}, which was not asked for, is there")
              endif()
            endforeach()
            add_executable(program "{PROGRAMS[component]}")
            target_link_libraries(program PRIVATE nearfar::{component})
            """,
            *(f"-DCMAKE_DISABLE_FIND_PACKAGE_{package}=ON" for package in disabled),
            *more,
        )
        self.assertEqual(ended.returncode, 0, ended.stdout)
        self.succeed("cmake", "--build", build, "-j", "1")
        self.run_program(component, build / "program")
        return build / "program"


class Components(Package):
    """Each component needs its own packages only: not those of the others, and not pkg-config."""

    def assert_needs_only_its_own(self, component):
        others = {package for package in NEEDED.values() if package and package != NEEDED[component]}
        self.build_component(component, "PkgConfig", *others)

    def test_containers(self):
        self.assert_needs_only_its_own("containers")

    def test_engine(self):
        self.assert_needs_only_its_own("engine")

    def test_mpi(self):
        self.assert_needs_only_its_own("mpi")

    def configure_c(self, *arguments):
        return self.configure(
            f"""
            find_package(nearfar 0.1 REQUIRED COMPONENTS c)
            if(TARGET nearfar::nearfar)
              message(FATAL_ERROR "what needs C++ is there")
            endif()
            add_executable(program "{PROGRAMS["c"]}")
            target_link_libraries(program PRIVATE nearfar::c)
            """,
            *(f"-DCMAKE_DISABLE_FIND_PACKAGE_{package}=ON" for package in ("PkgConfig", "OpenMP", "Boost", "Threads")),
            *arguments,
            language="C",
        )

    def test_c_in_a_project_of_c_alone(self):
        ended, build = self.configure_c(f"-DMPI_C_COMPILER={of_language(MPI_COMPILER, 'mpicc')}")
        self.assertEqual(ended.returncode, 0, ended.stdout)
        self.succeed("cmake", "--build", build, "-j", "1")
        self.run_program("c", build / "program")

    def test_fortran_in_a_project_of_fortran_alone(self):
        ended, build = self.configure(
            f"""
            find_package(nearfar 0.1 REQUIRED COMPONENTS fortran)
            add_executable(program "{PROGRAMS["fortran"]}")
            target_link_libraries(program PRIVATE nearfar::fortran)
            """,
            f"-DMPI_Fortran_COMPILER={of_language(MPI_COMPILER, 'mpifort')}",
            language="Fortran",
        )
        self.assertEqual(ended.returncode, 0, ended.stdout)
        self.succeed("cmake", "--build", build, "-j", "1")
        self.run_program("fortran", build / "program")

    @unittest.skipUnless(MPI in OTHER, "it is known for Debian's two libraries alone what the other one is")
    def test_c_for_another_mpi_library_says_so(self):
        ended, _ = self.configure_c(f"-DMPI_C_COMPILER=mpicc.{OTHER[MPI]}")
        self.assertNotEqual(ended.returncode, 0, ended.stdout)
        self.assertIn(f"it is installed for {MPI}, but not for {OTHER[MPI]}", " ".join(ended.stdout.split()))

    def test_none_is_all_that_can_be_had(self):
        self.build_component("nearfar", "PkgConfig", *filter(None, NEEDED.values()))

    def test_one_may_be_asked_for_after_another(self):
        ended, _ = self.configure(
            """
            find_package(nearfar REQUIRED COMPONENTS engine)
            find_package(nearfar REQUIRED COMPONENTS containers)
            find_package(nearfar REQUIRED COMPONENTS mpi engine)
            find_package(nearfar REQUIRED)
            get_target_property(linked nearfar::nearfar INTERFACE_LINK_LIBRARIES)
            if(NOT "${linked}" MATCHES "OpenMP" OR "${linked}" MATCHES "OpenMP.*OpenMP::.*OpenMP::")
              message(FATAL_ERROR "${linked}")
            endif()
            foreach(name nearfar mpi containers engine)
              if(NOT TARGET nearfar::${name})
                message(FATAL_ERROR "no ${name}")
              endif()
            endforeach()
            """
        )
        self.assertEqual(ended.returncode, 0, ended.stdout)


    def test_all_from_one_installation(self):
        """Each component that the documents name, in one project, and a program of each."""
        ended, build = self.configure(
            "\n".join(
                ["find_package(nearfar 0.1 REQUIRED COMPONENTS mpi containers engine c fortran)",
                 *(f'add_executable({of} "{source}")\ntarget_link_libraries({of} PRIVATE nearfar::{of})'
                   for of, source in PROGRAMS.items())]
            ),
            f"-DMPI_C_COMPILER={of_language(MPI_COMPILER, 'mpicc')}",
            f"-DMPI_Fortran_COMPILER={of_language(MPI_COMPILER, 'mpifort')}",
            language="CXX C Fortran",
        )  # fmt: skip
        self.assertEqual(ended.returncode, 0, ended.stdout)
        self.succeed("cmake", "--build", build, "-j", "1")
        for of in PROGRAMS:
            self.run_program(of, build / of)


class Installed(unittest.TestCase):
    """The installation has what it claims, and `make build` builds it all."""

    def installed(self):
        """The files of the build that are installed, except those that are left out if they do not exist."""
        found = set()
        for script in BUILD.rglob("cmake_install.cmake"):
            within = script.relative_to(BUILD).parents
            if any((BUILD / folder / "CMakeCache.txt").exists() for folder in within if folder != pathlib.Path()):
                continue  # of a project that another test builds
            text = script.read_text()
            for options, files in re.findall(r'file\(INSTALL DESTINATION ("[^"]*"[^(]*?)FILES((?:\s+"[^"]*")+)', text):
                self.assertNotIn("OPTIONAL", options, f"{script}: {files}")
                if re.search(r"TYPE (EXECUTABLE|MODULE|SHARED_LIBRARY|STATIC_LIBRARY)\b", options):
                    found |= {pathlib.Path(file).relative_to(BUILD) for file in re.findall(r'"([^"]*)"', files)}
        return found

    def test_make_build_builds_what_is_installed(self):
        presets = json.loads((SOURCE / "CMakePresets.json").read_text())["buildPresets"]
        release = [preset for preset in presets if preset["name"].startswith("release-")]
        self.assertGreater(len(release), 1)
        installed = self.installed()
        names = " ".join(map(str, installed))
        for part in (f"libnearfar_c_{MPI}.so", "libnearfar.a", "libnearfar_engine.a", "libnearfar_pthread.so", f"libnearfar_pmpi_{MPI}.so"):
            self.assertIn(part, names)
        # Files that one rule makes: a library, and the links to it.
        rules = [line[6:].split(": ") for line in (BUILD / "build.ninja").read_text().splitlines() if line.startswith("build ")]
        together = [set(rule[0].split(" | ")[0].split()) for rule in rules]
        alias = {rule[0]: rule[1].split()[1:] for rule in rules if rule[1].startswith("phony ")}
        for preset in release:
            ended = run("ninja", "-C", BUILD, "-t", "inputs", *preset["targets"])
            self.assertEqual(ended.returncode, 0, ended.stdout)
            built = {*ended.stdout.splitlines(), *(file for target in preset["targets"] for file in alias[target])}
            for files in together:
                built |= files if files & built else set()
            self.assertEqual({str(file) for file in installed} - built, set(), preset["name"])

    def test_make_bench_builds_locks_alone(self):
        self.assertRegex((SOURCE / "scripts/bench").read_text(), r'build_preset "release-\$library" --target nearfar_locks ')


class Reasons(Package):
    """The message if the package is not found, and the cases without a message."""

    CASES = {
        "mpi": ("MPI", ["no MPI library was found", "MPI_CXX_COMPILER"]),
        "containers": ("OpenMP", ["no OpenMP was found", "NEARFAR_OPENMP=OFF"]),
        "engine": ("Boost", ["Boost.Context was not found", "libboost-context-dev"]),
        "engin": ("", ["there is no such component", "mpi, containers, engine, c and fortran"]),
    }

    def test_a_required_component_that_is_missing_says_why(self):
        for component, (package, said) in self.CASES.items():
            with self.subTest(component):
                ended, _ = self.configure(
                    f"find_package(nearfar REQUIRED COMPONENTS {component})",
                    f"-DCMAKE_DISABLE_FIND_PACKAGE_{package}=ON",
                )
                self.assertNotEqual(ended.returncode, 0, ended.stdout)
                for text in [f"without component {component}", *said]:
                    self.assertIn(text, " ".join(ended.stdout.split()))

    def test_an_optional_package_says_why_or_is_quiet(self):
        for quiet in ("", "QUIET"):
            ended, _ = self.configure(
                f"""
                find_package(nearfar {quiet} COMPONENTS mpi)
                if(nearfar_FOUND OR TARGET nearfar::mpi)
                  message(FATAL_ERROR "found")
                endif()
                """,
                "-DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON",
            )
            self.assert_says("no MPI library was found", ended, not quiet)

    def test_a_quiet_one_that_is_found_says_nothing(self):
        ended, _ = self.configure("find_package(nearfar REQUIRED QUIET COMPONENTS mpi containers engine)")
        self.assertEqual(ended.returncode, 0, ended.stdout)
        self.assertNotRegex(ended.stdout, "Found|Checking for module")

    def test_an_optional_component_says_why_or_is_quiet(self):
        for quiet in ("", "QUIET"):
            ended, _ = self.configure(
                f"""
                find_package(nearfar REQUIRED {quiet} COMPONENTS containers OPTIONAL_COMPONENTS mpi)
                if(nearfar_mpi_FOUND OR NOT nearfar_containers_FOUND OR NOT nearfar_FOUND)
                  message(FATAL_ERROR "${{nearfar_mpi_FOUND}} ${{nearfar_containers_FOUND}} ${{nearfar_FOUND}}")
                endif()
                """,
                "-DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON",
            )
            self.assert_says("without component mpi: no MPI library was found", ended, not quiet)

    def test_a_library_that_is_built_without_a_word_is_optimised(self):
        build = self.folder / "without a word"
        self.succeed("cmake", "-S", SOURCE, "-B", build, "-DNEARFAR_DEVELOPER=OFF", "-DNEARFAR_MPI=OFF")
        cache = (build / "CMakeCache.txt").read_text().splitlines()
        self.assertEqual([line for line in cache if line.startswith("CMAKE_BUILD_TYPE:")], ["CMAKE_BUILD_TYPE:STRING=Release"])

    def test_a_component_that_was_not_built_says_how_to_build_it(self):
        """By the package's file of a folder that was only configured, beside empty files in place of the others."""
        build = self.folder / "little"
        self.succeed("cmake", "-S", SOURCE, "-B", build, *options(), "-DNEARFAR_DEVELOPER=OFF", "-DNEARFAR_ENGINE=OFF",
                     "-DNEARFAR_C=OFF", "-DBUILD_SHARED_LIBS=ON", f"-DNEARFAR_MPI_NAME={MPI}")  # fmt: skip
        (build / "library.cmake").touch()
        for component, cure in (("engine", "-D NEARFAR_ENGINE=ON"), ("c", "-D NEARFAR_MPI=ON -D NEARFAR_C=ON")):
            ended, _ = self.configure(
                f"find_package(nearfar REQUIRED COMPONENTS {component} NO_DEFAULT_PATH PATHS \"{build}\")"
            )
            self.assertNotEqual(ended.returncode, 0)
            self.assertIn(f"without component {component}: this nearfar was built without it", " ".join(ended.stdout.split()))
            self.assertIn(cure, " ".join(ended.stdout.split()))

    def test_libraries_without_boost_have_no_engine_and_say_so(self):
        build = self.folder / "without boost"
        said = self.succeed("cmake", "-S", SOURCE, "-B", build, *options(), "-DNEARFAR_DEVELOPER=OFF", "-DNEARFAR_MPI=OFF",
                            "-DCMAKE_DISABLE_FIND_PACKAGE_Boost=ON")  # fmt: skip
        self.assertIn("No nearfar::engine: Boost.Context was not found", said)

    @unittest.skipUnless(MPI in OTHER, "it is known for Debian's two libraries alone what the other one is")
    def test_a_build_folder_is_for_one_mpi_library(self):
        build = self.folder / "two libraries"
        configure = ["cmake", "-S", SOURCE, "-B", build, *options(), "-DNEARFAR_DEVELOPER=OFF"]
        self.succeed(*configure, f"-DNEARFAR_MPI_NAME={MPI}")
        ended = run(*configure, f"-DNEARFAR_MPI_NAME={OTHER[MPI]}", f"-DMPI_CXX_COMPILER=mpicxx.{OTHER[MPI]}")
        self.assertNotEqual(ended.returncode, 0, ended.stdout)
        self.assertIn("in a folder of its own", " ".join(ended.stdout.split()))

    def test_hwloc_that_is_missing_is_named(self):
        nowhere = ["-DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON", *NO_SYSTEM_PATHS]
        ended, _ = self.configure("find_package(nearfar REQUIRED COMPONENTS mpi)", *nowhere)
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("hwloc was not found: install it", " ".join(ended.stdout.split()))

    def assert_says(self, text, ended, is_said):
        self.assertEqual(ended.returncode, 0, ended.stdout)
        said = " ".join(ended.stdout.split())
        if is_said:
            self.assertIn(text, said)
        else:
            for word in ("nearfar", "Reason", "Warning", "Could NOT", "Found MPI", "Found OpenMP"):
                self.assertNotIn(word, said.replace("nearfar package ", ""))  # of the folder


class PkgConfig(Package):
    """Programs built by a compiler and pkg-config alone, with a static library."""

    LIBRARY = "libnearfar.a"

    def flags(self, *arguments):
        places = [str(path) for path in self.prefix.rglob("pkgconfig")]
        self.assertEqual(len(places), 1, places)
        known = os.environ.get("PKG_CONFIG_PATH", "")
        # As a shell reads the output of pkg-config.
        words = self.succeed("sh", "-c", 'eval "set -- $(pkg-config "$@")"; printf "%s\\n" "$@"', "sh", *arguments,
                             environment={"PKG_CONFIG_PATH": f"{places[0]}:{known}"})  # fmt: skip
        return words.splitlines()

    def build(self, of, package, compiler=COMPILER, sources=()):
        """Builds and runs a program. Returns the libraries that it was linked with."""
        program = pathlib.Path(tempfile.mkdtemp(dir=self.folder)) / of
        standard = "-std=c11" if of == "c" else "-std=c++20"
        self.succeed(compiler, standard, PROGRAMS[of], *sources, "-o", program, *self.flags("--cflags", "--libs", package))
        libraries = {path.parent for path in self.prefix.rglob("libnearfar*")} | {pathlib.Path(MPI_COMPILER).parent.parent / "lib"}
        environment = {"LD_LIBRARY_PATH": os.pathsep.join(map(str, libraries))}
        self.run_program(of, program, environment)
        return self.succeed("ldd", program, environment=environment)

    def test_each_program_links(self):
        self.assertTrue(list(self.prefix.rglob(self.LIBRARY)))
        for of in ("nearfar", "containers"):
            linked = self.build(of, "nearfar")
            self.assertEqual("libnearfar" in linked, self.LIBRARY.endswith(".so"), linked)

    def test_mpi_programs_link_what_was_compiled_for_their_library(self):
        # With another launcher each rank would be alone, and print that.
        self.build("mpi", f"nearfar-mpi-{MPI}")

    def test_mpi_programs_compile_the_part_for_any_library(self):
        folder = pathlib.Path(*self.flags("--variable=mpi_sources", "nearfar"))
        self.build("mpi", "nearfar", MPI_COMPILER, sorted(folder.glob("*.cpp")))

    def test_c_programs_need_a_c_compiler_and_the_one_library(self):
        linked = self.build("c", f"nearfar-c-{MPI}", "cc")
        self.assertIn(f"libnearfar_c_{MPI}.so.0.1", linked)

    def test_c_programs_know_where_the_library_is_if_they_are_told(self):
        program = pathlib.Path(tempfile.mkdtemp(dir=self.folder)) / "c"
        place = f"-Wl,-rpath,{self.c_library().parent}"
        self.succeed("cc", "-std=c11", PROGRAMS["c"], "-o", program, *self.flags("--cflags", "--libs", f"nearfar-c-{MPI}"), place)
        self.run_program("c", program)

    def test_fortran_programs_compile_the_module(self):
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        source = self.flags("--variable=fortran_source", f"nearfar-c-{MPI}")
        self.succeed(of_language(MPI_COMPILER, "mpifort"), *source, PROGRAMS["fortran"], *self.flags("--libs", f"nearfar-c-{MPI}"),
                     cwd=folder)  # fmt: skip
        self.run_program("fortran", folder / "a.out", {"LD_LIBRARY_PATH": str(self.c_library().parent)})

    def c_library(self):
        (library,) = self.prefix.rglob(f"libnearfar_c_{MPI}.so")
        return library

    def test_version_and_private_parts(self):
        self.assertEqual(self.flags("--modversion", "nearfar"), [self.version()])
        libs = self.flags("--libs", "nearfar")
        static = self.flags("--static", "--libs", "nearfar")
        # A static library does not bring its own dependencies; a shared one does.
        self.assertEqual("-lhwloc" in libs, self.LIBRARY.endswith(".a"), libs)
        self.assertEqual(self.names_openmp(libs), self.LIBRARY.endswith(".a"), libs)
        self.assertIn("-lhwloc", static)
        self.assertTrue(self.names_openmp(static), static)

    @staticmethod
    def names_openmp(flags):
        """GCC's library by name, clang's by its path."""
        return any(flag == "-lgomp" or flag.endswith("/libomp.so") for flag in flags)

    def test_the_engine(self):
        self.build("engine", "nearfar-engine")

    def test_documents_are_there(self):
        for name in ("README.md", "LICENSE", "CHANGELOG.md", "docs/numa.md", "examples/threads_lock.cpp"):
            self.assertTrue((self.prefix / "share/doc/nearfar" / name).is_file(), name)

    @staticmethod
    def version():
        for line in (SOURCE / "CMakeLists.txt").read_text().splitlines():
            words = line.split()
            if words[:1] == ["VERSION"]:
                return words[1]
        raise AssertionError("no version in CMakeLists.txt")


class SharedLibrary(PkgConfig):
    """The same with a shared library, from a build of the libraries alone; projects then need fewer packages."""

    LIBRARY = "libnearfar.so"

    @classmethod
    def install(cls):
        build = cls.folder / "shared"
        cls.succeed("cmake", "-S", SOURCE, "-B", build, *options(), "-DBUILD_SHARED_LIBS=ON", "-DNEARFAR_DEVELOPER=OFF",
                    "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0", "-DCMAKE_UNITY_BUILD=ON",
                    "-DCMAKE_UNITY_BUILD_BATCH_SIZE=9", f"-DNEARFAR_MPI_NAME={MPI}")  # fmt: skip
        cls.succeed("cmake", "--build", build, "-j", "1")
        cls.succeed("cmake", "--install", build, "--prefix", cls.prefix)

    def test_cmake_finds_each_component(self):
        for component in ("containers", "engine", "c", "fortran"):
            language = {"c": "C", "fortran": "Fortran"}.get(component, "CXX")
            ended, _ = self.configure(
                f"find_package(nearfar REQUIRED COMPONENTS {component})",
                f"-DMPI_C_COMPILER={of_language(MPI_COMPILER, 'mpicc')}",
                f"-DMPI_Fortran_COMPILER={of_language(MPI_COMPILER, 'mpifort')}",
                language=language,
            )
            self.assertEqual(ended.returncode, 0, ended.stdout)

    def test_projects_need_neither_hwloc_nor_openmp(self):
        self.build_component("containers", "PkgConfig", "OpenMP", "Boost", "MPI", more=NO_SYSTEM_PATHS)
        self.build_component("mpi", "PkgConfig", "OpenMP", "Boost")


class OlderCxx(unittest.TestCase):
    """Whichever header comes first, the first error gives the cure."""

    def first_error(self, header, standard):
        includes = [f"-I{SOURCE}/include", *os.environ["NEARFAR_MPI_INCLUDES"].split(",")]
        # GCC reads all of a file before it understands any, so that the preprocessor's errors are the first.
        ended = run(COMPILER, f"-std=c++{standard}", "-x", "c++", "-E", "-o", os.devnull, *includes, header)
        return next((line for line in ended.stdout.splitlines() if "error:" in line), None)

    def test_every_header_says_that_it_needs_cxx20(self):
        headers = sorted((SOURCE / "include").rglob("*.hpp"))
        self.assertGreater(len(headers), 100)
        with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
            for header, said in zip(headers, pool.map(lambda each: self.first_error(each, 17), headers), strict=True):
                self.assertIsNotNone(said, header)
                self.assertIn('"nearfar needs C++20: compile with -std=c++20', said, header)

    def test_cxx20_says_nothing(self):
        self.assertIsNone(self.first_error(SOURCE / "include/nearfar/language.hpp", 20))


if __name__ == "__main__":
    unittest.main()
