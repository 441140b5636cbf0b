"""A folder of a test's own, outside of the checkout (trial's `mktemp` makes one where it is started)."""

import shutil
from pathlib import Path
from tempfile import mkdtemp


def own_folder(case):
    """Make a folder that goes away with the test case."""
    folder = Path(mkdtemp(prefix="rackd-"))
    case.addCleanup(shutil.rmtree, folder, ignore_errors=True)
    return folder
