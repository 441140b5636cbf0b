"""The key file: 32 random bytes that seal the secrets of every chassis in the record."""

import os
from pathlib import Path

#: Bytes of the key (AES-256).
SIZE = 32


class KeyFileError(Exception):
    """The key file can't be used. The text says what to do."""


def read_or_make(path: Path) -> bytes:
    """Return the key; make the file (0600) if there is none. Raises KeyFileError."""
    try:
        key = path.read_bytes()
    except FileNotFoundError:
        return _make(path)
    except OSError as error:
        raise KeyFileError(f"the key file {path} can't be read: {error.strerror}") from None
    if len(key) != SIZE:
        raise KeyFileError(
            f"the key file {path} has {len(key)} bytes, not {SIZE}; put the right one back"
        )
    return key


def _make(path: Path) -> bytes:
    """Write a new key under another name first: a torn key file would lose every secret later."""
    key = os.urandom(SIZE)
    draft = path.with_name(f"{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.unlink(missing_ok=True)
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.write(handle, key)
            os.fsync(handle)
        finally:
            os.close(handle)
        draft.replace(path)
    except OSError as error:
        raise KeyFileError(f"the key file {path} can't be made: {error.strerror}") from None
    return key
