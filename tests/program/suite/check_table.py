"""Compares the table of the suite, verdicts.txt, with the programs beside it.

usage: check_table.py [--write]

  --write  write the table anew from the names and markers of the programs

Each line of the table is `FILE RANKS VERDICT [@LINE[:LINE]]`. The verdicts:

  right          no run has a fault
  race           two accesses to the same bytes of a window, unordered: lines of both
  buffer         an access to a buffer that a pending operation uses: lines of the operation and of the access
  epoch          a call that the epochs of the window do not allow, or a broken promise (assertion): its line
  hang           ranks wait for ever: line of the wait, and of that of another rank where it is elsewhere
  crash          an assertion, abort, signal, uncaught exception, exit status, or an end without MPI_Finalize: its line
  mismatch       arguments that contradict each other, the window or the standard: line of the call, and of its partner
  leak           a request, window, datatype, operation or communicator that nobody completes or frees: line of the call that made it
  uninitialised  a decision by a value that nobody has written: line of the decision

The comments `/* first */`, `/* second */` and `/* first, second */` in a program mark the lines. The program NAME_right
has a partner NAME_VERDICT. Apart from comments, the two differ in a few lines.
"""

import difflib
import pathlib
import re
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
TABLE = FOLDER / "verdicts.txt"
VERDICTS = ("right", "race", "buffer", "epoch", "hang", "crash", "mismatch", "leak", "uninitialised")
RANKS = ("2", "3")
MOST_LINES = 62
MOST_CHANGED_LINES = 7  # of either program

MARKER = re.compile(r"/\* (first|second|first, second) \*/")
FIRST_LINE = re.compile(r"/\* [A-Z].*\((?:[^()]*\d+\.\d[^()]*)\)\. \*/$")
NAME = re.compile(r"([a-z0-9_]+)_([a-z]+)\.(?:c|cpp)$")


def marked_lines(text):
    """The table's `@LINE[:LINE]`, or an empty string if the program has no markers. Raises ValueError."""
    lines = {}
    previous = ""
    for number, line in enumerate(text.splitlines(), 1):
        # A call that goes on for a second line is reported at its first one.
        if MARKER.search(line) and previous.endswith((",", "(", "=")):
            raise ValueError(f"line {number} has a marker and goes on with a statement")
        previous = line.rstrip()
        for marker in MARKER.findall(line):
            code = line[: line.index("/*")].rstrip()
            if not code.endswith((";", "}", "{", ")")):
                raise ValueError(f"line {number} has a marker and no end of a statement")
            for word in marker.split(", "):
                if word in lines:
                    raise ValueError(f"two lines are marked as {word}")
                lines[word] = number
    if "second" in lines and "first" not in lines:
        raise ValueError("a second line is marked and no first one")
    return "@" + ":".join(str(lines[word]) for word in ("first", "second") if word in lines) if lines else ""


def code_of(text):
    """The lines without comments and blanks; without the breaks of lines, which depend on the lengths of words."""
    text = re.sub(r"/\*.*?\*/", "", text)
    return [re.sub(r"\s+", " ", line).strip() for line in text.splitlines() if line.strip()]


def changed_lines(right, wrong):
    """The number of lines that only one of two programs has: the larger one of both numbers."""
    found = [line[0] for line in difflib.ndiff(code_of(right), code_of(wrong))]
    return max(found.count("-"), found.count("+"))


def programs():
    return sorted(path for path in FOLDER.iterdir() if path.suffix in (".c", ".cpp"))


def faults_of_program(path, verdict):
    text = path.read_text()
    lines = text.splitlines()
    if not FIRST_LINE.match(lines[0]):
        yield "its first line is no comment of one sentence with a section of a standard"
    if len(lines) > MOST_LINES:
        yield f"it has {len(lines)} lines; the limit is {MOST_LINES}"
    if verdict == "right":
        return
    partner = path.with_name(path.name.replace(f"_{verdict}.", "_right."))
    if not partner.exists():
        yield f"its partner {partner.name} is missing"
    elif not 1 <= (count := changed_lines(partner.read_text(), text)) <= MOST_CHANGED_LINES:
        yield f"it differs in {count} lines from {partner.name}; 1 to {MOST_CHANGED_LINES} are allowed"


def faults_of_line(line):
    words = line.split()
    if len(words) not in (3, 4) or line != " ".join(words):
        yield "the line is not FILE RANKS VERDICT [@LINE[:LINE]]"
        return
    file, ranks, verdict = words[:3]
    path = FOLDER / file
    name = NAME.match(file)
    if not path.exists() or not name:
        yield f"{file}: the program is missing"
        return
    if verdict not in VERDICTS or name[2] != verdict:
        yield f"{file}: verdict '{verdict}' is unknown or differs from the name"
        return
    if ranks not in RANKS:
        yield f"{file}: the number of ranks is none of {', '.join(RANKS)}"
    try:
        marked = marked_lines(path.read_text())
    except ValueError as error:
        yield f"{file}: {error}"
        return
    if (verdict == "right") != (marked == ""):
        yield f"{file}: a right program has no markers, and any other one has"
    if marked != "".join(words[3:]):
        yield f"{file}: the table says '{''.join(words[3:])}', and the markers say '{marked}'"
    for fault in faults_of_program(path, verdict):
        yield f"{file}: {fault}"


def faults():
    lines = TABLE.read_text().splitlines()
    if lines != sorted(set(lines)):
        yield "the lines are not in order, or one is there twice"
    for line in lines:
        yield from faults_of_line(line)
    named = {line.split(" ")[0]: line.split(" ")[1:2] for line in lines}
    for path in programs():
        if path.name not in named:
            yield f"{path.name}: the table has no line for the program"
        elif (name := NAME.match(path.name)) and name[2] == "right":
            partners = [other for other in named if (match := NAME.match(other)) and match[1] == name[1] and other != path.name]
            if len(partners) != 1:
                yield f"{path.name}: it has {len(partners)} partners"
            elif named[partners[0]] != named[path.name]:
                yield f"{path.name}: its partner has another number of ranks"


def write():
    """The number of ranks stays that of the table; a new program gets two."""
    ranks = {line.split()[0]: line.split()[1] for line in TABLE.read_text().splitlines()} if TABLE.exists() else {}
    lines = []
    for path in programs():
        words = [path.name, ranks.get(path.name, "2"), NAME.match(path.name)[2], marked_lines(path.read_text())]
        lines.append(" ".join(filter(None, words)) + "\n")
    TABLE.write_text("".join(sorted(lines)))


def main():
    if sys.argv[1:] == ["--write"]:
        write()
    elif sys.argv[1:]:
        sys.exit(__doc__)
    found = list(faults())
    for fault in found:
        print(f"{TABLE.name}: {fault}")
    if not found:
        print(f"{len(programs())} programs agree with {TABLE.name}")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
