"""The header and the library agree: the library exports exactly the declared functions, each with a version."""

import os
import pathlib
import re
import subprocess
import unittest

SOURCE = pathlib.Path(os.environ["NEARFAR_SOURCE_DIR"])
LIBRARY = os.environ["NEARFAR_C_LIBRARY"]
INCLUDES = ["-I" + str(SOURCE / "include"), *(f"-isystem{path}" for path in os.environ["NEARFAR_MPI_INCLUDES"].split(","))]
HEADER = SOURCE / "include/nearfar.h"
DECLARED = re.compile(r"^NEARFAR_API [^;(]*?\b(nearfar_\w+)\(", re.MULTILINE)


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


class Header(unittest.TestCase):
    def test_exported_is_what_is_declared(self):
        declared = set(DECLARED.findall(HEADER.read_text()))
        self.assertGreater(len(declared), 50)
        exported = {line.split()[-1] for line in output("nm", "-D", "--defined-only", LIBRARY).splitlines()}
        versions = {name for name in exported if name.startswith("NEARFAR_")}
        self.assertEqual(versions, {"NEARFAR_0.1"})
        self.assertEqual(exported - versions, {f"{name}@@NEARFAR_0.1" for name in declared})

    def test_the_fortran_module_has_all_that_is_declared(self):
        module = (SOURCE / "src/fortran/nearfar.f90").read_text()
        bound = set(re.findall(r'bind\(c, name="(nearfar_\w+)"\)', module))
        not_for_fortran = {"nearfar_world_from_comm", "nearfar_version", "nearfar_mpi_library"}
        self.assertEqual(bound, set(DECLARED.findall(HEADER.read_text())) - not_for_fortran)
        constants = dict(re.findall(r"parameter, public :: (NEARFAR_\w+) = (-?\d+)", module))
        declared = re.findall(r"^  (NEARFAR_\w+) = (-?\d+)", HEADER.read_text(), re.MULTILINE)
        self.assertEqual(constants, dict(declared))

    def test_every_function_has_a_comment(self):
        for paragraph in HEADER.read_text().split("\n\n"):
            if "NEARFAR_API nearfar_status" in paragraph:
                self.assertRegex(paragraph, r"(?m)^///", paragraph)

    def test_it_is_c11_and_cxx(self):
        for compiler, language, standard in (("cc", "c", "c11"), ("cc", "c", "c17"), ("c++", "c++", "c++11"), ("c++", "c++", "c++20")):
            with self.subTest(standard):
                subprocess.run([compiler, f"-std={standard}", "-x", language, "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Wstrict-prototypes" if language == "c" else "-Wshadow",
                                "-Werror", *INCLUDES, HEADER], check=True)  # fmt: skip


if __name__ == "__main__":
    unittest.main()
