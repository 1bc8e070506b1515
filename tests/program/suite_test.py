"""Checks the programs of the suite and compares the verdicts with those of its table.

usage: suite_test.py [--every N] [--keep FOLDER] [NAME...]

  --every N       every N-th pair alone (default: 1)
  --keep FOLDER   where the compiled programs stay, for the next call
  NAME            programs whose names begin so

NEARFAR_PROGRAM names the checker (nearfar-program), and NEARFAR_SOURCE_DIR the project.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ["NEARFAR_SOURCE_DIR"])
SUITE = SOURCE / "tests/program/suite"
CHECKER = os.environ["NEARFAR_PROGRAM"]

# The suite's words for what the checker distinguishes further.
WORDS = {
    "collective": "mismatch",
    "argument": "mismatch",
    "range": "mismatch",
    "assertion": "crash",
    "abort": "crash",
    "exit": "crash",
    "memory": "crash",
}

# A hang may show at another wait of the same rank.
WITHOUT_LINES = {"hang"}


def table():
    for line in (SUITE / "verdicts.txt").read_text().splitlines():
        words = line.split()
        if words:
            lines = [int(n) for n in words[3][1:].split(":")] if len(words) > 3 else []
            yield words[0], words[1], words[2], lines


def statement_at(text, line):
    """The lines of the statement that ends in a line: the compiler names the first of them."""
    first = line
    while first > 1 and not re.search(r"[;{})]\s*(/\*.*\*/)?\s*$|^\s*$", text[first - 2]):
        first -= 1
    return range(first, line + 1)


def compile_program(source, folder):
    """The program, or None with the compiler's complaint on standard error."""
    program = folder / source.stem
    if program.exists() and program.stat().st_mtime > source.stat().st_mtime:
        return program
    wrapper = SOURCE / "scripts" / ("nearfar-cc" if source.suffix == ".c" else "nearfar-c++")
    done = subprocess.run([wrapper, "-g", "-O0", source, "-o", program], capture_output=True, text=True)
    if done.returncode != 0:
        print(f"{source.name} does not compile:\n{done.stderr}", file=sys.stderr)
        return None
    return program


def verdict_of(program, ranks):
    """The checker's verdict in the suite's words, the text of the fault, and its lines in the program."""
    done = subprocess.run(
        [CHECKER, "check", "--ranks", ranks, "--steps", "6000", "--time-limit", "20", "--json", "--", program],
        capture_output=True,
        text=True,
        timeout=120,
    )
    try:
        report = json.loads(done.stdout)
    except json.JSONDecodeError:
        return "no report", done.stderr.strip(), []
    fault = report.get("fault")
    if fault is None:
        return ("right" if report["verdict"] == "complete" else report["verdict"]), "", []
    places = [line for place in fault["places"] for line in place["lines"]]
    lines = [int(found[1]) for line in places if (found := re.match(re.escape(program.name) + r"\.\w+:(\d+)", line))]
    return WORDS.get(fault["kind"], fault["kind"]), fault["text"], lines


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--every", type=int, default=1)
    options.add_argument("--keep", type=pathlib.Path)
    options.add_argument("names", nargs="*")
    chosen = options.parse_args()
    pairs = sorted({name.rpartition("_")[0] for name, *_ in table()})[:: chosen.every]
    wanted = set(pairs)
    failures = 0
    checked = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = chosen.keep or pathlib.Path(temporary)
        folder.mkdir(exist_ok=True)
        for name, ranks, expected, lines in table():
            if name.rpartition("_")[0] not in wanted or not name.startswith(tuple(chosen.names) or ""):
                continue
            program = compile_program(SUITE / name, folder)
            found, text, places = verdict_of(program, ranks) if program else ("does not compile", "", [])
            checked += 1
            if found != expected:
                failures += 1
                print(f"{name}: {found} instead of {expected}  {text}")
            elif expected not in WITHOUT_LINES:
                source = (SUITE / name).read_text().splitlines()
                missing = [n for n in lines if not set(statement_at(source, n)) & set(places)]
                if missing:
                    failures += 1
                    print(f"{name}: lines {missing} are not among {places}  {text}")
    print(f"{checked} programs, {failures} with another verdict")
    return 1 if failures or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
