"""The written report: figures, page, warnings, overlays."""

from __future__ import annotations

import base64
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import pytest
from report_builders import Outcome, ecsb, upb, upb_samples

Report = Callable[..., Outcome]
Write = Callable[..., Path]

UPB_TIMES = {"a": 100.0, "b": 200.0, "c": 50_000.0}


def eight(lock: str, **changes: object) -> list[dict]:
    """Repetitions with 1000, 1001, ... 1007 acquisitions in 100 µs."""
    return [ecsb(lock, r, (600 + r, 400), **changes) for r in range(8)]


def table_rows(page: str) -> list[list[str]]:
    """The cells of all table rows as text; line breaks become ' | '."""
    rows = []
    for row in re.findall(r"<tr>(.*?)</tr>", page, re.DOTALL):
        cells = re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.DOTALL)
        rows.append([re.sub(r"<[^>]+>", "", cell.replace("<br>", " | ")) for cell in cells])
    return rows


def assert_figure(directory: Path, name: str) -> None:
    png = (directory / f"{name}.png").read_bytes()
    assert png.startswith(b"\x89PNG\r\n\x1a\n") and len(png) > 5000
    root = ElementTree.fromstring((directory / f"{name}.svg").read_bytes())
    assert root.tag == "{http://www.w3.org/2000/svg}svg" and len(list(root.iter())) > 50


def assert_self_contained(page: str) -> None:
    assert "http://" not in page and "https://" not in page and "<script " not in page and "@import" not in page
    assert "url(" not in page and "<link" not in page and "import(" not in page and "fetch(" not in page
    sources = re.findall(r'(?:src|href)\s*=\s*"?([^\s">]*)', page)
    assert sources and all(source.startswith(("data:image/", "#")) for source in sources)
    anchors = [source[1:] for source in sources if source.startswith("#")]
    assert set(anchors) == set(re.findall(r' id="([^"]*)"', page)) and anchors


def test_ecsb_and_upb_report(report: Report, write: Write) -> None:
    one = write("ecsb.jsonl", eight("cohort") + eight("mcs", world="threads"))
    two = write("upb.jsonl", upb_samples("cohort", UPB_TIMES))
    outcome = report(one, two, "--title", "Locks & <keys>")
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out == "nearfar-report/index.html\n"
    figures = ["ecsb-bars", "upb-time", "upb-throughput", "upb-scenarios"]
    assert outcome.names == {"index.html", *(f"{name}.{kind}" for name in figures for kind in ("png", "svg"))}
    for name in figures:
        assert_figure(outcome.directory, name)
    assert_self_contained(outcome.page)
    assert "<title>Locks &amp; &lt;keys&gt;</title>" in outcome.page
    embedded = [base64.b64decode(data) for data in re.findall(r"base64,([^\"]+)", outcome.page)]
    assert embedded == [(outcome.directory / f"{name}.svg").read_bytes() for name in figures]
    assert outcome.page.count("<details>") == 2 and "Open MPI 4.1.4" in outcome.page


def test_ecsb_numbers(report: Report, write: Write) -> None:
    outcome = report(write("a.jsonl", [ecsb("cohort", r, (600, 400), local_handovers=100) for r in range(8)]))
    rows = table_rows(outcome.page)
    # 100000 ns / 1000 = 100 ns = 10 Mio/s; CV = sqrt(20000)/500 = 28.28 %.
    speed = ["100.0 [100.0, 100.0]", "10.000 [10.000, 10.000]", "0.2828 [0.2828, 0.2828]"]
    kinds = ["50.0 [50.0, 50.0]", "10.0 [10.0, 10.0]", "75.0 [75.0, 75.0]"]
    assert ["cohort", "MPI", "1", "2", "8", *speed, *kinds] in rows


def test_interval_and_median_in_the_table(report: Report, write: Write) -> None:
    samples = [ecsb("tas", r, (t, t), duration_ns=200 * t * t) for r, t in enumerate([8, 3, 1, 6, 2, 7, 5, 4])]
    rows = table_rows(report(write("a.jsonl", samples)).page)  # 100 t ns per acquisition
    assert any(row[:6] == ["tas", "MPI", "1", "2", "8", "450.0 [100.0, 800.0]"] for row in rows)


def test_few_repetitions_are_labelled_as_range(report: Report, write: Write) -> None:
    samples = [ecsb("tas", r, (500, 500), duration_ns=1000 * t) for r, t in enumerate([30, 10, 20])]
    samples.append(ecsb("cohort"))
    page = report(write("a.jsonl", samples)).page
    rows = table_rows(page)
    assert any(row[:6] == ["tas", "MPI", "1", "2", "3", "20.0 | range 10.0 … 30.0"] for row in rows)
    assert any(row[:6] == ["cohort", "MPI", "1", "2", "1", "100.0 | one value"] for row in rows)
    assert "whiskers: range (n = 1 to 3)." in page


def test_what_a_lock_cannot_know(report: Report, write: Write) -> None:
    samples = [ecsb("mpi_win", r, contended=None, followed_other_share=None) for r in range(8)]
    rows = table_rows(report(write("a.jsonl", samples)).page)
    assert next(row for row in rows if row[0] == "mpi_win")[-3:] == ["–", "–", "–"]


def test_upb_numbers(report: Report, write: Write) -> None:
    outcome = report(write("u.jsonl", upb_samples("cohort", UPB_TIMES)))
    rows = table_rows(outcome.page)
    # Times 100..107 ns, each three times: 24 values; 7th is 102, 18th is 105, median 103.5.
    pooled = next(row for row in rows if row[:4] == ["cohort", "MPI", "2", "4"])
    assert pooled[4] == "103.5 [102.0, 105.0] | 9.662 million/s, n = 24"
    assert pooled[6].startswith("50\u202f004 [50\u202f002, 50\u202f005] | ")  # 50003.5 rounded
    single = next(row for row in rows if row[:3] == ["cohort", "MPI", "2: same node"])
    assert single[5] == "103.5 [100.0, 107.0]"
    assert "No lock shows a clear difference that depends on the last holder." in outcome.page


def test_upb_says_when_pooling_hides_a_difference(report: Report, write: Write) -> None:
    samples = upb_samples("cohort", UPB_TIMES)
    slow = [
        {**s, "measured": {"time": s["measured"]["time"] + 80}} if s["scenario"] == "3a" else s for s in samples
    ]  # fmt: skip
    page = report(write("u.jsonl", slow)).page
    assert "The last holder does make a difference for cohort (a): see the figure of all scenarios." in page


def test_upb_without_other_node_and_with_nulls(report: Report, write: Write) -> None:
    samples = upb_samples("mcs", {"a": 20.0, "b": 60.0}, world="threads", nodes=1)
    samples += [upb("mcs", "1c", 0, None, world="threads", nodes=1)]
    outcome = report(write("u.jsonl", samples))
    assert outcome.status == 0
    assert next(row for row in table_rows(outcome.page) if row[:2] == ["mcs", "threads"])[6] == "–"


def test_lines_over_ranks(report: Report, write: Write) -> None:
    samples = [
        ecsb(lock, r, [100 + r] * ranks, nodes=nodes)
        for lock in ("cohort", "tas") for ranks, nodes in ((2, 1), (4, 1), (2, 2), (4, 2)) for r in range(8)
    ]  # fmt: skip
    outcome = report(write("a.jsonl", samples))
    assert outcome.status == 0
    assert {"ecsb-curves-1.svg", "ecsb-curves-2.svg"} <= outcome.names
    assert_figure(outcome.directory, "ecsb-curves-1")
    assert "ECSB): time, throughput and variation of progress over ranks (MPI world, 2 nodes)" in outcome.page


def test_scaling_run_that_fills_nodes_is_one_curve(report: Report, write: Write) -> None:
    samples = [ecsb("cohort", r, [100] * k, nodes=n) for k, n in ((2, 1), (4, 2), (8, 4)) for r in range(8)]
    outcome = report(write("a.jsonl", samples))
    assert {name for name in outcome.names if name.endswith(".png")} == {"ecsb-curves.png"}


def test_unsound_locks_are_marked(report: Report, write: Write) -> None:
    """Every figure marks them: a reader of one figure must not take them for working locks."""
    file = write("a.jsonl", [*eight("mcs", sound=True), *eight("d_mcs.put", sound=False)])
    page = report(file).page
    assert "d_mcs.put (unsound)" in page
    assert "mcs (unsound)" not in page.replace("d_mcs.put (unsound)", "")


def test_series_that_are_not_steady_are_marked(report: Report, write: Write) -> None:
    """The median over repetitions decides: a single repetition that met other work does not."""
    drifts = [1.0, 1.02, 0.97, 1.5, 0.99, 1.01, 0.4, 1.0]
    noisy = [{**one, "drift": drift} for one, drift in zip(eight("mcs"), drifts)]
    forming = [{**one, "drift": 3.0} for one in eight("cohort")]
    few = [ecsb("tas", r, (9, 9), drift=1.0) for r in range(8)]
    page = report(write("a.jsonl", [*noisy, *forming, *few])).page
    assert "cohort (not steady)" in page and "tas (not steady)" in page
    assert "mcs (" not in page


def test_locks_come_in_the_users_order(report: Report, write: Write) -> None:
    samples = eight("cohort") + eight("mcs") + eight("dash")
    text = report(write("a.jsonl", samples, locks=["mcs", "dash", "cohort"]), "--text").out
    rows = [line.split(" | ")[0] for line in text.splitlines() if "| MPI | 1 | 2 |" in line]
    assert rows[:3] == ["| mcs", "| dash", "| cohort"]


def test_twenty_locks(report: Report, write: Write) -> None:
    samples = [ecsb(f"lock_{i:02}", 0, [100 + i] * ranks) for i in range(20) for ranks in (2, 4)]
    assert_figure(report(write("a.jsonl", samples)).directory, "ecsb-curves")


def test_void_samples_are_left_out_and_announced(report: Report, write: Write) -> None:
    samples = eight("cohort")
    samples[3] = ecsb("cohort", 3, (1, 1), verified=False)  # would be 50000 ns per acquisition
    samples += eight("tas")
    path = write("a.jsonl", samples)
    outcome = report(path)
    assert outcome.status == 1
    assert outcome.out == "nearfar-report/index.html\n"
    assert outcome.err.count("\n") == 1
    assert outcome.err.startswith(f"nearfar report: {path}:5: verified is false")
    assert "1 sample is void and left out of all figures." in outcome.page
    assert "ecsb cohort, mpi, nodes 1, ranks 2, repetition 3" in outcome.page
    row = next(row for row in table_rows(outcome.page) if row[0] == "cohort")
    assert row[4] == "7" and "50" not in row[5]


def test_nothing_but_void_samples(report: Report, write: Write) -> None:
    outcome = report(write("a.jsonl", [ecsb(verified=False), ecsb("tas", 0, (0, 0))]))
    assert outcome.status == 1
    assert outcome.names == {"index.html"}
    assert "2 samples are void" in outcome.page
    assert "no acquisition at all" in outcome.page


def test_several_files_are_labelled_where_they_meet(report: Report, write: Write) -> None:
    one = write("before.jsonl", eight("cohort") + eight("tas"))
    two = write("after.jsonl", eight("cohort", duration_ns=50_000) + eight("dash"))
    outcome = report(one, two)
    locks = [row[0] for row in table_rows(outcome.page) if len(row) == 11 and row[1] == "MPI"]
    assert locks == ["cohort · before", "cohort · after", "dash", "tas"]


def test_files_from_different_machines_are_not_joined(report: Report, write: Write) -> None:
    one = write("one.jsonl", [ecsb("cohort", r, (5, 5)) for r in range(8)])
    two = write("two.jsonl", [ecsb("cohort", r, (5, 5, 5, 5), machine="beta") for r in range(8)], host="beta")
    page = report(one, two).page
    assert "cohort · one" in page and "cohort · two" in page


def test_files_of_the_same_name(report: Report, write: Write) -> None:
    page = report(write("x/run.jsonl", eight("cohort")), write("y/run.jsonl", eight("cohort"))).page
    assert "cohort · x/run" in page and "cohort · y/run" in page


def test_parameters_are_shown_where_they_differ(report: Report, write: Write) -> None:
    samples = eight("cohort", parameters={"passes": 10, "x": 1}) + eight("cohort", parameters={"passes": 50, "x": 1})
    page = report(write("a.jsonl", samples)).page
    assert "cohort (passes=10)" in page and "cohort (passes=50)" in page
    assert "x=1" not in page


def test_a_lock_keeps_its_colour_in_all_figures(write: Write) -> None:
    from nearfar_report.measurements import measurements
    from nearfar_report.results import read_all
    from nearfar_report.styles import looks

    one = write("e.jsonl", eight("tas") + eight("cohort"))
    two = write("u.jsonl", upb_samples("cohort", UPB_TIMES) + upb_samples("dash", UPB_TIMES))
    frame = measurements(read_all([str(one), str(two)]))
    of_ecsb, of_upb = (looks(frame, frame[frame["benchmark"] == name]) for name in ("ecsb", "upb"))
    assert of_ecsb["cohort"] == of_upb["cohort"]
    assert len({of_ecsb["tas"].colour, of_ecsb["cohort"].colour, of_upb["dash"].colour}) == 3


def test_unknown_benchmark_and_fields(report: Report, write: Write) -> None:
    samples = [{**ecsb("cohort", r), "benchmark": "wbab", "wait": {"ns": 5}} for r in range(8)]
    outcome = report(write("a.jsonl", samples, compiled_by="moonlight"))
    assert outcome.status == 0
    assert outcome.names == {"index.html", "wbab-bars.png", "wbab-bars.svg"}
    assert "Benchmark wbab" in outcome.page and "moonlight" in outcome.page
    assert any(row[:6] == ["cohort", "MPI", "1", "2", "8", "100.0 [100.0, 100.0]"] for row in table_rows(outcome.page))


def test_oversubscription_is_pointed_out(report: Report, write: Write) -> None:
    assert "More ranks than processors" in report(write("a.jsonl", eight("cohort"), oversubscribed=True)).page


@pytest.mark.parametrize("name", ["$x_{$", "<b>&\"'", "锁", "a--b", "%s"])
def test_strange_lock_names(report: Report, write: Write, name: str) -> None:
    outcome = report(write("a.jsonl", eight(name)))
    assert (outcome.status, outcome.err) == (0, "")
    assert_figure(outcome.directory, "ecsb-bars")
    assert "<b>" not in outcome.page


def test_one_rank_and_perfect_fairness(report: Report, write: Write) -> None:
    samples = [ecsb("solo", r, (50,)) for r in range(8)] + [ecsb("fair", r, (50, 50)) for r in range(8)]
    rows = table_rows(report(write("a.jsonl", samples)).page)
    assert next(row for row in rows if row[0] == "solo")[7] == "–"
    assert next(row for row in rows if row[0] == "fair")[7] == "0.0000 [0.0000, 0.0000]"


def test_the_same_data_gives_the_same_bytes(report: Report, write: Write) -> None:
    results = write("a.jsonl", eight("cohort") + eight("tas"))
    first = {path.name: path.read_bytes() for path in report(results).directory.iterdir()}
    assert {path.name: path.read_bytes() for path in report(results).directory.iterdir()} == first


def test_output_directory(report: Report, write: Write, tmp_path: Path) -> None:
    target = tmp_path / "deep" / "down"
    outcome = report(write("a.jsonl", eight("cohort")), "--output", target)
    assert outcome.out == f"{target}/index.html\n"
    assert (target / "index.html").exists() and not outcome.directory.exists()
    assert not [path for path in target.iterdir() if path.name.startswith(".")]


def test_tables_as_text(report: Report, write: Write) -> None:
    outcome = report(write("a.jsonl", [ecsb("cohort", r, (600, 400)) for r in range(8)]), "--text")
    assert (outcome.status, outcome.err) == (0, "")
    lines = outcome.out.splitlines()
    speed = "Time in ns | Throughput in million/s | Variation of progress"
    kinds = "Contention in % | Local hand-overs in % | Followed another rank in %"
    assert f"| Lock | World | Nodes | Ranks | n | {speed} | {kinds} |" in lines
    assert f"| --- | --- | {' | '.join(['---:'] * 9)} |" in lines
    speed = "100.0 [100.0, 100.0] | 10.000 [10.000, 10.000] | 0.2828 [0.2828, 0.2828]"
    assert f"| cohort | MPI | 1 | 2 | 8 | {speed} | 50.0 [50.0, 50.0] | – | 75.0 [75.0, 75.0] |" in lines
    assert not outcome.directory.exists()


def test_check_writes_nothing(report: Report, tmp_path: Path) -> None:
    assert report("--check").status == 0
    (tmp_path / "file").write_text("")
    outcome = report("--check", "--output", tmp_path / "file")
    assert outcome.status == 2
    assert not outcome.directory.exists()
