"""The claims of a publication with their verdicts: a file of JSON Lines that ``nearfar figures`` writes."""

from __future__ import annotations

import json

from .fields import ReportError, printable
from .page import Section
from .tables import Table

_VERDICTS = {True: "holds", False: "does not hold", None: "not measured"}


def section(path: str) -> Section:
    """The table of all claims in the file; raises ``ReportError`` if there are none in it."""
    table = Table("Each claim with the figures that it was judged by.", ["Verdict", "Claim", "Found"], 3)
    verdicts = []
    try:
        with open(path, encoding="utf-8") as file:
            for line in file:
                claim = json.loads(line)
                verdicts.append(claim["holds"])
                table.rows.append([_VERDICTS[claim["holds"]], claim["claim"], claim["found"]])
    except OSError as error:
        raise ReportError(f"{printable(path)}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError):
        raise ReportError(f"{printable(path)}: holds no claims; remove it and run nearfar figures again") from None
    counts = [f"{verdicts.count(verdict)} {_VERDICTS[verdict]}" for verdict in _VERDICTS if verdict in verdicts]
    return Section("Claims", [], [table], f"Of {len(verdicts)} claims: {', '.join(counts)}.")
