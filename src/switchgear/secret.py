"""A value that must not be seen: it prints as stars, and only code that asks for it gets it."""


class Secret:
    """A password or key. ``str`` and ``repr`` show nothing; `reveal` gives the text.

    It is no attrs class on purpose: `attrs.asdict` of a value that holds one must not open it.
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """Return the text. Call it only where it leaves for the device or for encryption."""
        return self._text

    def __eq__(self, other: object) -> bool:
        return self._text == other._text if isinstance(other, Secret) else NotImplemented

    def __hash__(self) -> int:
        return hash((Secret, self._text))

    def __repr__(self) -> str:
        return "Secret(***)"

    def __str__(self) -> str:
        return "***"

    def __format__(self, spec: str) -> str:
        return format("***", spec)
