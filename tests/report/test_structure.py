"""How the modules of the report hang together: no circle of imports, and no benchmark named."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import nearfar_report
import pytest

PACKAGE = Path(nearfar_report.__file__).parent
STATING = "earlier"  # the module that says what files of earlier versions lack
# As `nearfar bench --help` lists them, and the loops of `stream`.
NAMES = {
    "ecsb", "upb", "ccwb", "wbab", "rw_lb", "rw_ecsb", "rw_sob", "rw_wcsb", "rw_warb", "dht", "queue", "channel",
    "farm", "triad", "stream", "relax", "copy", "scale", "add", "stream-triad",
}  # fmt: skip

Sources = dict[str, str]  # text by name of the module
Graph = dict[str, set[str]]


def sources() -> Sources:
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(PACKAGE.glob("*.py"))}


def graph_of(modules: Sources) -> Graph:
    """The modules that each module imports, also inside functions and for annotations alone."""
    graph: Graph = {}
    for name, text in modules.items():
        found = graph.setdefault(name, set())
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom):
                inside = "nearfar_report" if node.level else ""
                path = ".".join(part for part in (inside, node.module) if part)
                paths = [path, *(f"{path}.{one.name}" for one in node.names)]
            else:
                paths = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            parts = [path.split(".") for path in paths]
            found |= {one[1] for one in parts if one[0] == "nearfar_report" and len(one) > 1 and one[1] in modules}
    return graph


def circle_in(graph: Graph) -> list[str]:
    """One circle, whose last module imports the first; empty if there is none."""
    done: set[str] = set()

    def search(path: list[str]) -> list[str]:
        for other in sorted(graph[path[-1]]):
            if other in path:
                return path[path.index(other) :]
            if other not in done and (found := search([*path, other])):
                return found
        done.add(path[-1])
        return []

    return next((found for name in sorted(graph) if name not in done and (found := search([name]))), [])


def named_benchmarks(text: str) -> Iterator[tuple[int, str]]:
    """Line and text of each literal that is the name of a benchmark, or begins with it and a hyphen."""
    name = re.compile(rf"({'|'.join(sorted(map(re.escape, NAMES), key=len, reverse=True))})(-.*)?", re.IGNORECASE)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and name.fullmatch(node.value):
            yield node.lineno, node.value


def test_modules_do_not_import_each_other_in_a_circle() -> None:
    graph = graph_of(sources())
    assert circle_in(graph) == []
    assert "fields" in graph["statements"] and "page" in graph["__main__"]  # which imports it late


@pytest.mark.parametrize(
    "one",
    [
        "from .two import x",
        "from . import two",
        "import nearfar_report.two",
        "def late():\n    from nearfar_report import two",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .two import x",
    ],
)
def test_circles_are_found(one: str) -> None:
    assert circle_in(graph_of({"one": one, "two": "from . import three", "three": "from .one import y"})) != []
    assert circle_in(graph_of({"one": one, "two": "from . import three", "three": "import json"})) == []


def test_one_module_names_benchmarks() -> None:
    texts = sources()
    stating = {name for _, name in named_benchmarks(texts.pop(STATING, ""))}
    found = [f"{module}.py:{line}: {name}" for module, text in texts.items() for line, name in named_benchmarks(text)]
    assert found == []
    assert {"ecsb", "upb", "relax"} <= stating


@pytest.mark.parametrize(
    "text", ["if benchmark == 'ecsb': pass", "benchmark in ('upb', 'x')", "{'relax': 1}[name]", "f'ecsb-{slug}'"]
)
def test_names_are_found(text: str) -> None:
    assert len(list(named_benchmarks(text))) == 1
