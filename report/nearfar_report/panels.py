"""One panel for each set of axes: curves over ranks, nodes or another setting with several values, else bars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas

from .column import Column, summary_of
from .charts import BarPanel, LinePanel, Scale
from .statistics import Summary
from .tables import counted, world_name

ROWS_PER_FIGURE = 44
WORLDS_OF_THREADS = ("threads", "team")
COMBINED_FROM = 3  # numbers of ranks or nodes from which a curve across nodes says something


@dataclass(frozen=True)
class Panel:
    """Configurations that belong into one picture: along an axis when it took several values, else bars."""

    title: str
    slug: str
    frame: pandas.DataFrame
    axis: str = "ranks"  # a column of the frame
    label: str = "ranks"

    @property
    def is_curve(self) -> bool:
        """Whether the axis has several values, so that lines connect them."""
        return bool(self.frame[self.axis].nunique() > 1)


def rank_noun(world: str) -> str:
    """The noun for a rank of a world."""
    return "thread" if world in WORLDS_OF_THREADS else "rank"


def tells_nodes(frame: pandas.DataFrame, world: str) -> bool:
    """Whether titles name the number of nodes; threads are on one node unless a run pretended several."""
    return world not in WORLDS_OF_THREADS or frame.loc[frame["world"] == world, "nodes"].nunique() > 1


def place_title(frame: pandas.DataFrame, world: str, nodes: int) -> str:
    """'MPI world, 2 nodes'."""
    return f"{world_name(world)} world" + (f", {counted(nodes, 'node')}" if tells_nodes(frame, world) else "")


def full_title(frame: pandas.DataFrame, world: str, nodes: int, ranks: int) -> str:
    """'MPI world, 2 nodes, 4 ranks'."""
    return f"{place_title(frame, world, nodes)}, {counted(ranks, rank_noun(world))}"


def panels(frame: pandas.DataFrame) -> list[Panel]:
    """One panel per world and number of nodes, over ranks.

    Where each of at least three numbers of ranks was run on one number of nodes only (a scaling run that fills node
    after node), the panels of a world are joined to one, as the curve is what is asked for. So they are, over nodes,
    where one number of ranks was run on at least three numbers of nodes.
    """
    return [panel for world, of_world in frame.groupby("world") for panel in _of_world(str(world), of_world)]


def _of_world(world: str, frame: pandas.DataFrame) -> list[Panel]:
    nodes_by_ranks = frame.groupby("ranks")["nodes"].nunique()
    low, high = frame["nodes"].min(), frame["nodes"].max()
    across = f"{world_name(world)} world, {low} to {high} nodes"
    if low < high and len(nodes_by_ranks) >= COMBINED_FROM and (nodes_by_ranks == 1).all():
        return [Panel(across, world, frame)]
    if len(nodes_by_ranks) == 1 and frame["nodes"].nunique() >= COMBINED_FROM:
        ranks = counted(int(frame["ranks"].iloc[0]), rank_noun(world))
        return [Panel(f"{across}, {ranks}", world, frame, "nodes", "nodes")]
    result = []
    for nodes, part in frame.groupby("nodes"):
        alone = part["ranks"].nunique() == 1
        title = full_title(frame, world, nodes, part["ranks"].iloc[0]) if alone else place_title(frame, world, nodes)
        slug = f"{world}-{counted(nodes, 'node').replace(' ', '-')}" if tells_nodes(frame, world) else world
        result.append(Panel(title, slug, part))
    return result


def bars(panel: Panel, columns: Sequence[Column]) -> BarPanel:
    """One bar per series and quantity."""
    cells = {}
    for series, group in panel.frame.groupby("series", sort=False):
        for column in columns:
            summary = summary_of(group, column.key)
            if summary:
                cells[(str(series), column.key, "")] = summary
    return BarPanel(panel.title, list(panel.frame["series"].unique()), cells)


def chunks(of_bars: Sequence[BarPanel]) -> list[list[BarPanel]]:
    """Panels that share a figure, so that none becomes taller than a page."""
    result: list[list[BarPanel]] = []
    rows = 0
    for panel in of_bars:
        if not result or rows + len(panel.series) > ROWS_PER_FIGURE:
            result.append([])
            rows = 0
        result[-1].append(panel)
        rows += len(panel.series)
    return result


def lines(panel: Panel, columns: Sequence[Column], scale: Scale | None = None) -> LinePanel:
    """One curve per series and quantity; over ranks, with marks where further nodes come in.

    Without a scale the panel's axis shows what was measured.
    """
    curves: dict[tuple[str, str], dict[float, Summary]] = {}
    for (series, value), group in panel.frame.groupby(["series", panel.axis], sort=False):
        for column in columns:
            summary = summary_of(group, column.key)
            if summary:
                curves.setdefault((str(series), column.key), {})[value] = summary
    scale = scale or Scale(panel.label, sorted(panel.frame[panel.axis].unique()))
    if panel.axis == "ranks":
        scale = replace(scale, marks=_marks(scale, panel.frame))
    return LinePanel(panel.title, list(panel.frame["series"].unique()), curves, scale)


def _marks(scale: Scale, frame: pandas.DataFrame) -> list[tuple[float, str]]:
    nodes = {float(ranks): int(count) for ranks, count in frame.groupby("ranks")["nodes"].first().items()}
    marks = []
    for before, after in zip(scale.values, scale.values[1:]):
        if nodes[after] != nodes[before]:
            middle = (before * after) ** 0.5 if scale.is_logarithmic else (before + after) / 2
            marks.append((middle, f"{nodes[after]} nodes"))
    return marks
