"""Node sets: how a person names many nodes at once, such as ``n[001-192],@chassis:sm-1!n007``.

The form is ClusterShell's (https://clustershell.readthedocs.io, "Node sets"), without its configured
groups: the only groups are the region's own facts, ``@chassis:NAME``, ``@status:NAME``, ``@owner:NAME``
(or ``owner=NAME``) and ``@all``. The size is checked before anything is expanded.

Use: fetch the members of every group that `groups` names, then call `expand`.
"""

import re
from collections.abc import Mapping, Sequence
from math import prod

from ClusterShell.NodeSet import NodeSet, NodeSetException
from ClusterShell.NodeUtils import GroupResolver, GroupSource

from switchgear.errors import BadRequest

#: Most nodes that one expression may name, before and after its operators.
LIMIT = 20_000
#: Longest expression in characters.
LENGTH_LIMIT = 20_000

#: A group, as (kind, name): ``("chassis", "sm-1")``. ``@all`` is ``("all", "*")``.
Group = tuple[str, str]

KINDS = ("chassis", "status", "owner")
_ALL: Group = ("all", "*")
_NAME = r"[A-Za-z0-9][A-Za-z0-9_.\-]*"
_GROUP = re.compile(rf"@(?:(?P<kind>[a-z]+):(?P<name>{_NAME})|(?P<all>all)\b)")
#: A group with something before or after it that is no operator.
_GLUED = re.compile(rf"[^,!&^]@|@[a-z]+:{_NAME}(?![A-Za-z0-9_.\-])(?=[^,!&^])|@all(?=[^,!&^])")
_OWNER = re.compile(rf"(?<![A-Za-z0-9_:@.\-])owner=(?P<name>{_NAME})")
_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9})(?:/(\d{1,9}))?)?")
_ALL_GROUP = re.compile(r"@all\b(?!:)")
_OPERATORS = re.compile(r"[,!&^]+")
_SPACE = re.compile(r"\s*([,!&^\[\]])\s*")


def groups(expression: str) -> set[Group]:
    """List the groups that `expression` names. Raises BadRequest for a kind that does not exist."""
    found: set[Group] = set()
    for match in _GROUP.finditer(_plain(expression)):
        if match["all"]:
            found.add(_ALL)
        elif match["kind"] in KINDS:
            found.add((match["kind"], match["name"]))
        else:
            raise BadRequest(f"@{match['kind']}: is no kind of group; there are {', '.join(KINDS)}")
    return found


def expand(expression: str, members: Mapping[Group, Sequence[str]]) -> list[str]:
    """List the names that `expression` means, each once, in the set's order.

    `members` holds the names of every group in `groups(expression)`. Whether the names exist is for the
    caller to check. Raises BadRequest for a malformed, empty or too large expression.
    """
    text = _plain(expression)
    _check_size(text, members)
    try:
        names = list(NodeSet(_ALL_GROUP.sub("@all:all", text), resolver=_resolver(members)))
    except NodeSetException as error:
        raise BadRequest(f"{_short(expression)} is no node set: {_brief(error)}") from None
    if not names:
        raise BadRequest(f"{_short(expression)} names no node")
    return names


def fold(names: Sequence[str]) -> str:
    """Write names shortly, ``n[001-192]``, as a person would type them again."""
    return str(NodeSet.fromlist(list(names), resolver=_resolver({})))


def _brief(error: NodeSetException) -> str:
    """Its message, which may repeat the whole expression."""
    text = str(error)
    return text if len(text) <= 200 else text[:199] + "…"


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:59] + "…")


def _plain(expression: str) -> str:
    """Return the expression with ``owner=`` as a group, after a check of its length and characters."""
    if len(expression) > LENGTH_LIMIT:
        raise BadRequest(f"a node set may have {LENGTH_LIMIT} characters, not {len(expression)}")
    text = _OWNER.sub(
        lambda match: f"@owner:{match['name']}", _SPACE.sub(r"\1", expression.strip())
    )
    odd = re.search(r"[^A-Za-z0-9_.\-\[\],/!&^@:]", text)
    if odd:
        raise BadRequest(
            f"{_short(expression)} is no node set: {odd.group()!r} has no meaning in one"
        )
    if "@" in _GROUP.sub("", text) or ":" in _GROUP.sub("", text) or _GLUED.search(text):
        raise BadRequest(
            f"{_short(expression)} is no node set: a group looks like @chassis:sm-1 or @all"
        )
    return text


def _check_size(text: str, members: Mapping[Group, Sequence[str]]) -> None:
    """Refuse what would expand to more than `LIMIT` names, without expanding it."""
    size = sum(len(members.get(group, ())) for group in groups(text))
    for term in _terms(_GROUP.sub(",", text)):
        size += prod(_count(inside) for inside in re.findall(r"\[([^\[\]]*)\]", term))
    if size > LIMIT:
        raise BadRequest(f"a node set may name {LIMIT} nodes; {_short(text)} names about {size}")


def _terms(text: str) -> list[str]:
    """Split at the operators that stand outside of brackets."""
    covered = re.sub(r"\[[^\[\]]*\]", lambda match: match.group().replace(",", ";"), text)
    return [term.replace(";", ",") for term in _OPERATORS.split(covered) if term]


def _count(ranges: str) -> int:
    """Count the numbers of ``001-192,200`` or ``0-10/2``."""
    total = 0
    for part in ranges.split(","):
        match = _RANGE.fullmatch(part.strip())
        if match is None:
            raise BadRequest(f"[{ranges[:60]}] is no range; one looks like [001-192] or [1,4,9-12]")
        low, high, step = int(match[1]), int(match[2] or match[1]), int(match[3] or 1)
        if high < low or step < 1:
            raise BadRequest(f"[{ranges[:60]}] is no range: it must grow")
        total += (high - low) // step + 1
    return total


def _resolver(members: Mapping[Group, Sequence[str]]) -> GroupResolver:
    """Build a resolver that knows the given groups and none that is configured on this host."""
    resolver = GroupResolver()
    for kind in {kind for kind, _ in members}:
        known = {
            ("all" if group == _ALL else group[1]): ",".join(names)
            for group, names in members.items()
            if group[0] == kind
        }
        resolver.add_source(GroupSource(kind, known))
    return resolver
