"""A value that must not be seen: it prints as stars, and only code that asks for it gets it."""

from attrs import field, frozen


@frozen(repr=False, order=False)
class Secret:
    """A password or key. ``str`` and ``repr`` show nothing; `reveal` gives the text."""

    _text: str = field()

    def reveal(self) -> str:
        """Return the text. Call it only where it leaves for the device or for encryption."""
        return self._text

    def __repr__(self) -> str:
        return "Secret(***)"

    def __str__(self) -> str:
        return "***"

    def __format__(self, spec: str) -> str:
        return format("***", spec)
