"""Runs all tests with coverage by branch, then holds the figures against their floor.

The report comes before pytest's closing line, which is printed again as the last one.
"""

import subprocess
import sys
from pathlib import Path

COVERAGE = [sys.executable, "-m", "coverage"]


def main() -> int:
    """Return the exit code: that of the tests, or that of the floor."""
    Path(".cache/coverage").mkdir(parents=True, exist_ok=True)
    subprocess.run([*COVERAGE, "erase"], check=True)
    # Two at a time, each file by one worker: most tests wait for processes of their own.
    workers = ["-n", "2", "--dist", "loadfile"]
    tests = [*COVERAGE, "run", "-m", "pytest", "-q", *workers, *sys.argv[1:]]
    closing = ""
    with subprocess.Popen(tests, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        for line in running.stdout:
            sys.stdout.write(line)
            sys.stdout.flush()
            closing = line if line.strip() else closing
    if running.returncode != 0:
        return running.returncode
    subprocess.run([*COVERAGE, "combine", "--quiet"], check=True)
    report = subprocess.run([*COVERAGE, "report"], check=False)
    sys.stdout.write(f"\n{closing}")
    return report.returncode


if __name__ == "__main__":
    sys.exit(main())
