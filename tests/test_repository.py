"""What holds for the tree as a whole."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

#: Modules above 300 lines, each with the reason.
LONG: dict[str, str] = {
    "src/switchgear_cli/main.py": "the whole command tree, declared in one place; no logic",
    "src/switchgear/client/client.py": "one class, one method for each call of the wire",
    "src/switchgear/wire/client.py": "one surface of the wire, declared in one place; no logic",
}


def tracked(*patterns: str) -> list[Path]:
    """List tracked files; all files below the folders where this is no git checkout."""
    done = subprocess.run(
        ["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return [ROOT / line for line in done.stdout.splitlines() if (ROOT / line).is_file()]


def test_packages_are_complete() -> None:
    """Every folder with modules is a package, and every package of src tells its types."""
    for top in ("src", "tests"):
        for module in (ROOT / top).rglob("*.py"):
            if module.parent != ROOT / "src":
                assert (module.parent / "__init__.py").exists(), module.parent
    for package in (ROOT / "src").iterdir():
        if (package / "__init__.py").exists():
            assert (package / "py.typed").exists(), package


@pytest.mark.parametrize(
    ("pattern", "meaning"),
    [
        (r"\bdeferToThread\(", "a bare deferToThread has no class and no cause: use the pool"),
        (r"\bblockingCallFromThread\(", "use AdaptivePool.block_on_reactor"),
        (r"unittest\.mock|import mock\b", "a fake that passes the contract says more than a mock"),
    ],
)
def test_forbidden_words(pattern: str, meaning: str) -> None:
    """Neither bare threads nor mocks in the source."""
    for module in (ROOT / "src").rglob("*.py"):
        assert not re.search(pattern, module.read_text()), f"{module}: {meaning}"


def test_modules_are_short() -> None:
    """A module above 300 lines has a reason."""
    for module in (ROOT / "src").rglob("*.py"):
        name = str(module.relative_to(ROOT))
        length = len(module.read_text().splitlines())
        assert length <= 300 or name in LONG, f"{name} has {length} lines"


def test_locks_are_complete() -> None:
    """Every locked requirement has hashes, and names no index."""
    for lock in (ROOT / "requirements").glob("*.txt"):
        text = lock.read_text()
        names = re.findall(r"^[A-Za-z0-9_.\-\[\]]+==", text, re.MULTILINE)
        blocks = re.findall(
            r"^[A-Za-z0-9_.\-\[\]]+==\S+(?:[^\n]*\\\n\s+--hash=\S+)+", text, re.MULTILINE
        )
        assert names, lock
        assert len(names) == len(blocks), lock
        assert not re.search(r"index-url|find-links|trusted-host|file://", text), lock


def test_every_statement_is_in_a_sql_file() -> None:
    """The record's functions hold no SQL of their own."""
    for module in (ROOT / "src" / "regiond" / "record").rglob("*.py"):
        assert not re.search(r"\b(SELECT|INSERT INTO|DELETE FROM)\b", module.read_text()), module


def test_no_paths_of_a_machine() -> None:
    """No tracked text names a home folder."""
    for path in tracked("*.py", "*.md", "*.cfg", "*.toml", "Makefile", "requirements/*"):
        assert not re.search(r"/(?:home|Users)/[a-z]|/ro{2}t/", path.read_text()), path
