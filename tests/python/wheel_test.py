"""The Python package as a wheel of this tree, installed apart from the tree."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

SOURCE = pathlib.Path(os.environ["NEARFAR_SOURCE_DIR"])
LIBRARY = pathlib.Path(os.environ["NEARFAR_LIBRARY"])
MPI = os.environ["NEARFAR_MPI_NAME"]


def run(*command, **more):
    environment = {name: value for name, value in os.environ.items() if name not in ("NEARFAR_LIBRARY", "PYTHONPATH")}
    ended = subprocess.run(
        [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env={**environment, **more}, stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    if ended.returncode != 0:
        raise AssertionError(f"{command} ended with {ended.returncode}:\n{ended.stdout}")
    return ended.stdout


class Wheel(unittest.TestCase):
    def test_it_is_built_from_the_tree_and_works_without_it(self):
        with tempfile.TemporaryDirectory(prefix="nearfar wheel ") as name:
            folder = pathlib.Path(name)
            run(sys.executable, "-m", "venv", folder / "venv")
            pip = [folder / "venv/bin/python", "-m", "pip", "--quiet", "--disable-pip-version-check"]
            # The wheel takes the library of the other tests, instead of one compiled for it.
            run(*pip, "wheel", "--no-deps", "--wheel-dir", folder, SOURCE,
                f"--config-settings=cmake.define.NEARFAR_PYTHON_LIBRARY={LIBRARY}",
                "--config-settings=cmake.define.NEARFAR_C=OFF", "--config-settings=cmake.define.NEARFAR_MPI=OFF",
                f"--config-settings=build-dir={folder}/build")  # fmt: skip
            (wheel,) = folder.glob("nearfar-*.whl")
            self.assertRegex(wheel.name, r"^nearfar-[0-9.]+-py3-none-linux_\w+\.whl$")
            there = zipfile.ZipFile(wheel).namelist()
            self.assertIn(f"nearfar/lib/libnearfar_c_{MPI}.so", there)
            self.assertIn("nearfar_report/results.py", there)
            self.assertFalse([path for path in there if path.startswith(("lib/", "include/", "bin/"))], there)
            run(*pip, "install", "--no-deps", "--target", folder / "site", wheel)
            said = run(SOURCE / "scripts/run-mpi", "--mpi", MPI, "--ranks", "2", "--", SOURCE / "scripts/mpi-python",
                       MPI, SOURCE / "examples/python/protected_counter.py", PYTHONPATH=str(folder / "site"))  # fmt: skip
            self.assertIn("2 ranks counted to 200", said)


if __name__ == "__main__":
    unittest.main()
