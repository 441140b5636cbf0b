"""Logs of the daemons. Logging begins once a process, so each test has a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

from switchgear.logs import KEPT

_BEGIN = """
import sys
from pathlib import Path
from twisted.logger import Logger
from switchgear import logs
path = Path(sys.argv[1]) if len(sys.argv) > 1 else None
"""


def _run(script: str, *arguments: Path) -> subprocess.CompletedProcess[str]:
    paths = [*sys.path, str(Path(__file__).parents[2] / "src")]
    return subprocess.run(
        [sys.executable, "-c", _BEGIN + script, *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_without_a_path_everything_goes_to_standard_error() -> None:
    """A supervisor keeps it there; standard output stays free for what a process tells its starter."""
    ended = _run(
        "logs.start_logging(path)\n"
        "Logger('switchgear.x').info('hello {name}', name='world')\n"
        "Logger('switchgear.x').debug('too much')\n"
        "print('port 5241')\n"
    )
    assert ended.returncode == 0
    assert "[switchgear.x#info] hello world" in ended.stderr
    assert "too much" not in ended.stderr
    assert ended.stdout == "port 5241\n"


def test_a_file_is_made_with_its_folder_and_for_its_owner_only(tmp_path: Path) -> None:
    """A log may name hosts and people, so nobody else reads it, whatever the umask says."""
    file = tmp_path / "a" / "b" / "regiond.log"
    ended = _run(
        "import os\nos.umask(0)\nlogs.start_logging(path)\nLogger('x').warn('written')\n", file
    )
    assert ended.returncode == 0
    assert "written" in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600


def test_what_twisted_tells_of_itself_is_left_out_but_not_its_warnings(tmp_path: Path) -> None:
    """A line for every link that is made tells an operator nothing; a failure of one does."""
    file = tmp_path / "log"
    _run(
        "logs.start_logging(path)\n"
        "for name in ('twisted.internet', 'twisted.protocols.amp', 'twisted.web.server'):\n"
        "    Logger(name).info('chatter')\n"
        "    Logger(name).warn('trouble in {log_namespace}')\n",
        file,
    )
    text = file.read_text()
    assert "chatter" not in text
    assert text.count("trouble in twisted.") == 3


def test_a_log_is_bounded(tmp_path: Path) -> None:
    """However much is written, a file and a few older ones are kept."""
    file = tmp_path / "log"
    _run(
        "logs.ROTATE_AT = 2000\n"
        "logs.start_logging(path)\n"
        "for number in range(1000):\n"
        "    Logger('x').info('line {number} of many', number=number)\n",
        file,
    )
    kept = list(tmp_path.iterdir())
    assert len(kept) == 1 + KEPT
    assert all(log.stat().st_size < 2200 for log in kept)
    assert all(log.stat().st_mode & 0o777 == 0o600 for log in kept)
    assert "line 999 of many" in file.read_text()


def test_a_file_that_cannot_be_written_is_an_error_at_once(tmp_path: Path) -> None:
    """A daemon that can't log says so at its start, and does not run silently."""
    (tmp_path / "file").write_text("")
    ended = _run(
        "try:\n    logs.start_logging(path)\nexcept OSError as error:\n    print(type(error))\n",
        tmp_path / "file" / "log",
    )
    assert "Error" in ended.stdout
