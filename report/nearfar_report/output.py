"""Writing the files of a report: all of them or none."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Mapping

from .fields import LostOutput, ReportError, printable

# By this a page is known as ours, and may be replaced.
PAGE_MARK = '<meta name="generator" content="nearfar report">'
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def check_directory(directory: str, inputs: Iterable[str], overwrite: bool = False) -> None:
    """Refuses a place that cannot take the report, before any time is spent on figures."""
    shown = printable(directory)
    if os.path.lexists(directory) and not os.path.isdir(directory):
        raise ReportError(f"{shown}: exists and is not a directory; name another with --output")
    existing = directory
    while not os.path.lexists(existing):
        existing = os.path.dirname(os.path.abspath(existing))
    if not os.path.isdir(existing):
        raise ReportError(f"{shown}: {printable(existing)} is not a directory; name another with --output")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise ReportError(f"{shown}: no permission to write there; name another directory with --output")
    page = os.path.join(directory, "index.html")
    if os.path.isfile(page) and not _is_ours(page):
        raise ReportError(f"{printable(page)}: is no page of nearfar; name another directory with --output")
    if not overwrite and os.path.isfile(page) and os.path.getsize(page) > 0:
        raise ReportError(f"{printable(page)} exists: name another directory with --output, or replace it with --overwrite")
    inside = os.path.realpath(directory)
    for path in inputs:
        name = os.path.basename(os.path.realpath(path))
        if os.path.dirname(os.path.realpath(path)) == inside and os.path.splitext(name)[1] in (".html", ".png", ".svg"):
            raise ReportError(f"{printable(path)}: the report might overwrite this file; name another with --output")


def _is_ours(page: str) -> bool:
    """Whether a page may be replaced: it is empty, or made by this command."""
    try:
        with open(page, "rb") as stream:
            start = stream.read(1000)
    except OSError:
        return False
    return not start or PAGE_MARK.encode() in start


def write_all(directory: str, files: Mapping[str, bytes]) -> None:
    """Writes under temporary names first and renames only when everything is on disk."""
    created = not os.path.isdir(directory)
    temporary: list[str] = []
    try:
        os.makedirs(directory, exist_ok=True)
        for name in files:
            if os.path.isdir(os.path.join(directory, name)):
                raise IsADirectoryError(0, f"{name} is a directory")
        for name, content in files.items():
            path = os.path.join(directory, f".{name}.{os.getpid()}.tmp")
            temporary.append(path)
            with open(path, "wb") as stream:
                stream.write(content)
        for path, name in zip(list(temporary), files):
            os.replace(path, os.path.join(directory, name))
            temporary.remove(path)
    except OSError as error:
        what = f"{printable(directory)}: cannot be written ({error.strerror})"
        kind = LostOutput if error.errno in _FULL else ReportError
        raise kind(f"{what}; free space or name another with --output") from None
    finally:
        for path in temporary:
            if os.path.lexists(path):
                os.remove(path)
        if created and os.path.isdir(directory) and not os.listdir(directory):
            os.rmdir(directory)
