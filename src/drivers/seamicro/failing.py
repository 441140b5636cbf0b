"""What a failed call to an SM15K means: its error class, and what is known of the command's fate.

The status counts, and inside of a body ``{"error": {"code": N}}`` the inner code, whatever the status
says (SM15K REST API; the v0.9 interface answers 200 with an inner 401). A connection that ends after
the request was sent tells nothing about the command. Texts never hold an URL, whose query has the
password.
"""

from collections.abc import Mapping
from typing import Any

import requests
from urllib3.exceptions import NewConnectionError, ProtocolError

from drivers.interfaces import DriverError, Fate
from switchgear.power import ErrorClass, Fault

#: Statuses that mean success: 304 is "already so".
SUCCESS = frozenset({200, 201, 202, 204, 304})


def failed(kind: ErrorClass, text: str, fate: Fate) -> DriverError:
    """Build the error of a failed call."""
    return DriverError(Fault(kind, text), fate)


def from_status(status: int) -> DriverError | None:
    """Return what an HTTP status, or an inner error code, stands for; None for success."""
    match status:
        case _ if status in SUCCESS:
            return None
        case 401 | 403:
            return failed(
                ErrorClass.AUTH, "the chassis refused the user or password", Fate.NOT_ACCEPTED
            )
        case 404:
            return failed(
                ErrorClass.SETTINGS,
                "the chassis knows no such server or address (404)",
                Fate.NOT_ACCEPTED,
            )
        case 429 | 503:
            return failed(ErrorClass.BUSY, f"the chassis is busy ({status})", Fate.NOT_ACCEPTED)
        case _ if 500 <= status < 600:
            return failed(
                ErrorClass.CONNECTION, f"the chassis failed inside ({status})", Fate.UNKNOWN
            )
        case _ if 300 <= status < 400:
            return failed(
                ErrorClass.SETTINGS, f"the address leads elsewhere ({status})", Fate.NOT_ACCEPTED
            )
        case _:
            return failed(
                ErrorClass.REFUSED, f"the chassis refused the request ({status})", Fate.NOT_ACCEPTED
            )


def from_body(body: object) -> DriverError | None:
    """Return the error that a body holds under a successful status, if it holds one."""
    if not isinstance(body, Mapping) or "error" not in body:
        return None
    code = _inner_code(body["error"])
    return None if code is None else from_status(code)


def _inner_code(error: Any) -> int | None:
    code = error.get("code") if isinstance(error, Mapping) else error
    if isinstance(code, str) and code.isascii() and code.isdigit():
        code = int(code)
    # 0 is how some firmware says "no error"; anything that is no number is an error of unknown kind.
    return None if code in (0, None) else code if type(code) is int else 500


def from_exception(error: Exception, limit: float) -> DriverError:
    """Return what an exception of `requests` stands for. Its text is never used: it may hold the query."""
    match error:
        case DriverError():
            return error
        case requests.exceptions.SSLError():
            return failed(
                ErrorClass.SETTINGS,
                "the certificate of the chassis is not trusted",
                Fate.NOT_ACCEPTED,
            )
        case requests.exceptions.ConnectTimeout():
            return failed(
                ErrorClass.CONNECTION, "the chassis does not answer a connection", Fate.NOT_ACCEPTED
            )
        case requests.exceptions.Timeout():
            return failed(ErrorClass.CONNECTION, f"no answer within {limit:g} s", Fate.UNKNOWN)
        case requests.exceptions.InvalidURL() | requests.exceptions.InvalidSchema():
            return failed(
                ErrorClass.SETTINGS, "the address of the chassis is no URL", Fate.NOT_ACCEPTED
            )
        case requests.exceptions.ConnectionError() if _never_connected(error):
            return failed(ErrorClass.CONNECTION, "the chassis can't be reached", Fate.NOT_ACCEPTED)
        case OSError() if not isinstance(error, requests.RequestException) and error.errno is None:
            # How requests says that the file named by `verify` is not there; nothing was sent.
            return failed(
                ErrorClass.SETTINGS, "the file of CA certificates can't be read", Fate.NOT_ACCEPTED
            )
        case requests.exceptions.RequestException() | ProtocolError() | OSError():
            return failed(
                ErrorClass.CONNECTION, "the connection ended before the answer", Fate.UNKNOWN
            )
        case _:
            return failed(
                ErrorClass.INTERNAL, f"the client failed: {type(error).__name__}", Fate.UNKNOWN
            )


def _never_connected(error: Exception) -> bool:
    """Tell whether no connection came about, so that nothing was sent."""
    reason = getattr(error.args[0], "reason", None) if error.args else None
    return isinstance(reason, NewConnectionError)
