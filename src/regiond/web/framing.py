"""Server-sent events as bytes (https://html.spec.whatwg.org/multipage/server-sent-events.html)."""

from attrs import frozen


@frozen
class Mark:
    """Where a stream stands: the installation's generation, and the record's cursor of changes.

    It travels as the id of an event, so that a browser that comes back says where it was.
    """

    generation: int
    cursor: str

    @classmethod
    def parse(cls, text: str) -> "Mark | None":
        """Read an id; None for what is none (then the stream begins anew)."""
        generation, _, cursor = text.partition(".")
        if not all(part.isascii() and part.isdigit() for part in (generation, cursor)):
            return None
        if max(len(generation), len(cursor)) > 20:
            return None
        return cls(int(generation), cursor)

    def __str__(self) -> str:
        return f"{self.generation}.{self.cursor}"


def frame(event: str, data: bytes, mark: Mark | None = None) -> bytes:
    """Write one event. `data` is JSON in one line (as `to_json` writes it)."""
    if b"\n" in data or b"\r" in data:
        raise ValueError("the data of an event must be one line")
    head = b"" if mark is None else f"id: {mark}\n".encode()
    return head + f"event: {event}\ndata: ".encode() + data + b"\n\n"


def opening(retry: float) -> bytes:
    """Write the beginning of a stream: after how many seconds a browser comes back when it was cut."""
    return f"retry: {int(retry * 1000)}\n\n".encode()


def beat(mark: Mark) -> bytes:
    """Write a sign of life. It is an event, since a page can't see comments, and moves the id on."""
    return b": alive\n" + frame("beat", b"{}", mark)
