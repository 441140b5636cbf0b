"""Chromium without a window, driven by selenium; absent, the tests are skipped, and in CI they fail."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest


@contextmanager
def running_browser() -> Iterator[Any]:
    """Run a browser with a fresh profile; yields selenium's driver."""
    driver = shutil.which("chromedriver")
    chromium = shutil.which("chromium")
    try:
        from selenium import webdriver
    except ImportError:
        webdriver = None
    if driver is None or chromium is None or webdriver is None:
        absent("a browser (packages chromium and chromium-driver) or selenium is not installed")
    profile = tempfile.mkdtemp(prefix="switchgear-test-browser-")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--no-proxy-server",
        "--window-size=1440,900",
        f"--user-data-dir={profile}",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options, webdriver.ChromeService(driver))
    try:
        yield browser
    finally:
        browser.quit()
        shutil.rmtree(profile, ignore_errors=True)


def absent(what: str) -> None:
    """Skip, or fail where nothing may be skipped."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{what}; in CI nothing may be skipped")
    pytest.skip(what)
