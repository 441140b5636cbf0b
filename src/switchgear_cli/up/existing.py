"""An existing PostgreSQL in place of the embedded one: is it there, and new enough?"""

from regiond.store.connecting import server_version
from switchgear.errors import SwitchgearError
from switchgear_cli.up.errors import CantStart

#: The oldest server whose features the record uses (xid8 functions came with 13).
OLDEST = 13


def check_server(dsn: str) -> None:
    """Raise CantStart if the server can't be used. The text never repeats the connection string."""
    try:
        version = server_version(dsn)
    except SwitchgearError as error:
        raise CantStart(f"the PostgreSQL of SWITCHGEAR_DSN can't be used: {error}") from None
    if version < OLDEST:
        raise CantStart(
            f"the PostgreSQL of SWITCHGEAR_DSN is version {version}; {OLDEST} or newer is needed"
        )
