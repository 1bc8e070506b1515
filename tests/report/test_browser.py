"""The page in a browser: nothing is cut, on a wide screen and on a narrow one, and a click sorts a table."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from forked import run_module
from report_builders import LOOPS_SCHEMA, SCHEMA, ecsb, loop_eight, provenance, statement, upb_samples

WIDTHS = (1280, 400)  # CSS pixels of a window
LEAST_FIGURE = 600  # pixels, so that the text in a figure stays readable

# Measures the page that it is added to, and sends the result to the page around it. All closed parts are opened first.
MEASURE = """
<script>
addEventListener("load", () => setTimeout(() => {
  document.querySelectorAll("details").forEach((each) => { each.open = true; });
  setTimeout(() => {
    const width = document.documentElement.clientWidth;
    const named = (each) => `${each.tagName.toLowerCase()}.${each.className} ${each.textContent.trim().slice(0, 60)}`;
    const isShown = (each) => each !== null && each.offsetHeight > 0;
    const scrolls = (each) => ["auto", "scroll"].includes(getComputedStyle(each).overflowX);
    const boxed = (each) => each.parentElement !== null && (scrolls(each.parentElement) || boxed(each.parentElement));
    const found = {width, cut: [], unhinted: [], figures: [], hints: 0, height: document.documentElement.scrollHeight};
    if (document.documentElement.scrollWidth > width) found.cut.push(`the page: ${document.documentElement.scrollWidth}`);
    for (const each of document.querySelectorAll("body, body *")) {
      if (["SCRIPT", "STYLE"].includes(each.tagName)) continue;
      const place = each.getBoundingClientRect();
      const isWider = each.scrollWidth > each.clientWidth + 1 && getComputedStyle(each).display !== "inline";
      if (isWider && scrolls(each)) {
        const hint = each.previousElementSibling;
        if (isShown(hint) && hint.classList.contains("hint")) found.hints += 1;
        else found.unhinted.push(named(each));
      } else if (isWider && !boxed(each)) found.cut.push(named(each));
      const isText = ["CAPTION", "FIGCAPTION", "P", "LI", "SUMMARY", "H1", "H2"].includes(each.tagName);
      if (isText && isShown(each) && (place.left < 0 || place.right > width)) found.cut.push(named(each));
      if (each.tagName === "IMG") found.figures.push(place.width);
    }
    found.wide = [...document.querySelectorAll(".hint")].filter((each) => !isShown(each)).length;
    const table = [...document.querySelectorAll("table")].find((each) => each.textContent.includes("Fair"));
    const button = table?.tHead.querySelectorAll("button")[3];
    const column = (of) => [...table.tBodies[0].rows].map((row) => row.cells[of].textContent);
    found.sorted = [];
    if (button) for (const times of [1, 2]) { button.click(); found.sorted.push(column(0)); }
    parent.postMessage(JSON.stringify(found), "*");
  }, 1000);
}, 100));
</script>
"""
AROUND = """<!DOCTYPE html><meta charset="utf-8"><pre id="found"></pre>
<script>
addEventListener("message", (event) => { document.getElementById("found").textContent += event.data + "\\n"; });
</script>
"""


def latencies() -> dict[str, Any]:
    """Columns as the benchmarks of locks state them, of which the page makes a wide table."""
    names = ("Median latency", "90th percentile of the latency", "99th percentile of the latency",
             "99.9th percentile of the latency", "Mean latency", "Shortest latency", "Longest latency")  # fmt: skip
    columns = [
        {"name": f"l{i}", "title": f"{name} of acquisitions", "unit": "ns", "meaning": name, "digits": 1, "standing": "recorded"}
        for i, name in enumerate(names)
    ]
    return statement(title="empty critical section", kind="lock", axes=[], columns=columns)


def page_of(folder: Path) -> Path:
    """Writes results of every kind of section, draws their page, and returns its path."""
    names = ["cohort", "mcs", "a_lock_with_quite_a_long_name.variant", *(f"lock_{i:02}" for i in range(20))]
    measured = {f"l{i}": 10.0**i for i in range(7)}
    locks = [
        ecsb(name, r, (500 + 40 * i + r, 500 + 40 * i), measured=measured, parameters={"max_local_passes": i, "levels": "all"})
        for i, name in enumerate(names) for r in range(5)
    ]  # fmt: skip
    locks += [ecsb("unknown", r, (2, 1), measured=measured) for r in range(5)]
    files = {
        "ecsb-of-a-machine-with-a-long-name": (SCHEMA, locks, {"statements": {"ecsb": latencies()}}),
        "upb": (SCHEMA, upb_samples("cohort", {"a": 100.0, "b": 200.0, "c": 50_000.0}), {}),
        "loops": (LOOPS_SCHEMA, [*loop_eight("array"), *loop_eight("numa_vector")], {}),
    }
    paths = []
    for name, (schema, samples, more) in files.items():
        hardware = "2 packages, 2 NUMA domains, 2 L3 caches of 32 MiB, 64 cores, 128 PUs"
        first = {**provenance(samples[0]["benchmark"], len(samples)), "schema": schema, "hardware": hardware, **more}
        paths.append(folder / f"{name}.jsonl")
        paths[-1].write_text("".join(json.dumps(record) + "\n" for record in [first, *samples]), encoding="utf-8")
    ended = run_module("nearfar_report", *paths, cwd=folder)
    assert (ended.status, ended.err) == (0, "")
    return ended.directory / "index.html"


def measured_in_browser(page: Path, folder: Path) -> dict[int, dict[str, Any]]:
    """What the browser finds in the page at each width."""
    browser = shutil.which("chromium")
    assert browser is not None, "chromium is missing; scripts/setup test installs it"
    (folder / "page.html").write_text(page.read_text(encoding="utf-8").replace("</body>", f"{MEASURE}</body>"), encoding="utf-8")
    frames = "".join(f'<iframe src="page.html" style="width:{width}px;height:900px;border:0"></iframe>' for width in WIDTHS)
    (folder / "around.html").write_text(AROUND + frames, encoding="utf-8")
    command = [
        browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
        f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=20000", "--dump-dom", (folder / "around.html").as_uri(),
    ]  # fmt: skip
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    found = re.search(r'<pre id="found">(.*?)</pre>', ended.stdout, re.DOTALL)
    assert found is not None, ended.stderr
    results = [json.loads(html.unescape(line)) for line in found[1].splitlines()]
    assert sorted(one["width"] for one in results) == sorted(WIDTHS), ended.stderr
    return {one["width"]: one for one in results}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[int, dict[str, Any]]]:
    folder = tmp_path_factory.mktemp("page")
    yield measured_in_browser(page_of(folder), folder)


Found = dict[int, dict[str, Any]]


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_cut(found: Found, width: int) -> None:
    assert found[width]["cut"] == []


@pytest.mark.parametrize("width", WIDTHS)
def test_what_scrolls_says_so(found: Found, width: int) -> None:
    assert found[width]["unhinted"] == []
    assert found[width]["hints"] > 0  # the latencies are wider than either window
    assert found[width]["wide"] > 0 or width == 400  # hints are for boxes that scroll alone


@pytest.mark.parametrize("width", WIDTHS)
def test_figures_stay_large_enough(found: Found, width: int) -> None:
    assert len(found[width]["figures"]) >= 5
    assert min(found[width]["figures"]) >= LEAST_FIGURE


def test_a_click_sorts_by_numbers_and_another_turns_the_order(found: Found) -> None:
    first, second = found[1280]["sorted"]
    assert first == second[::-1]
    assert len(first) == 24 and first[-1] == "unknown"  # 33 µs; as a text it would come before 50 ns
