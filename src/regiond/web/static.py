"""The files of the page, read once from the package, and the headers that they are sent with."""

from hashlib import sha256
from importlib.resources import files
from typing import Any

from attrs import field, frozen
from twisted.web.http import CACHED

#: Name in the address -> file and content type. Nothing else is ever read.
_FILES = {
    "index.html": "text/html; charset=utf-8",
    "page.css": "text/css; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
#: Sent with every answer: nothing from elsewhere is loaded, and nobody else frames or reads the page.
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


@frozen
class Asset:
    """One file of the page."""

    kind: str
    body: bytes = field(repr=False)
    tag: bytes = field(repr=False)

    def answer(self, request: Any) -> bytes:
        """Return the body, or nothing (304) to a browser that has it."""
        request.setHeader("Content-Type", self.kind)
        request.setHeader("Cache-Control", "no-cache")
        return b"" if request.setETag(self.tag) is CACHED else self.body


def assets() -> dict[str, Asset]:
    """Read the files of the page."""
    folder = files("regiond.web") / "static"
    bodies = {name: (folder / name).read_bytes() for name in _FILES}
    return {
        name: Asset(_FILES[name], body, b'"%b"' % sha256(body).hexdigest()[:32].encode())
        for name, body in bodies.items()
    }
