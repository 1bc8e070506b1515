"""Colours, markers and matplotlib settings: a lock has the same look in all figures."""

from __future__ import annotations

import os

os.environ["MPLBACKEND"] = "Agg"

import io
import logging
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

logging.getLogger("matplotlib").setLevel(logging.ERROR)

import matplotlib
import pandas
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure

# Okabe and Ito without black and yellow (too faint on white), continued with Tol's "muted"; all told apart by
# readers with the common colour vision deficiencies. More locks repeat the colours, in lines with hollow markers. Beside
# each bar stands its name.
COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255", "#999933", "#332288", "#777777",
)  # fmt: skip
MARKERS = "osD^vPX<>ph*"
DASHES = ("-", (0, (5, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)))
TEXT = "#222222"
FAINT = "#767676"
NOTE = "#8A4B00"

_SETTINGS = {
    "axes.axisbelow": True,
    "axes.edgecolor": FAINT,
    "axes.grid": True,
    "axes.labelcolor": TEXT,
    "axes.labelsize": 9.5,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "savefig.facecolor": "white",
    "svg.fonttype": "path",
    "svg.hashsalt": "nearfar",
    "text.color": TEXT,
    "text.parse_math": False,
    "xtick.color": FAINT,
    "xtick.labelcolor": TEXT,
    "xtick.labelsize": 8.5,
    "ytick.color": FAINT,
    "ytick.labelcolor": TEXT,
    "ytick.labelsize": 9,
}


@dataclass(frozen=True)
class Look:
    """The look of one series. The object determines the colour; the rest distinguishes its series."""

    colour: str
    marker: str
    dashes: object
    hollow: bool

    def lightened(self, amount: float) -> str:
        """The colour moved towards white by 0 (not at all) to 1 (white)."""
        return str(to_hex([part + (1 - part) * amount for part in to_rgb(self.colour)]))


def configure() -> None:
    """Sets matplotlib up, independent of the user's matplotlibrc."""
    matplotlib.rcdefaults()
    matplotlib.rcParams.update(_SETTINGS)
    warnings.filterwarnings("ignore", message="Glyph .* missing from current font")


def looks(frame: pandas.DataFrame, of_benchmark: pandas.DataFrame) -> dict[str, Look]:
    """A look for every series of one benchmark; colours follow the order of the objects of a kind in all rows."""
    of_kind = frame[frame["kind"].isin(of_benchmark["kind"])]
    families = of_kind[["kind", "object"]].drop_duplicates().itertuples(index=False, name=None)
    return assign(
        of_benchmark.loc[(of_benchmark["kind"] == kind) & (of_benchmark["object"] == name), "series"].unique()
        for kind, name in families
    )


def assign(families: Iterable[Sequence[str]]) -> dict[str, Look]:
    """A look for every series of each family: one colour a family, by its place in the order."""
    result: dict[str, Look] = {}
    for index, members in enumerate(families):
        turn = index // len(COLOURS)
        for variant, series in enumerate(members):
            result[series] = Look(
                colour=COLOURS[index % len(COLOURS)],
                marker=MARKERS[(index + 5 * variant) % len(MARKERS)],
                dashes=DASHES[variant % len(DASHES)],
                hollow=(turn + variant) % 2 == 1,
            )
    return result


@dataclass(frozen=True)
class Picture:
    """A finished figure: file name without extension, both formats, caption and alternative text."""

    name: str
    png: bytes
    svg: bytes
    caption: str
    alternative: str


def picture(figure: Figure, name: str, caption: Sequence[str], alternative: str) -> Picture:
    """Renders a figure in both formats, byte for byte the same for the same data."""
    images = {}
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # the layout stands; computing it again for each format takes long
    metadata = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}
    for kind in ("png", "svg"):
        stream = io.BytesIO()
        figure.savefig(stream, format=kind, dpi=160, metadata=metadata[kind])
        images[kind] = stream.getvalue()
    return Picture(name, images["png"], images["svg"], " ".join(caption), alternative)
