"""Compares the functions that mpi.h declares with those that nearfar-program exports, and with its list of them."""

import os
import pathlib
import re
import subprocess
import unittest

SOURCE = pathlib.Path(os.environ["NEARFAR_SOURCE_DIR"])
CHECKER = os.environ["NEARFAR_PROGRAM"]


def declared():
    return set(re.findall(r"\b(MPI_\w+)\(", (SOURCE / "include/nearfar-mpi/mpi_functions.h").read_text()))


class functions_test(unittest.TestCase):
    def test_every_declared_function_is_exported(self):
        symbols = subprocess.run(["nm", "-D", "--defined-only", CHECKER], capture_output=True, text=True, check=True).stdout
        exported = {line.split()[-1] for line in symbols.splitlines()}
        self.assertEqual(declared() - exported, set())

    def test_the_list_has_every_declared_function(self):
        lines = subprocess.run([CHECKER, "--list-mpi"], capture_output=True, text=True, check=True).stdout.splitlines()
        listed = {line.split()[0] for line in lines}
        self.assertEqual(listed, declared())
        self.assertIn("MPI_Put  yes", lines)
        self.assertIn("MPI_Comm_spawn  no", lines)


if __name__ == "__main__":
    unittest.main()
