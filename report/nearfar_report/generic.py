"""A plain table for benchmarks this report has no figures for."""

from __future__ import annotations

import pandas

from .statistics import summarize
from .tables import Table, with_interval, world_name


def tables(benchmark: str, frame: pandas.DataFrame) -> list[Table]:
    """One row per configuration with the quantities that every benchmark has."""
    table = Table(
        f"{benchmark}: median [95 % confidence interval] of n repetitions. ns per acquisition is the measured time"
        " divided by the acquisitions of all ranks.",
        ["Lock", "World", "Nodes", "Ranks", "n", "ns per acquisition", "Mio/s", "CV of progress in %"],
        2,
    )
    for (world, nodes, ranks), group in frame.groupby(["world", "nodes", "ranks"]):
        for series, part in group.groupby("series", sort=False):
            cells = [with_interval(summarize(part[key])) for key in ("time_ns", "million_per_s", "cv_percent")]
            table.rows.append([str(series), world_name(world), str(nodes), str(ranks), str(len(part)), *cells])
    return [table]
