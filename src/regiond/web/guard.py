"""Who may ask the web server for what: decided in values, before anything is done.

The page has no login yet, so it must not be possible to use it through somebody's browser: a page of
another site that posts here is refused (it can neither set our header nor be of our origin), and so is
a name that was made to point here (DNS rebinding: the Host header is then that name, not ours).
"""

from ipaddress import ip_address

from attrs import frozen

#: The header that every request that changes something must have, and its value.
MARK, MARKED = "X-Switchgear", "1"
#: Values of Sec-Fetch-Site that a browser sends for our own page, or for what a person typed.
_OWN = frozenset({"same-origin", "none"})


@frozen(kw_only=True)
class Asked:
    """What the decision needs of a request. `local`: our address that it came to; None: header absent."""

    method: str
    path: str
    local: str
    host: str | None = None
    origin: str | None = None
    fetch_site: str | None = None
    mark: str | None = None
    content_type: str | None = None


@frozen
class Refusal:
    """Why a request is refused, and its HTTP status."""

    status: int
    text: str


def refusal(asked: Asked, names: frozenset[str]) -> Refusal | None:
    """Return why the request is refused, or None. `names`: host names of this server besides its address."""
    if asked.method not in ("GET", "HEAD", "POST"):
        return Refusal(405, "only GET, HEAD and POST are known here")
    if asked.host is None or not _is_ours(host_name(asked.host), asked.local, names):
        return Refusal(403, "this server does not go by the name in the Host header")
    if asked.path.startswith("/api/") and asked.fetch_site not in (None, *_OWN):
        return Refusal(403, "another site asked for this")
    return _refusal_of_change(asked) if asked.method == "POST" else None


def host_name(host: str) -> str:
    """Return the name or address of a Host header, in small letters, without port and brackets."""
    text = host.strip().lower()
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0]


def _refusal_of_change(asked: Asked) -> Refusal | None:
    if asked.mark != MARKED:
        return Refusal(403, f"a request that changes something needs the header {MARK}: {MARKED}")
    if asked.origin is not None and not _same_origin(asked.origin, asked.host or ""):
        return Refusal(403, "another site asked for this")
    kind = (asked.content_type or "").partition(";")[0].strip().lower()
    if kind != "application/json":
        return Refusal(415, "the body must be JSON, with Content-Type: application/json")
    return None


def _same_origin(origin: str, host: str) -> bool:
    scheme, _, where = origin.strip().lower().partition("://")
    return scheme in ("http", "https") and where == host.strip().lower()


def _is_ours(name: str, local: str, names: frozenset[str]) -> bool:
    """Tell whether a host is us: a configured name, localhost, loopback, or the address that was called."""
    if name == "localhost" or name in names:
        return True
    try:
        address = ip_address(name)
    except ValueError:
        return False
    return address.is_loopback or str(address) == local.removeprefix("::ffff:")
