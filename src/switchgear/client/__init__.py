"""A client of the region, for programs: connect, ask, follow, subscribe.

In the manner of Juju::

    client = await Client.connect(reactor, "127.0.0.1:5241", name="juju")
    answer = await client.allocate("n[001-003]")
    await client.follow(answer.request)
    answer = await client.deploy("n[001-003]")
    view, items = await client.follow(answer.request, timeout=600)
    ...
    answer = await client.release("owner=juju")
    unsubscribe = await client.subscribe(lambda event: print(event.at, event.text))
    await client.close()

Every call raises an error of `switchgear.errors`, or `NotReachable` if the region has no link to us for
longer than `patience`. A call that was cut off is made again on the next link; an `Ask` carries a key,
so that it is the same request however often it is sent.
"""

from switchgear.client.client import Client, StillRunning
from switchgear.client.link import NotReachable

__all__ = ["Client", "NotReachable", "StillRunning"]
