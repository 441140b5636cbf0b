"""Secrets given to a command: asked for at the terminal, from a file, or from standard input.

Never as a value on the command line, which every user of the host can read.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from switchgear.secret import Secret


def gather(asked: Sequence[str], files: Sequence[str], piped: str | None) -> dict[str, Secret]:
    """Return the secrets by name: `asked` at the terminal, `files` as NAME=FILE, one `piped` in."""
    secrets = {
        name: _from_file(name_and_file)
        for name_and_file in files
        for name in [_name(name_and_file)]
    }
    if piped is not None:
        secrets[piped] = Secret(sys.stdin.read().rstrip("\r\n"))
    for name in asked:
        text = click.prompt(name, hide_input=True, confirmation_prompt=True, err=True)
        secrets[name] = Secret(text)
    return secrets


def _name(name_and_file: str) -> str:
    name, found, _ = name_and_file.partition("=")
    if not found or not name:
        raise click.BadParameter("one looks like password=/path/of/a/file")
    return name


def _from_file(name_and_file: str) -> Secret:
    path = Path(name_and_file.partition("=")[2])
    try:
        return Secret(path.read_text(encoding="utf-8").rstrip("\r\n"))
    except (OSError, UnicodeDecodeError) as error:
        raise click.BadParameter(f"{path} can't be read: {error}") from None


def settings(pairs: Sequence[str]) -> dict[str, str]:
    """Return NAME=VALUE pairs as a dictionary."""
    found = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise click.BadParameter(
                f"{pair[:40]!r}: a setting looks like url=http://10.0.0.5/v2.0"
            )
        found[name] = value
    return found
