"""The journal: what this rack was about to command, written down before it is sent.

A rack that was killed can't know whether its last commands arrived. Its next life reads here to which
slots they went and when, and does not command them again before the longest time of their effect.
One line of JSON for each intent and for each end of one; the last line of a slot counts.
"""

import os
from collections.abc import Iterable
from enum import StrEnum, unique
from errno import ENOSPC
from io import FileIO
from pathlib import Path
from threading import Lock

from attrs import evolve, frozen
from twisted.logger import Logger

from switchgear.errors import BadRequest
from switchgear.power import Wish
from switchgear.wire.arguments import from_json, to_json

#: The file is written anew, with what still counts, when it is larger than this.
COMPACT_ABOVE = 1_000_000


@unique
class End(StrEnum):
    """What became of an intent."""

    ACCEPTED = "accepted"
    NOT_ACCEPTED = "not-accepted"
    UNKNOWN = "unknown"


@frozen(kw_only=True)
class Line:
    """One intent, `at` seconds after the host's start `boot`; `effect`: seconds it may take to be seen.

    `end` is None until the call ended, and for ever if the rack died before it.
    """

    chassis: str
    slot: str
    wish: Wish
    operation: str
    at: float
    boot: str
    effect: float
    end: End | None = None


def understand(text: bytes) -> tuple[list[Line], int]:
    """Read a journal's lines, and count those that make no sense (a torn one after a power cut)."""
    lines: list[Line] = []
    torn = 0
    for raw in text.splitlines():
        try:
            lines.append(from_json(Line, raw))
        except BadRequest:
            torn += 1
    return lines, torn


def alive(lines: Iterable[Line], now: float, boot: str) -> list[Line]:
    """List the last intent of each slot whose command may have arrived and may still take effect.

    After a restart of the host nobody knows when an intent was written: it counts as sent now.
    """
    last = {(line.chassis, line.slot): line for line in lines}
    here = [
        line if line.boot == boot and line.at <= now else evolve(line, boot=boot, at=now)
        for line in last.values()
        if line.end is not End.NOT_ACCEPTED
    ]
    return [line for line in here if now - line.at < line.effect]


class Journal:
    """The file. `intend` and `ended` block and are called in pool threads; the rest at the start."""

    _log = Logger()

    def __init__(self, path: Path, boot: str) -> None:
        self._path = path
        self._boot = boot
        self._lock = Lock()
        self._file: FileIO | None = None
        self._lines: dict[tuple[str, str], Line] = {}

    def open(self, now: float) -> None:
        """Read what an earlier life left, and begin a fresh file with what still counts of it."""
        text = self._path.read_bytes() if self._path.exists() else b""
        lines, torn = understand(text)
        if torn:
            self._log.warn("{path}: {torn} torn lines left out", path=str(self._path), torn=torn)
        with self._lock:
            self._rewrite(alive(lines, now, self._boot))

    def left(self, chassis: str) -> list[Line]:
        """List the intents of a chassis that may still take effect."""
        with self._lock:
            return [line for line in self._lines.values() if line.chassis == chassis]

    def intend(self, line: Line) -> None:
        """Write an intent down, on the disk when this returns. Raises OSError: then do not send."""
        with self._lock:
            self._append(evolve(line, boot=self._boot), sync=True)
            if self._size() > COMPACT_ABOVE:
                self._rewrite(alive(self._lines.values(), line.at, self._boot))

    def ended(self, line: Line, end: End) -> None:
        """Note what became of an intent. One that is lost counts as unknown, so failures are logged only."""
        try:
            with self._lock:
                self._append(evolve(line, boot=self._boot, end=end), sync=False)
        except OSError:
            self._log.failure("the end of a command could not be written")

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None

    def _append(self, line: Line, *, sync: bool) -> None:
        assert self._file is not None, "the journal is not open"
        size, text = self._size(), to_json(line) + b"\n"
        try:
            _write_whole(self._file, text)
            if sync:
                os.fsync(self._file.fileno())
        except OSError:
            # A part of the line may be there: the next one must not be glued to it.
            self._file.truncate(size)
            raise
        self._lines[line.chassis, line.slot] = line

    def _size(self) -> int:
        assert self._file is not None
        return os.fstat(self._file.fileno()).st_size

    def _rewrite(self, lines: list[Line]) -> None:
        """Put a file with these lines in the journal's place; the old one counts until then."""
        fresh = self._path.with_name(self._path.name + ".new")
        with fresh.open("wb") as file:
            file.writelines(to_json(line) + b"\n" for line in lines)
            file.flush()
            os.fsync(file.fileno())
        # Unbuffered: a line is with the kernel when the write returns, and survives a kill.
        appending = fresh.open("ab", buffering=0)
        fresh.replace(self._path)
        if self._file is not None:
            self._file.close()
        self._file = appending
        self._lines = {(line.chassis, line.slot): line for line in lines}
        _sync_folder(self._path.parent)


def _write_whole(file: FileIO, text: bytes) -> None:
    if file.write(text) != len(text):
        raise OSError(ENOSPC, "the disk took only a part of a line")


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
