"""Every sabotage fits the source, so that the judge is never tried with a product that is whole."""

from pathlib import Path

import pytest

from switchgear_cli.demo.sabotage import SABOTAGES, sabotaged


@pytest.mark.parametrize("name", SABOTAGES)
def test_each_sabotage_breaks_the_file_that_it_names(tmp_path: Path, name: str) -> None:
    """The text that it replaces is there, once; and what comes of it is Python."""
    broken = sabotaged(name, tmp_path / "src") / SABOTAGES[name].file
    text = broken.read_text()
    assert SABOTAGES[name].new in text
    compile(text, str(broken), "exec")
