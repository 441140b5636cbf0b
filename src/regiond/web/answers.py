"""Answers in JSON: values, and errors as ``{"error": text, "code": CODE}`` with the right status."""

from typing import Any

from twisted.logger import Logger
from twisted.python.failure import Failure
from werkzeug.exceptions import HTTPException

from switchgear.errors import (
    BadRequest,
    Bug,
    Conflict,
    NoSuchThing,
    StaleEpoch,
    SwitchgearError,
    TryAgain,
    VersionMismatch,
)
from switchgear.wire.arguments import to_json

#: Seconds after which to ask again while a part of us is away.
RETRY_AFTER = 2

#: The first class that fits decides.
_STATUS: tuple[tuple[type[SwitchgearError], int], ...] = (
    (NoSuchThing, 404),
    (BadRequest, 400),
    (Conflict, 409),
    (StaleEpoch, 409),
    (VersionMismatch, 409),
    (TryAgain, 503),
)
_DEFECT = "something went wrong in the region; its log has the details"
_log = Logger(namespace="regiond.web")


def status_of(error: BaseException) -> int:
    """Return the HTTP status that says who can act on an error."""
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


def json_answer(request: Any, body: bytes, status: int = 200) -> bytes:
    """Answer with JSON that is already written."""
    request.setResponseCode(status)
    request.setHeader("Content-Type", "application/json; charset=utf-8")
    request.setHeader("Cache-Control", "no-store")
    return body


def refuse(request: Any, status: int, text: str, code: str) -> bytes:
    """Answer with an error."""
    return json_answer(request, to_json({"error": text, "code": code}), status)


def error_answer(request: Any, failure: Failure) -> bytes:
    """Answer with the error that a request ended with; what is not the asker's is logged, not shown."""
    error = failure.value
    assert error is not None
    if isinstance(error, HTTPException):
        return refuse(request, error.code or 500, error.name.lower(), "NO_SUCH_PAGE")
    status = status_of(error)
    if status == 500:
        _log.failure("a request of the web page failed", failure=failure)
        return refuse(request, status, _DEFECT, Bug.code)
    if status == 503:
        request.setHeader("Retry-After", str(RETRY_AFTER))
    assert isinstance(error, SwitchgearError)
    return refuse(request, status, str(error), error.code)
