"""The claims of a publication with their verdicts: a file of JSON Lines that ``nearfar figures`` writes."""

from __future__ import annotations

import json
from collections.abc import Sequence

from .fields import ReportError, printable
from .page import Section
from .tables import Table

_VERDICTS = {True: "holds", False: "does not hold", None: "not measured"}
_NOT_JUDGED = "not judged"


def section(path: str) -> Section:
    """The table of all claims in the file; raises ``ReportError`` if there are none in it."""
    table = Table("Each claim with the figures that it was judged by.", ["Verdict", "Claim", "Found"], 3)
    verdicts = []
    try:
        with open(path, encoding="utf-8") as file:
            for line in file:
                claim = json.loads(line)
                # One repetition shows no spread, so its figures decide nothing.
                verdicts.append(_NOT_JUDGED if claim["holds"] is None and claim["found"] else _VERDICTS[claim["holds"]])
                table.rows.append([verdicts[-1], claim["claim"], claim["found"]])
    except OSError as error:
        raise ReportError(f"{printable(path)}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError):
        raise ReportError(f"{printable(path)}: holds no claims; remove it and run nearfar figures again") from None
    known = [*_VERDICTS.values(), _NOT_JUDGED]
    counts = [f"{verdicts.count(verdict)} {verdict}" for verdict in known if verdict in verdicts]
    return Section("Claims", [], [table], f"Of {len(verdicts)} claims: {', '.join(counts)}.", _notes(verdicts))


def _notes(verdicts: Sequence[str]) -> list[str]:
    return ["Not judged: each point has one repetition, which shows no spread."] if _NOT_JUDGED in verdicts else []
