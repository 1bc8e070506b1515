"""No pipeline in the project's bash scripts has a reader that may stop early.

Such a reader ends while its writer still writes, now and then. The writer dies of SIGPIPE, the pipeline has status 141
under pipefail, and set -e ends the script. A reader that reads on costs nothing: sed -n 1p in place of head -n 1, and
awk that keeps the first match until END. A here-string and a process substitution have no status that counts.

A reader may stay for a reason, in a comment on its line or on the line before: # stops early: REASON

Two cases escape this test: a reader that is a function of the project, and a program that the test does not know. Scripts
for sh are left out: Debian's sh has neither pipefail nor a trap on errors, and these scripts report their failures by hand.
"""

import os
import pathlib
import re
import shlex
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("NEARFAR_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
PLACES = [".ci", "apps", "bench", "cmake", "docs", "examples", "machines", "packaging", "python", "report", "scripts", "src", "tests"]

QUOTED = r"""'[^']*'|"(?:[^"\\]|\\.)*\""""
BLANKS = r"(?:[ \t\n]|\\\n)*"
READER = re.compile(
    rf"""(?:(?<!\|)\|&?(?!\|)|>[ ]?>\()       # a pipe, or a process substitution that is written to
    {BLANKS}(?:[({{]{BLANKS})?                # a group, whose first command reads first
    (?:(?:command|builtin|exec|env|\w+=(?:{QUOTED}|[^\s'"])*){BLANKS})*
    (?P<name>[\w./:-]+)
    (?P<arguments>(?:{QUOTED}|\\.|[^'"|;&()\\\n]|\\\n)*)""",
    re.VERBOSE | re.DOTALL,
)
HEREDOC = re.compile(r"(?<!<)<<-?[ ]?(['\"]?)(\w+)\1[^\n]*\n(.*?)^\t*\2$", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"^[ \t]*#[^\n]*", re.MULTILINE)
REASON = re.compile(r"# stops early: \S")


def is_bash(text):
    return re.match(r"#!.*\bbash\b", text) is not None or "\n# shellcheck shell=bash\n" in text


def bash_scripts():
    found = {}
    for place in PLACES:
        for file in sorted((SOURCE / place).rglob("*")):
            if file.is_file() and file.suffix in ("", ".sh", ".bash"):
                text = file.read_text(errors="replace")
                if is_bash(text):
                    found[str(file.relative_to(SOURCE))] = text
    return found


def has_option(words, letters, *names):
    short = re.compile(rf"-[A-Za-z]*[{letters}]")
    return any(short.match(word) or word.split("=")[0] in names for word in words)


def stops_early(name, words, after):
    """Whether a command that reads a pipe may end before its input does; after is the text that follows it."""
    name = name.rpartition("/")[2]
    program = " ".join(words)
    if name in ("while", "until"):
        loop = re.split(r"\bdone\b", program + after)[0]
        return re.search(r"\b(break|return|exit|die)\b", loop) is not None
    if name in ("head", "read", "true", ":", "false"):
        return True
    if name in ("mapfile", "readarray"):
        return has_option(words, "n")
    if name in ("grep", "egrep", "fgrep", "zgrep"):
        return has_option(words, "qmlL", "--quiet", "--silent", "--max-count", "--files-with-matches", "--files-without-match")
    if name in ("awk", "gawk", "mawk"):
        return re.search(r"\bexit\b", re.sub(r"\bEND\s*\{[^}]*\}", "", program)) is not None
    if name in ("sed", "gsed"):
        return any(re.search(r"(?:^|[\s;{}\d/$!])[qQ]\s*\d*\s*(?:$|[;}\n])", word) for word in words)
    return False


def words_of(arguments):
    try:
        return shlex.split(arguments)
    except ValueError:
        return arguments.split()


def without(pattern, text):
    """The text with the pattern replaced by blanks, and the same lines."""
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def early_readers(text):
    """The lines of readers that may stop early, with their text."""
    lines = text.splitlines()
    code = without(COMMENT, without(HEREDOC, text))
    found = []
    for match in READER.finditer(code):
        line = code.count("\n", 0, match.start("name"))
        reasons = "\n".join(lines[max(line - 1, 0) : line + 1])
        if stops_early(match["name"], words_of(match["arguments"]), code[match.end() :]) and not REASON.search(reasons):
            found.append((line + 1, lines[line].strip()))
    return found


class Pipelines(unittest.TestCase):
    def test_no_reader_of_a_script_stops_early(self):
        scripts = bash_scripts()
        self.assertIn("scripts/lib.sh", scripts)
        self.assertIn("scripts/mpi-python", scripts)
        found = [f"{name}:{line}: {text}" for name, script in scripts.items() for line, text in early_readers(script)]
        self.assertFalse(found, "readers that may stop early, see the start of this file:\n" + "\n".join(found))

    def test_each_script_ends_where_a_command_fails_and_says_so(self):
        for name, text in bash_scripts().items():
            if name != "scripts/lib.sh":
                self.assertRegex(text, r"(?m)^set -euo pipefail\n(?:#.*\n)?source .*/lib\.sh", name)

    def test_readers_that_stop_early(self):
        for text in [
            "a | head -n 1",
            "x=$(a | head -n 1 | tr -d b)",
            'case "$(a 2>&1 | head -n 2)" in',
            "a |& head",
            "a |\n  head -n 1",
            "a | \\\n  head -n 1",
            "a | /usr/bin/head",
            "if a | grep -q b; then",
            "a | grep -Fxq -- \"$b\"",
            "a | LC_ALL=C grep -m1 b",
            "a | grep -e b --max-count=1",
            "a | command grep --quiet b",
            "x=$(ldconfig -p | awk '$1 == \"b\" { print $NF; exit }')",
            "a | awk '\n  /b/ { print; exit }\n'",
            "a | awk -v b=\"$c\" '$1 == b { exit } END { print }'",
            "a | sed q",
            "a | sed -n '/b/{p;q}'",
            "a | sed -e 5q",
            "a | sed '/b/Q'",
            "a | read -r b",
            "a | { read -r b; echo \"$b\"; }",
            "a | (read -r b; echo \"$b\")",
            "a | mapfile -n 1 b",
            "a | while read -r b; do\n  if c; then break; fi\ndone",
            "a > >(head -n 1)",
            "a | true",
        ]:  # fmt: skip
            self.assertEqual(len(early_readers(text + "\n")), 1, text)

    def test_readers_that_read_to_the_end(self):
        for text in [
            "a | sed -n 1p",
            "a | sed 's/q/b/; s/b q/c/'",
            "a | awk '!b { b = $1 } END { print b }'",
            "a | awk '/b/ { c = 1 } END { exit !c }'",
            "a | grep b",
            "a | grep -c -- b",
            "a | sort | uniq",
            "a | tail -n 1",
            "a | while read -r b; do c; done",
            "a | while read -r b; do c; done\nif d; then exit; fi",
            "a || head -n 1 b",
            "head -n 1 b",
            "grep -q a <<<\"$b\"",
            "awk '{ exit }' a",
            "# a | head -n 1",
            "cat <<EOF\na | head -n 1\nEOF",
            "a | head -n 1 # stops early: a has ended by then",
            "# stops early: a has ended by then\na | head -n 1",
        ]:  # fmt: skip
            self.assertEqual(early_readers(text + "\n"), [], text)
        self.assertEqual(len(early_readers("a | head # stops early:\n")), 1, "a comment without a reason")


class MpiPython(unittest.TestCase):
    def test_takes_the_first_library_of_a_list_longer_than_a_pipe_holds(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "scripts").mkdir()
            for name in ["lib.sh", "mpi-python"]:
                text = (SOURCE / "scripts" / name).read_text()
                (root / "scripts" / name).write_text(text)
                requirement = re.search(r"^requirement=(.*)$", text, re.MULTILINE)
            there = root / "build/python/mpich"
            (there / "bin").mkdir(parents=True)
            (there / ".nearfar-requirement").write_text(requirement[1] + "\n")
            self.program(there / "bin/python", 'echo "$@"')
            self.program(
                root / "bin/ldconfig",
                "printf '\\tlibmpich.so.12 (libc6,x86-64) => %s\\n' /first /second\nseq 100000",
            )
            ended = subprocess.run(
                ["bash", root / "scripts/mpi-python", "mpich", "a", "b"],
                env={**os.environ, "PATH": f"{root / 'bin'}:{os.environ['PATH']}"},
                capture_output=True,
                text=True,
                check=False,
            )
            self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (0, "a b\n", ""))
            self.assertEqual(os.readlink(there / "mpi/libmpi.so.12"), "/first")

    def program(self, path, text):
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)


if __name__ == "__main__":
    unittest.main()
