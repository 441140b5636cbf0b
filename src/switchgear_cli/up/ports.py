"""Ports of 127.0.0.1: which are free, and who would get them."""

import socket

from switchgear_cli.up.errors import CantStart

HOST = "127.0.0.1"


def free_port() -> int:
    """Return a port that is free at the moment."""
    with socket.create_server((HOST, 0)) as probe:
        return int(probe.getsockname()[1])


def check_free(port: int, what: str, option: str) -> None:
    """Raise CantStart if something listens on the port."""
    try:
        with socket.create_server((HOST, port)):
            return
    except OSError:
        raise CantStart(
            f"port {port} on {HOST} ({what}) is taken by another program; end that one,"
            f" or choose another port with {option}"
        ) from None


def answers(port: int) -> bool:
    """Tell whether something accepts connections on the port."""
    try:
        with socket.create_connection((HOST, port), timeout=1):
            return True
    except OSError:
        return False
