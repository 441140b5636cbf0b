"""The driver ``seamicro``: what an SM15K chassis takes as settings, and what it can bear."""

from collections.abc import Mapping

from zope.interface import implementer

from drivers.interfaces import IDriver, ISession, Limits
from drivers.settings import Kind, Setting
from switchgear.secret import Secret


def _seconds(name: str, default: str, help_text: str) -> Setting:
    return Setting(name=name, kind=Kind.NUMBER, default=default, help=help_text, limit=10)


SETTINGS = (
    Setting(
        name="url",
        kind=Kind.URL,
        required=True,
        help="Base of the REST API, such as http://10.0.0.5/v2.0",
        limit=500,
    ),
    Setting(name="user", kind=Kind.TEXT, required=True, help="Login name of the chassis"),
    Setting(
        name="password", kind=Kind.TEXT, required=True, secret=True, help="Password of the login"
    ),
    Setting(
        name="verify",
        kind=Kind.TEXT,
        default="on",
        help="For https: on, off, or the path of a file with the CA certificates to trust",
        limit=1000,
    ),
    _seconds("call_limit", "40", "Seconds that one answer may take (an SM15K needs up to 35)"),
    _seconds("action_limit", "300", "Seconds that an action may be without progress"),
    _seconds(
        "effect_limit", "120", "Longest seconds from an accepted command until a read shows it"
    ),
    _seconds("usual_effect", "3", "Usual seconds from command to effect, until it is learned"),
)


@implementer(IDriver)
class SeaMicroDriver:
    """An SM15K: one session and one request at a time, one read for all servers."""

    name = "seamicro"
    help = "SeaMicro SM15K and SM15K-XE chassis, REST API v2.0"
    settings = SETTINGS

    def limits(self, settings: Mapping[str, str]) -> Limits:
        """Return the limits from the chassis' settings; what is absent has its default."""
        seconds = {
            s.name: float(settings.get(s.name, s.default or 0))
            for s in SETTINGS
            if s.kind is Kind.NUMBER
        }
        return Limits(
            parallel=1,
            call=seconds["call_limit"],
            action=seconds["action_limit"],
            effect=seconds["effect_limit"],
            usual_effect=min(seconds["usual_effect"], seconds["effect_limit"]),
        )

    def open(self, settings: Mapping[str, str], secrets: Mapping[str, Secret]) -> ISession:
        """Return a session. The vendor's library is loaded here, so that only its users pay for it."""
        from drivers.seamicro.session import SeaMicroSession

        return SeaMicroSession.build(
            url=settings["url"],
            user=settings["user"],
            password=secrets["password"],
            verify=settings.get("verify", "on"),
            limit=self.limits(settings).call,
        )
