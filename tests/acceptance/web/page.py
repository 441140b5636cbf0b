"""The page in a browser, in the words of who uses it."""

import time
from collections.abc import Callable
from typing import Any

#: Seconds within which everything on the page must happen.
PATIENCE = 15.0


class Page:
    """What a person sees and does. Rows are read by one script, since they are redrawn at any moment."""

    def __init__(self, browser: Any, url: str) -> None:
        self.browser = browser
        self._url = url

    def open(self) -> "Page":
        """Load the page, and wait until it is live."""
        self.browser.get(self._url)
        self.until(lambda: self.text("#live") == "live", "live")
        # What was told is drawn in the next frame.
        self.until(lambda: self.rows() or "no nodes yet" in self.text("#empty"), "nodes")
        return self

    def until(self, seen: Callable[[], object], what: str, patience: float = PATIENCE) -> float:
        """Wait until something is seen; return after how many seconds."""
        begin = time.monotonic()
        while not seen():
            waited = time.monotonic() - begin
            assert waited < patience, f"{what}: not seen within {patience} s; rows: {self.rows()}"
            time.sleep(0.03)
        return time.monotonic() - begin

    def do(self, script: str, *arguments: object) -> Any:
        return self.browser.execute_script(script, *arguments)

    def text(self, selector: str) -> str:
        """Return the text of the first element that fits in one line, "" if none does."""
        script = "return document.querySelector(arguments[0])?.innerText ?? ''"
        return " ".join(str(self.do(script, selector)).split())

    def rows(self) -> list[str]:
        """Return the names in view."""
        script = "return [...document.querySelectorAll('#rows .row')].map(r => r.dataset.name)"
        return [str(name) for name in self.do(script)]

    def cell(self, node: str, kind: str) -> str:
        """Return the text of a cell of a node's row."""
        return self.text(f"#node-{node} .{kind}")

    def spins(self, node: str) -> bool:
        """Tell whether a node's row shows that something is going on."""
        script = "return document.querySelector(arguments[0])?.hidden === false"
        return bool(self.do(script, f"#node-{node} .spin"))

    def press(self, selector: str) -> None:
        """Click what a person would click, as they would: it must be there, in view and enabled."""
        there = "return Boolean(document.querySelector(arguments[0]))"
        self.until(lambda: self.do(there, selector), selector)
        self.browser.find_element("css selector", selector).click()

    def type(self, selector: str, text: str) -> None:
        self.browser.find_element("css selector", selector).send_keys(text)

    def complaints(self) -> list[str]:
        """Return what the browser complained of."""
        return [entry["message"] for entry in self.browser.get_log("browser")]
