"""Finished figures with the sentence of their captions that says what markers, bars and whiskers are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from matplotlib.figure import Figure

from .column import Column, key_of
from .charts import BarPanel, LinePanel, bar_chart, curve_chart, line_chart
from .panels import chunks
from .published import NOTE
from .statements import TIME
from .statistics import Summary
from .styles import Look, Picture, picture
from .tables import enumeration, interval_note


def numbered(name: str, index: int, count: int) -> str:
    """The name of one of several files."""
    return name if count == 1 else f"{name}-{index}"


def prediction_note(drawn: Iterable[tuple[str, Summary]], are_drawn: bool) -> list[str]:
    """Sentences on the real machine's times, if any is predicted; `drawn` has the times with their series."""
    times = list(drawn)
    known = [one for _, one in times if one.factors]
    if not known:
        return []
    if are_drawn:
        return ["Simulated: in 90 of 100 cases the real machine's time lies on the pale lines."]
    factors = sorted({f"{one.factors[0]:.2f} and {one.factors[1]:.2f}" for one in known if one.factors})
    beyond = " beyond work and waits" if any(one.beyond_optimum for one in known) else ""
    cause = "" if len(factors) == 1 else ", depending on the machine and its number of nodes"
    predicted = {series for series, one in times if one.factors}
    lacking = list(dict.fromkeys(series for series, one in times if not one.factors))
    without = [series for series in lacking if series not in predicted]
    partly = [f"some points of {series}" for series in lacking if series in predicted]
    return [
        f"Simulated: in 90 of 100 cases the real machine's time{beyond} lies "
        f"between {' or '.join(factors)} times the simulated time{beyond}{cause}.",
        *([f"No such interval is known for {enumeration([*without, *partly])}."] if lacking else []),
    ]


def bar_picture(
    panels: Sequence[BarPanel], columns: Sequence[Column], looks: Mapping[str, Look], name: str, head: str,
    alternative: str, remarks: Sequence[str] = (), parts: Mapping[str, str] | None = None,
) -> Picture:  # fmt: skip
    """All panels in one figure."""
    summaries = [summary for panel in panels for summary in panel.cells.values()]
    said = prediction_note((("", one) for one in summaries), True)
    caption = [f"{head}. Medians; whiskers: {interval_note(summaries)}.", *said, *remarks]
    return picture(bar_chart(panels, columns, looks, parts), name, caption, alternative)


def bar_pictures(
    panels: Sequence[BarPanel], columns: Sequence[Column], looks: Mapping[str, Look], name: str, head: str,
    alternative: str, remarks: Sequence[str] = (),
) -> list[Picture]:  # fmt: skip
    """Figures that are no taller than a page; head and alternative are followed by the panels' titles."""
    result = []
    parts = chunks(panels)
    for index, part in enumerate(parts, start=1):
        titles = "; ".join(panel.title for panel in part)
        said = [*([NOTE] if any(panel.points for panel in part) else []), *remarks]
        of_part = numbered(name, index, len(parts))
        result.append(bar_picture(part, columns, looks, of_part, f"{head} ({titles})", alternative + titles, said))
    return result


def _line_picture(
    figure: Figure, panel: LinePanel, name: str, head: str, alternative: str, remarks: Sequence[str]
) -> Picture:
    summaries = [summary for curve in panel.curves.values() for summary in curve.values()]
    times = [(series, one) for (series, key), curve in panel.curves.items() if key == key_of(TIME) for one in curve.values()]
    said = [*prediction_note(times, panel.has_predictions), *([NOTE] if panel.points else []), *remarks]
    caption = f"{head}. Medians; bands or whiskers: {interval_note(summaries)}."
    return picture(figure, name, [caption, *said], alternative)


def line_picture(
    panel: LinePanel, columns: Sequence[Column], limits: Mapping[str, Sequence[Summary]], looks: Mapping[str, Look],
    name: str, head: str, alternative: str, remarks: Sequence[str] = (),
) -> Picture:  # fmt: skip
    """Several quantities in the quadrants of a figure."""
    return _line_picture(line_chart(panel, columns, limits, looks), panel, name, head, alternative, remarks)


def curve_picture(
    panel: LinePanel, column: Column, looks: Mapping[str, Look], name: str, head: str, alternative: str,
    remarks: Sequence[str] = (),
) -> Picture:  # fmt: skip
    """One quantity alone."""
    return _line_picture(curve_chart(panel, column, looks), panel, name, head, alternative, remarks)


def limits_of(panels: Sequence[LinePanel], columns: Sequence[Column]) -> dict[str, list[Summary]]:
    """For each quantity what all panels hold of it, so that they share their axes."""
    return {
        column.key: [
            summary for panel in panels for (_, key), curve in panel.curves.items() if key == column.key
            for summary in curve.values()
        ]
        for column in columns
    }  # fmt: skip
