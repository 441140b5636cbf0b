"""The addresses of the web server (klein), each answered from the record by one short transaction."""

import json
from typing import Any

from klein import Klein
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure
from twisted.web.resource import IResource

from regiond.web import reading
from regiond.web.answers import error_answer, json_answer
from regiond.web.broadcast import Broadcast
from regiond.web.static import assets
from switchgear.errors import BadRequest, NoSuchThing
from switchgear.life import Verb
from switchgear.wire.client import Ask

#: Who asks, in the record, when the page does.
CLIENT = "web"
#: What a request to ask for something may contain; `verb` and `nodes` must be there.
_WORDS = frozenset({"verb", "nodes", "reason", "key", "power_off", "dry_run"})


def resource(database: Any, broadcast: Broadcast) -> IResource:
    """Build the resource of all addresses. `database` has `run(f, *args)`."""
    app = Klein()
    _page(app)
    _lists(app, database)
    _acts(app, database, broadcast)

    @app.handle_errors(Exception)
    def failed(request: Any, failure: Failure) -> bytes:
        return error_answer(request, failure)

    made: IResource = app.resource()
    return made


def _page(app: Klein) -> None:
    known = assets()

    @app.route("/")
    def page(request: Any) -> bytes:
        return known["index.html"].answer(request)

    @app.route("/static/<name>")
    def file(request: Any, name: str) -> bytes:
        if name not in known:
            raise NoSuchThing("there is no such file")
        return known[name].answer(request)


def _lists(app: Klein, database: Any) -> None:
    @app.route("/api/nodes", methods=["GET"])
    async def nodes(request: Any) -> bytes:
        return json_answer(request, await database.run(reading.nodes_page, after(request)))

    @app.route("/api/chassis", methods=["GET"])
    async def chassis(request: Any) -> bytes:
        return json_answer(request, await database.run(reading.chassis_page, after(request)))

    @app.route("/api/requests/<number>", methods=["GET"])
    async def show(request: Any, number: str) -> bytes:
        return json_answer(request, await database.run(reading.request_page, number))

    @app.route("/api/requests/<number>/items", methods=["GET"])
    async def items(request: Any, number: str) -> bytes:
        page = await database.run(reading.items_page, number, after(request))
        return json_answer(request, page)


def _acts(app: Klein, database: Any, broadcast: Broadcast) -> None:
    @app.route("/api/ask", methods=["POST"])
    async def ask(request: Any) -> bytes:
        wanted, names = read_ask(request.content.read())
        return json_answer(request, await database.run(reading.asked, CLIENT, wanted, names))

    @app.route("/api/stream", methods=["GET"])
    def stream(request: Any) -> "Deferred[None]":
        last = request.getHeader("Last-Event-ID") or after(request)
        return Deferred.fromCoroutine(broadcast.serve(request, last))


def after(request: Any) -> str:
    """Return the argument `after` of the address, "" if absent. Raises BadRequest."""
    try:
        text: str = request.args.get(b"after", [b""])[0].decode()
    except UnicodeDecodeError:
        raise BadRequest("after: is no text in UTF-8") from None
    if "\0" in text or len(text) > 200:
        raise BadRequest("after: is no name")
    return text


def read_ask(body: bytes) -> tuple[Ask, list[str]]:
    """Read what the page asks for, and the names if `nodes` is a list of them. Raises BadRequest."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        raise BadRequest("the body is no JSON") from None
    if not isinstance(value, dict) or not {"verb", "nodes"} <= value.keys() <= _WORDS:
        raise BadRequest(f"the body must be an object of verb, nodes and {', '.join(_WORDS)}")
    nodes = value.pop("nodes")
    names = nodes if isinstance(nodes, list) else []
    if not isinstance(nodes, str | list) or not all(isinstance(name, str) for name in names):
        raise BadRequest("nodes: must be a node set, or a list of names")
    return _ask(value, nodes if isinstance(nodes, str) else ""), names


def _ask(value: dict[str, Any], expression: str) -> Ask:
    wrong = [
        name
        for name, kind in (("reason", str), ("key", str), ("power_off", bool), ("dry_run", bool))
        if value.get(name) is not None and not isinstance(value[name], kind)
    ]
    if wrong:
        raise BadRequest(f"{', '.join(wrong)}: has the wrong type")
    if value["verb"] not in list(Verb):
        raise BadRequest(f"verb: there are {', '.join(Verb)}")
    given = {name: one for name, one in value.items() if one is not None and name != "verb"}
    return Ask(verb=Verb(value["verb"]), nodes=expression, **given)
