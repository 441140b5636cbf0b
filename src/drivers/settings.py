"""Settings of a driver, declared once: validation, CLI, API and forms all use these."""

from collections.abc import Mapping, Sequence
from enum import StrEnum, unique
from urllib.parse import urlsplit

from attrs import frozen

from switchgear.errors import BadRequest
from switchgear.secret import Secret
from switchgear.wire.client import SettingView


@unique
class Kind(StrEnum):
    """What the text of a setting must look like."""

    TEXT = "text"
    NUMBER = "number"
    FLAG = "flag"
    CHOICE = "choice"
    URL = "url"


@frozen(kw_only=True)
class Setting:
    """One setting. `limit`: most bytes of its UTF-8 form. A number is in seconds and above zero."""

    name: str
    kind: Kind
    help: str
    required: bool = False
    secret: bool = False
    default: str | None = None
    choices: tuple[str, ...] = ()
    limit: int = 255

    def view(self) -> SettingView:
        """Return the declaration as clients see it."""
        return SettingView(
            name=self.name,
            kind=self.kind.value,
            help=self.help,
            required=self.required,
            secret=self.secret,
            default=self.default,
            choices=list(self.choices),
        )

    def problem(self, text: str) -> str | None:
        """Say what is wrong with `text`, without repeating it; None if it is right."""
        if len(text.encode("utf-8", "surrogatepass")) > self.limit:
            return f"has more than {self.limit} bytes"
        if any(ord(c) < 32 or ord(c) == 127 or 0xD800 <= ord(c) <= 0xDFFF for c in text):
            return "has a control character or half of a surrogate pair"
        match self.kind:
            case Kind.TEXT:
                return None
            case Kind.NUMBER:
                return _number_problem(text)
            case Kind.FLAG:
                return None if text in ("on", "off") else "is on or off"
            case Kind.CHOICE:
                return None if text in self.choices else f"is one of {', '.join(self.choices)}"
            case Kind.URL:
                return _url_problem(text)


def validate(
    declared: Sequence[Setting], settings: Mapping[str, str], secrets: Mapping[str, Secret]
) -> tuple[dict[str, str], dict[str, Secret]]:
    """Return settings with their defaults, and secrets. Raises BadRequest that names each wrong field."""
    by_name = {setting.name: setting for setting in declared}
    problems = [
        *_misplaced(by_name, settings, secrets),
        *_wrong(by_name, settings),
        *_wrong(by_name, {name: secret.reveal() for name, secret in secrets.items()}),
        *_missing(declared, settings, secrets),
    ]
    if problems:
        raise BadRequest("; ".join(problems))
    defaults = {s.name: s.default for s in declared if s.default is not None and not s.secret}
    return {**defaults, **settings}, dict(secrets)


def _misplaced(
    by_name: Mapping[str, Setting], settings: Mapping[str, str], secrets: Mapping[str, Secret]
) -> list[str]:
    known = ", ".join(by_name)
    unknown = [
        f"{name[:40]}: no such setting; there are {known}"
        for name in [*settings, *secrets]
        if name not in by_name
    ]
    open_secrets = [
        f"{name}: is a secret and must be given as one"
        for name in settings
        if name in by_name and by_name[name].secret
    ]
    closed_settings = [
        f"{name}: is not a secret"
        for name in secrets
        if name in by_name and not by_name[name].secret
    ]
    return unknown + open_secrets + closed_settings


def _wrong(by_name: Mapping[str, Setting], texts: Mapping[str, str]) -> list[str]:
    problems = {
        name: by_name[name].problem(text) for name, text in texts.items() if name in by_name
    }
    return [f"{name}: {problem}" for name, problem in problems.items() if problem is not None]


def _missing(
    declared: Sequence[Setting], settings: Mapping[str, str], secrets: Mapping[str, Secret]
) -> list[str]:
    given = {*settings, *secrets}
    return [f"{s.name}: is missing" for s in declared if s.required and s.name not in given]


def _number_problem(text: str) -> str | None:
    try:
        number = float(text)
    except ValueError:
        return "is a number of seconds"
    return None if 0 < number <= 86_400 else "is a number of seconds above 0, at most a day"


def _url_problem(text: str) -> str | None:
    try:
        url = urlsplit(text)
        port_is_right = url.port is None or url.port > 0
    except ValueError:
        return "is no URL"
    if url.scheme not in ("http", "https") or not url.hostname or not port_is_right:
        return "is no URL; one looks like http://10.0.0.5:8080/v2.0"
    if url.username is not None or url.password is not None:
        return "has a user or password in it; give them as settings of their own"
    if url.query or url.fragment or any(c.isspace() for c in text):
        return "has a query, a fragment or a space in it"
    return None
