"""Common code of this package's commands: errors that take one line, and exit statuses."""

from __future__ import annotations

import argparse
import codecs
import io
import os
import signal
import sys
import traceback
from collections.abc import Callable
from typing import NoReturn

from .fields import LostOutput, ReportError, printable


# Exit statuses; docs/scripting.md has those of all subcommands.
FAILED = 1
BAD_INPUT = 2
INCOMPLETE = 3


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors take one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {printable(message)}; see {self.prog} --help\n")


def run(program: str, action: Callable[[], int]) -> int:
    """The status that the action returns; whatever goes wrong in it takes one line on stderr."""
    failed = BAD_INPUT
    try:
        _prepare_streams()
        status = action()
        sys.stdout.flush()
        return status
    except LostOutput as error:
        problem, failed = str(error), FAILED
    except ReportError as error:
        problem = str(error)
    except ModuleNotFoundError as error:
        problem = (
            f"{sys.executable} has no module {error.name}: install it (Debian: apt-get install python3-{error.name}),"
            " or name a Python that has it in NEARFAR_PYTHON"
        )
    except ImportError as error:
        module = f"the module {error.name}" if error.name else "a module"
        problem = (
            f"{sys.executable} could not load {module}: {_reason(error)}; mend its installation, raise the limit on"
            " memory if there is one (ulimit -v), or name another Python in NEARFAR_PYTHON"
        )
    except MemoryError:
        problem = "out of memory: raise the limit if there is one (ulimit -v), or name fewer results files"
    except BrokenPipeError:
        _end_by_signal(signal.SIGPIPE)
        raise
    except OSError as error:
        if error.filename is None:
            sys.stdout = None  # what is left in its buffer must not fail once more
            problem = f"cannot write standard output: {error.strerror}; free space or send it elsewhere"
        else:  # of Python or of a module, as matplotlib's in MPLCONFIGDIR
            problem = (
                f"cannot use '{error.filename}': {error.strerror};"
                " correct MPLCONFIGDIR, TMPDIR or HOME if one of them names it"
            )
        failed = FAILED
    except KeyboardInterrupt:
        return 130
    except Exception as error:  # a user has no use for a traceback
        if os.environ.get("NEARFAR_TRACEBACK"):
            traceback.print_exc()
            return 2
        problem = f"a fault of {program} itself: {error!r}; please report it with what NEARFAR_TRACEBACK=1 shows"
    print(f"{program}: {printable(problem)}", file=sys.stderr)
    return failed


def _end_by_signal(number: signal.Signals) -> None:
    """Ends the process as if nobody had caught the signal: whoever reads no more wants no message."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def end(main: Callable[[], int]) -> NoReturn:
    """Ends Python with the status of `main`, to which the command nearfar has a number added.

    By that it knows that it has its status from here, and not from a Python that could not even start.
    """
    try:
        status = main()
    except SystemExit as ended:  # of the argument parser
        status = ended.code if isinstance(ended.code, int) else 0
    if status < 128:  # those from 128 are of signals
        status += int(os.environ.get("NEARFAR_STATUS_BASE", "0"))
    sys.exit(status)


def _prepare_streams() -> None:
    """Makes output possible wherever it goes; raises the ReportError of a stdout that is closed."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # otherwise print would write to stdout
    if sys.stdout is None:
        raise LostOutput("cannot write standard output: it is closed; send it to a file or to /dev/null")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors=_AS_FAR_AS_POSSIBLE)


_AS_FAR_AS_POSSIBLE = "nearfar.as_far_as_possible"


def _encode_as_far_as_possible(problem: UnicodeError) -> tuple[str | bytes, int]:
    """The byte that a surrogate in a path stands for, and a blank or '?' for what the encoding lacks."""
    if not isinstance(problem, UnicodeEncodeError):
        raise problem
    character, after = problem.object[problem.start], problem.start + 1
    if "\udc80" <= character <= "\udcff":
        return bytes([ord(character) - 0xDC00]), after
    return " " if character.isspace() else "?", after


codecs.register_error(_AS_FAR_AS_POSSIBLE, _encode_as_far_as_possible)


def _reason(error: ImportError) -> str:
    """Its last line: pandas and numpy put general advice before what happened."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    prefix = "Original error was: "
    last = lines[-1] if lines else repr(error)
    return last[len(prefix) :] if last.startswith(prefix) else last
