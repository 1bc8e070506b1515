"""What the commands of this package have in common: errors that take one line, and statuses."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from typing import NoReturn

from .fields import ReportError, printable


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors take one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {printable(message)}; see {self.prog} --help\n")


def run(program: str, action: Callable[[], int]) -> int:
    """The status that the action returns; whatever goes wrong in it takes one line on stderr."""
    try:
        status = action()
        sys.stdout.flush()
        return status
    except ReportError as error:
        problem = str(error)
    except ModuleNotFoundError as error:
        problem = (
            f"{sys.executable} has no module {error.name}: install it (Debian: apt-get install python3-{error.name}),"
            " or name a Python that has it in NEARFAR_PYTHON"
        )
    except OSError as error:
        sys.stdout = None  # what is left in its buffer must not fail once more
        problem = f"the output could not be written: {error.strerror}"
    except KeyboardInterrupt:
        return 130
    except Exception as error:  # a user has no use for a traceback
        if os.environ.get("NEARFAR_TRACEBACK"):
            raise
        problem = f"a fault of {program} itself: {error!r}; NEARFAR_TRACEBACK=1 shows where, please report it"
    print(f"{program}: {printable(problem)}", file=sys.stderr)
    return 2
