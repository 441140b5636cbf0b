"""AMP arguments that carry our frozen values as JSON, parsed once at the border.

AMP allows 65,535 bytes a value (twisted.protocols.amp, ``MAX_VALUE_LENGTH``); lists are paged by their
senders to stay below `PAGE_BYTES`. Unknown keys are ignored on receipt: the wire only grows.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from typing import Any, TypeVar

import cattrs
from cattrs.preconf.json import make_converter
from twisted.protocols import amp

from switchgear.errors import BadRequest
from switchgear.secret import Secret

T = TypeVar("T")

#: What a page of values may weigh at most, in bytes of JSON: far below what AMP can carry.
PAGE_BYTES = 48_000


def _exactly(*kinds: type) -> Callable[[Any, Any], Any]:
    """Build a hook that takes a plain value as it is, where cattrs would convert it (None to 'None')."""

    def check(value: Any, _: Any) -> Any:
        if type(value) not in kinds:
            raise TypeError(f"{kinds[0].__name__} was expected, not {type(value).__name__}")
        return value

    return check


def _converter() -> cattrs.Converter:
    converter = make_converter()
    text = _exactly(str)
    converter.register_structure_hook(str, text)
    # Before the hook of str, which takes every StrEnum as it is.
    converter.register_structure_hook(StrEnum, lambda value, kind: kind(text(value, str)))
    converter.register_structure_hook(int, _exactly(int))
    converter.register_structure_hook(bool, _exactly(bool))
    converter.register_structure_hook(float, _exactly(float, int))
    converter.register_unstructure_hook(Secret, Secret.reveal)
    converter.register_structure_hook(Secret, lambda value, _: Secret(text(value, str)))
    return converter


#: Turns values into plain JSON data and back. A `Secret` becomes its text: for the wire only.
CONVERTER = _converter()


def to_json(value: object) -> bytes:
    """Write a value, or a list of values, as compact UTF-8 JSON.

    Text that UTF-8 can't hold (half a surrogate pair) is sent with "?" in its place: one character of
    a device's answer must not keep a whole message back.
    """
    plain = CONVERTER.unstructure(value)
    text = json.dumps(plain, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")


def from_json(kind: Any, text: bytes) -> Any:
    """Read a value of type `kind`. Raises BadRequest that says what did not fit, and never its value."""
    try:
        return CONVERTER.structure(json.loads(text), kind)
    except cattrs.BaseValidationError as error:
        problems = "; ".join(cattrs.transform_error(error, path="value"))
        raise BadRequest(f"a value on the wire does not fit: {problems[:500]}") from None
    except (ValueError, TypeError) as error:
        raise BadRequest(f"a value on the wire does not fit: {type(error).__name__}") from None


def pages(values: Iterable[T], limit: int = PAGE_BYTES) -> Iterator[list[T]]:
    """Split values into lists that each weigh at most `limit` bytes on the wire (one value at least)."""
    page: list[T] = []
    weight = 2
    for value in values:
        size = len(to_json(value)) + 1
        if page and weight + size > limit:
            yield page
            page, weight = [], 2
        page.append(value)
        weight += size
    if page:
        yield page


class Json(amp.Argument):
    """An argument of a given type, attrs class or list of them, as JSON.

    Reading bytes that do not fit the type raises BadRequest, which fails that one call.
    """

    def __init__(self, kind: Any, optional: bool = False) -> None:
        super().__init__(optional)
        self._kind = kind

    def toString(self, inObject: object) -> bytes:
        """Write the value."""
        return to_json(inObject)

    def fromString(self, inString: bytes) -> Any:
        """Read the value."""
        return from_json(self._kind, inString)


def fields(**kinds: Any) -> list[tuple[bytes, amp.Argument]]:
    """Declare the arguments or the response of a command: ``fields(name=str, orders=list[Order])``."""
    return [(name.encode("ascii"), Json(kind)) for name, kind in kinds.items()]
