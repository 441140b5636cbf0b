from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.web.browser import running_browser
from tests.acceptance.web.page import Page
from tests.acceptance.web.region import RunningRegion, running_region
from tests.postgres import fresh_database, running_postgres


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """One PostgreSQL server for the session, by its DSN."""
    with running_postgres() as dsn:
        yield dsn


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One browser for the session."""
    with running_browser() as driver:
        yield driver


@pytest.fixture
def region(server: str, tmp_path: Path) -> Iterator[RunningRegion]:
    """A regiond as a process, on an empty record of its own."""
    with running_region(fresh_database(server), tmp_path) as region:
        yield region


@pytest.fixture
def page(browser: Any, region: RunningRegion) -> Iterator[Page]:
    """The page, as a person sees it; at the end its console must have no complaint of our own."""
    page = Page(browser, region.url)
    yield page
    complaints = [e for e in page.complaints() if "/api/" not in e and "favicon" not in e]
    browser.get("about:blank")
    assert complaints == []
