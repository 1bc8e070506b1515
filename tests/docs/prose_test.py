"""The documents, the comments and the messages of static_assert keep the rules of CONTRIBUTING.md that a program can check.

Sentences are those of paragraphs and list items. Code, tables, links, headings and comments of documents are left out.
"""

import os
import pathlib
import re
import unittest

SOURCE = pathlib.Path(os.environ.get("NEARFAR_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
# Documents that do not keep the rules yet. One that does must leave the list.
EXEMPT: set[str] = set()
MOST_WORDS = 40
MOST_LINES_OF_README = 100

FENCE = re.compile(r"\s*(```|~~~)")
ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)]) +")
HEADING = re.compile(r"#{1,6} ")
# A sentence in bold that begins a paragraph is its heading.
RUN_IN_HEADING = re.compile(r"\*\*[^*]+[.:?]\*\*(?=\s|$)")
ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|cf|vs|al|etc|approx|[Ff]ig|[Nn]o|[Ss]ec|[A-Z])\.$")
END = re.compile(r"[.!?][)*\"']*(?=\s+[\"'(*\[`]*[A-Z0-9`]|\s*$)")
CODE, LINK = "`code`", "`link`"  # what stands for either

# Strings come first, so that a // within one begins no comment.
CPP_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*')
STATIC_ASSERT = re.compile(r'\bstatic_assert\s*\((?:[^;"]|"(?:[^"\\\n]|\\.)*"(?!\s*\)))*?((?:"(?:[^"\\\n]|\\.)*"\s*)+)\)\s*;')
# The line over a part of a file, a word for clang-tidy, an error that a compiler must give, and Doxygen's word before the text
# on a file.
NO_SENTENCE = re.compile(r"-{4}|NOLINT|error: |\\file$")

# Not "Whatever happens, the lock ...", which is no subject.
FREE_RELATIVE = re.compile(r"[\"'(*]*(?:(?:Who|What)\s|(?:Whoever|Whatever)\s(?!.*,))", re.DOTALL | re.IGNORECASE)
# Not "so many ranks that ...", which is English.
SO_MANY = re.compile(r"\bso\s+many\b(?!\s+\w+\s+that\b)", re.IGNORECASE)


def without_comments(text):
    """The text, with its lines where they were."""
    return re.sub(r"<!--.*?-->", lambda found: "\n" * found[0].count("\n"), text, flags=re.DOTALL)


def without_code_and_links(text):
    def kept_lines(stands_for):
        return lambda found: stands_for + "\n" * found[0].count("\n")

    text = re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", kept_lines(CODE), text, flags=re.DOTALL)
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", kept_lines(""), text)
    text = re.sub(r"\[[^\]]*\]\([^)]*\)", kept_lines(LINK), text)
    return re.sub(r"<?https?://[^\s>]+>?", LINK, text)


def blocks(text):
    """Paragraphs and list items, each with the number of its first line."""
    found, current = [], None
    fenced = in_list = after_blank = False
    for number, line in enumerate(without_comments(text).splitlines(), 1):
        if FENCE.match(line):
            fenced, current = not fenced, None
            continue
        if fenced:
            continue
        is_blank = not line.strip()
        is_code = line.startswith("    ") and not in_list and (after_blank or current is None)
        if is_blank or is_code or HEADING.match(line) or line.lstrip().startswith("|"):
            current = None
            in_list = in_list and is_blank
        else:
            if ITEM.match(line) or current is None:
                in_list = bool(ITEM.match(line)) or (in_list and line.startswith(" "))
                current = [number, []]
                found.append(current)
            current[1].append(ITEM.sub("", line, count=1) if not current[1] else line)
        after_blank = is_blank
    for number, lines in found:
        yield number, without_code_and_links("\n".join(lines))


def sentences(text):
    """Each sentence with the number of its line."""
    for number, block in blocks(text):
        if heading := RUN_IN_HEADING.match(block):
            number += heading[0].count("\n")
            block = block[heading.end() :]
        begin = 0
        for end in END.finditer(block):
            sentence = block[begin : end.end()]
            if ABBREVIATION.search(block[begin : end.start() + 1]) and end.end() < len(block.rstrip()):
                continue
            yield number + block.count("\n", 0, begin + len(sentence) - len(sentence.lstrip())), sentence.strip()
            begin = end.end()
        if rest := block[begin:].strip():
            yield number + block.count("\n", 0, begin + len(block[begin:]) - len(block[begin:].lstrip())), rest


def words(sentence):
    return [word for word in re.sub(f"{CODE}|{LINK}", "", sentence).split() if re.search(r"\w", word)]


def broken_rules(sentence):
    if FREE_RELATIVE.match(sentence) and not sentence.rstrip("*\"')").endswith("?"):
        yield "name the actor: 'who ...' or 'what ...' is the subject"
    if SO_MANY.search(sentence):
        yield "say how many: 'so many'"
    if len(words(sentence)) > MOST_WORDS:
        yield f"one thought a sentence: {len(words(sentence))} words, {MOST_WORDS} are the most"


def findings(name, text):
    return [
        f"{name}:{line}: {rule}\n    {' '.join(sentence.split())}"
        for line, sentence in sentences(text)
        for rule in broken_rules(sentence)
    ]


def comments(text):
    """Each comment of a C++ text with the number of its first line; lines that follow each other are one comment."""
    found = []
    for token in CPP_TOKEN.finditer(text):
        if not token[0].startswith("//"):
            continue
        number = text.count("\n", 0, token.start()) + 1
        is_alone = not text[text.rfind("\n", 0, token.start()) + 1 : token.start()].strip()
        line = re.sub(r"^///?<? ?", "", token[0])
        if is_alone and found and found[-1][2] and found[-1][0] + len(found[-1][1]) == number:
            found[-1][1].append(line)
        else:
            found.append((number, [line], is_alone))
    for number, lines, _ in found:
        in_list = False
        for i, line in enumerate(lines):
            is_item = bool(ITEM.match(line))
            in_list = is_item or (in_list and line.startswith(" "))
            is_code = line.startswith("  ") and not in_list
            lines[i] = "" if is_code or NO_SENTENCE.match(line) else line
        yield number, "\n".join(lines)


def static_assert_messages(text):
    for found in STATIC_ASSERT.finditer(text):
        message = re.sub(r'"\s*"', "", found[1].strip())[1:-1]
        yield text.count("\n", 0, found.start(1)) + 1, message


def findings_in_cpp(name, text):
    found = []
    for number, part in sorted([*static_assert_messages(text), *comments(text)]):
        found += [
            f"{name}:{number + line - 1}: {rule}\n    {' '.join(sentence.split())}"
            for line, sentence in sentences(part)
            for rule in broken_rules(sentence)
        ]
    return found


def cpp_files():
    for folder in ["include", "src", "bench", "apps", "examples", "tests"]:
        for suffix in ["cpp", "hpp", "c", "h"]:
            yield from sorted((SOURCE / folder).rglob(f"*.{suffix}"))


class Sources(unittest.TestCase):
    def test_comments_and_static_asserts_keep_the_rules(self):
        found = []
        for file in cpp_files():
            found += findings_in_cpp(str(file.relative_to(SOURCE)), file.read_text())
        if found:
            self.fail("\n" + "\n".join([*found, f"{len(found)} found; CONTRIBUTING.md has the rules"]))


class Documents(unittest.TestCase):
    def test_sentences_keep_the_rules(self):
        found = []
        for file in [SOURCE / "README.md", SOURCE / "CONTRIBUTING.md", *sorted((SOURCE / "docs").glob("*.md"))]:
            name = str(file.relative_to(SOURCE))
            of_file = findings(name, file.read_text())
            if name not in EXEMPT:
                found += of_file
            elif not of_file:
                found.append(f"{name}: keeps the rules, and need not be in EXEMPT of this test any more")
        if found:
            self.fail("\n" + "\n".join([*found, f"{len(found)} found; CONTRIBUTING.md has the rules"]))

    def test_readme_is_short(self):
        lines = len((SOURCE / "README.md").read_text().splitlines())
        self.assertLessEqual(lines, MOST_LINES_OF_README, f"README.md has {lines} lines")


class Rules(unittest.TestCase):
    """Sentences that the rules find, and sentences that they leave alone."""

    LONG = "The lock is " + "very " * 36 + "fast."

    def found(self, text):
        return [re.sub(r"\n.*", "", found) for found in findings("a.md", text)]

    def test_free_relatives_are_found_where_they_begin_a_sentence(self):
        self.assertEqual(self.found("Ranks wait.\nWho waits\nsleeps. What is seen is old."),
                         ["a.md:2: name the actor: 'who ...' or 'what ...' is the subject",
                          "a.md:3: name the actor: 'who ...' or 'what ...' is the subject"])  # fmt: skip
        self.assertEqual(len(self.found("- What it prints is short.\n  Whoever comes\n  waits.")), 2)
        for right in ["What is it held to?", "Whatever comes, it waits.", "A rank sees what is there.", "**What is measured.** The lock is.",
                      "## What it is", "| What it is | x |", "```\nWhat is seen is old.\n```", "`What` is a word.",
                      "    What is code.", "<!-- Who waits sleeps. -->"]:  # fmt: skip
            self.assertEqual(self.found(right), [], right)

    def test_so_many_is_found(self):
        self.assertEqual(self.found("It is of so many\nbytes, or so\nmany ranks."), ["a.md:1: say how many: 'so many'"])
        for right in ["There are so many ranks that all wait.", "`so many` is code.", "Also many wait."]:
            self.assertEqual(self.found(right), [], right)

    def test_comments_and_messages_of_sources_are_found(self):
        text = """/// \\file
/// What begins the text on a file.
#pragma once
// Who waits
// sleeps.
int a;  // what is seen
const char* b = "// Who is no comment";
// ---- what is a title ----
static_assert(sizeof(int) == 4,
              "of "
              "so many bytes");
static_assert(is_named("Who"));
"""
        lines = [int(found.split(":")[1]) for found in findings_in_cpp("a.cpp", text)]
        self.assertEqual(lines, [2, 4, 6, 10])

    def test_long_sentences_are_found(self):
        self.assertEqual(self.found(f"First.\n\n{self.LONG}"), [])
        longer = self.LONG.replace("fast", "fast, indeed", 1).replace("The", "All the", 1)
        self.assertEqual(self.found(f"First.\n\n{longer}"), ["a.md:3: one thought a sentence: 42 words, 40 are the most"])
        for right in [f"{self.LONG} {self.LONG}", f"- {self.LONG}\n- {self.LONG}", f"{self.LONG} `{longer}`",
                      f"[{longer}](there.md).", f"| {longer} |", f"# {longer}"]:  # fmt: skip
            self.assertEqual(self.found(right), [], right)

    def test_sentences_end_where_they_do(self):
        text = "One, e.g. two, of Open MPI 4.1.4. `three` is\nfour (see 5.). P. Schmid wrote. **Six.** Seven: 8.5 ns."
        self.assertEqual([line for line, _ in sentences(text)], [1, 1, 2, 2, 2], list(sentences(text)))


if __name__ == "__main__":
    unittest.main()
