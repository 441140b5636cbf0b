"""The statuses of a node's life, as every floor names them. The moves between them are regiond's."""

from enum import StrEnum, unique


@unique
class Status(StrEnum):
    """Where a node is in its life."""

    NEW = "new"
    READY = "ready"
    ALLOCATED = "allocated"
    DEPLOYING = "deploying"
    DEPLOYED = "deployed"
    RELEASING = "releasing"
    CLEANING = "cleaning"
    BROKEN = "broken"
    RETIRED = "retired"
    FAILED_DEPLOYING = "failed-deploying"
    FAILED_RELEASING = "failed-releasing"
    FAILED_CLEANING = "failed-cleaning"


#: Statuses that end by themselves, because work is in flight for the node.
PASSING = frozenset({Status.DEPLOYING, Status.RELEASING, Status.CLEANING})


@unique
class Verb(StrEnum):
    """What a client can ask for a node. Power verbs leave the status alone."""

    ON = "on"
    OFF = "off"
    QUERY = "query"
    ACCEPT = "accept"
    ALLOCATE = "allocate"
    DEPLOY = "deploy"
    RELEASE = "release"
    MARK_BROKEN = "mark-broken"
    MARK_FIXED = "mark-fixed"
