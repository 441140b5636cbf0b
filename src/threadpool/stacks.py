"""Where a thread is, in few words."""

import gc
import sys
from pathlib import Path
from threading import Lock
from types import FrameType

_OURS = str(Path(__file__).parent)
_collecting = Lock()  # or two callers would take each other's pause for the setting
_MOST = 6
"""Frames that are shown: the innermost outside of this package."""


def frames() -> dict[int, FrameType]:
    """The innermost frame of each thread, by the thread's identifier.

    Up to Python 3.11 a garbage collection inside of this call can stop the whole process for ever:
    it holds the interpreter's list of threads, and a finalizer may hand on to a thread that wants
    that list, to start another thread, say (https://github.com/python/cpython/issues/106883).
    """
    with _collecting:
        on = gc.isenabled()
        gc.disable()
        try:
            return sys._current_frames()
        finally:
            if on:
                gc.enable()


def stack_text(frame: FrameType | None) -> str:
    """The innermost calls of a thread, the last one last; empty when it has ended.

    No source is read: it may be asked for under a lock, and while everything else stands still.
    """
    return " > ".join(reversed([_shown(frame) for frame in _outside(frame)]))


def call_site() -> str:
    """The place outside of this package that called it, as ``file:line``."""
    outside = _outside(sys._getframe(1))
    return f"{outside[0].f_code.co_filename}:{outside[0].f_lineno}" if outside else "?"


def _outside(frame: FrameType | None) -> list[FrameType]:
    found: list[FrameType] = []
    while frame is not None and len(found) < _MOST:
        if not frame.f_code.co_filename.startswith(_OURS):
            found.append(frame)
        frame = frame.f_back
    return found


def _shown(frame: FrameType) -> str:
    code = frame.f_code
    return f"{code.co_qualname} ({Path(code.co_filename).name}:{frame.f_lineno})"
