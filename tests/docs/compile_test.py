"""Every fragment of code in the documents compiles as it is shown, with the headers that are shown.

For each document and example the fragments are put together in the order in which a reader meets them. Nothing is added
but this frame: statements stand in a function, whose parameters STATEMENTS lists. The document names each parameter in
its text. Fortran's fragments stand in a program, which names the modules shown before.
"""

import ast
import builtins
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from fragments_test import DOCUMENTS, QUOTE, SOURCE, regions

INCLUDES = [f"-I{each}" for each in os.environ.get("NEARFAR_MPI_INCLUDES", "").split(",") if each]
COMPILER = os.environ.get("NEARFAR_COMPILER", "c++")
FORTRAN = os.environ.get("NEARFAR_FORTRAN", "")

# The parameters of the function in which statements stand, by example and region. None: the function of the region before.
# A word before "|" is what precedes the function.
WORLD = "template <nearfar::world W> | W& w"
PARTICLES = "std::uint64_t mine, std::uint64_t first, std::uint64_t all, int missing, nearfar::mpi::world& w"
TABLE = "int keeper"
STATEMENTS = {
    "examples/protected_counter.cpp": {"lock": "MPI_Comm comm, int keeper", "memory": None, "guard": None, "update": None},
    "examples/numa_containers.cpp": dict.fromkeys(
        ["triad", "first touch", "chunk", "objects", "heap", "nodes", "arithmetic", "grow"], "std::size_t n"
    ),
    "examples/segmented_triad.cpp": {
        "triad": "std::size_t n", "algorithms": "std::size_t n", "padding": "", "dynamic": "",
        "pieces": "nearfar::segmented_array<double>& x, nearfar::segmented_array<double>& y,"
                  " nearfar::segmented_array<double>& z, nearfar::segmented_array<double>& w",
        "streaming": "nearfar::segmented_array<double>& a, nearfar::segmented_array<double>& b",
    },
    "examples/placed_pages.cpp": {"pin": "", "policy": "std::size_t n", "where": "std::size_t n"},
    "examples/channel_select.cpp": {
        "spawn": "nearfar::channel<std::int64_t>& numbers, nearfar::channel<std::int64_t>& results", "wait": None,
    },
    "examples/distributed_map.cpp": {"map": PARTICLES, "insert": None, "find": None, "erase": None, "count": None},
    "examples/read_mostly_table.cpp": {"locks": "MPI_Comm comm, int keeper", "look up": None, "replace": None},
    "examples/shared_data.cpp": {
        "segments": "template <nearfar::world W, std::size_t count> | W& w, int previous", "range": None, "send": None,
        "receive": None, "meetings": WORLD, "meet": None, "world": "MPI_Comm comm",
        "out of memory": "nearfar::mpi::world& w, bool is_refused",
        "threads": "bool (*share)(nearfar::threads::world&), std::atomic<bool>& is_right",
    },
    "examples/c/protected_counter.c": {"counter": "MPI_Win window, int keeper, int rounds", "destroy": None},
}  # fmt: skip
# The second half of a class is in a fragment of its own.
ENDS = {"examples/own_benchmark.cpp": "};\n"}
# The names that a fragment in Python expects from the program around it.
PYTHON_NAMES = {"window"}
# A document says of these that they are as above, so the fragments before it come first.
AS_ABOVE = {"examples/c/task_queue.c": "examples/c/protected_counter.c", "examples/c/distributed_map.c": "examples/c/protected_counter.c"}


def shown():
    """The regions that each document shows of each example, in order: {(document, path): [(name, code)]}."""
    result = collections.defaultdict(list)
    for document in DOCUMENTS:
        for path, _, names, _, _ in QUOTE.findall((SOURCE / document).read_text()):
            found = regions((SOURCE / path).read_text())
            result[document, path] += [(name.strip(), found[name.strip()]) for name in names.split(",")]
    return result


def unit_of(path, parts):
    """One source of the fragments of an example in C or C++."""
    text, is_open, count = "", False, 0
    statements = STATEMENTS.get(path, {})
    for name, code in parts:
        if name not in statements or statements[name] is not None:
            text += "}\n" if is_open else ""
            is_open = False
        if statements.get(name) is not None:
            before, _, parameters = statements[name].rpartition("|")
            count += 1
            text += f"{before}void fragment_{count}({parameters.strip()}) {{\n"
            is_open = True
        text += code
    return text + ("}\n" if is_open else "") + ENDS.get(path, "")


def compile_errors(command, suffix, text, folder, name):
    source = folder / f"{name}{suffix}"
    source.write_text(text)
    ended = subprocess.run([*command, str(source)], cwd=folder, capture_output=True, text=True, check=False)
    return ended.stderr if ended.returncode != 0 else ""


def fortran_unit(parts):
    """A program around the fragments; the modules are those that the first example of the page names."""
    names = [code for name, code in parts if name == "names"]
    rest = [(name, code) for name, code in parts if name != "names"]
    text = "program fragment\n" + "".join(names)
    contained = False
    for _, code in rest:
        if re.search(r"^\s*(pure )?(integer )?function", code, re.MULTILINE) and not contained:
            text += "contains\n"
            contained = True
        text += code
    return text + "end program fragment\n"


def unknown_names(text):
    """The names in Python code that nothing in it defines."""
    tree = ast.parse(text)
    defined = set(dir(builtins)) | PYTHON_NAMES
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            defined |= {each.asname or each.name.split(".")[0] for each in node.names}
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            defined.add(node.name)
        elif isinstance(node, ast.arg):
            defined.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            defined.add(node.id)
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - defined


class Fragments(unittest.TestCase):
    maxDiff = None

    def test_fragments_of_c_and_cpp_compile_as_shown(self):
        strict = ["-fsyntax-only", "-Werror=implicit-function-declaration", *INCLUDES, f"-I{SOURCE}/include"]
        all_parts = shown()
        with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
            jobs = {}
            for index, ((document, path), parts) in enumerate(all_parts.items()):
                suffix = pathlib.Path(path).suffix
                if suffix == ".cpp":
                    command = [COMPILER, "-std=c++20", *strict]
                    if path == "examples/own_benchmark.cpp":
                        command.append(f"-I{SOURCE}")
                elif suffix == ".c":
                    command = ["cc", "-std=c11", *strict]
                    earlier = all_parts.get((document, AS_ABOVE.get(path)), [])
                    parts = [part for part in earlier if part[0] in ("headers", "check")] + parts
                else:
                    continue
                unit = unit_of(path, parts)
                jobs[document, path] = pool.submit(compile_errors, command, suffix, unit, pathlib.Path(folder), f"unit_{index}")
            self.assertGreater(len(jobs), 15)
            errors = {f"{document}: {path}": job.result() for (document, path), job in jobs.items() if job.result()}
        self.assertEqual(errors, {}, "\n".join(errors.values()))

    def test_parameters_of_the_frame_are_explained(self):
        for (document, path), parts in shown().items():
            text = (SOURCE / document).read_text()
            prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
            statements = STATEMENTS.get(path, {})
            used = "\n".join(code for name, code in parts if name in statements)
            for name, _ in parts:
                frame = statements.get(name) or ""
                for parameter in re.findall(r"(\w+)\)?(?:\([^()]*\))?(?:,|$)", frame.rpartition("|")[2]):
                    is_explained = f"`{parameter}`" in prose or not re.search(rf"\b{parameter}\b", used)
                    with self.subTest(document=document, region=name, parameter=parameter):
                        self.assertTrue(is_explained, f"{document} does not say what `{parameter}` is")

    def test_fragments_of_python_have_their_imports(self):
        count = 0
        for (document, path), parts in shown().items():
            if path.endswith(".py"):
                count += 1
                self.assertEqual(unknown_names("\n".join(code for _, code in parts)), set(), f"{document}: {path}")
        self.assertGreater(count, 3)

    def test_fragments_of_fortran_compile_as_shown(self):
        if not FORTRAN:
            return  # there is no Fortran compiler for this MPI library, and no Fortran module in this build
        fortran = {key: parts for key, parts in shown().items() if key[1].endswith(".f90")}
        self.assertGreater(len(fortran), 2)
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            subprocess.run([FORTRAN, "-fsyntax-only", SOURCE / "src/fortran/nearfar.f90"], cwd=folder, check=True)
            first = next(parts for (_, path), parts in fortran.items() if path.endswith("protected_counter.f90"))
            modules = [(each, code.replace("only: int64", "only: int64, real64")) for each, code in first if each == "names"]
            for index, ((document, path), parts) in enumerate(fortran.items()):
                parts = parts if parts[0][0] == "names" else modules + parts
                errors = compile_errors([FORTRAN, "-fsyntax-only"], ".f90", fortran_unit(parts), folder, f"unit_{index}")
                self.assertEqual(errors, "", f"{document}: {path}")


if __name__ == "__main__":
    unittest.main()
