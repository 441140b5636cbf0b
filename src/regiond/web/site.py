"""TEMPORARY."""

from typing import Any

from twisted.web.resource import Resource
from twisted.web.server import Site


def web_site(database: Any, hub: Any, reactor: Any) -> Site:
    return Site(Resource())
