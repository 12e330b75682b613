"""An upstream on PyPI's `websockets`: says its port, then echoes every message in the fragments that it came in. Some paths do something else.

/about          says what was agreed on, as JSON: extensions and subprotocol
/pings          pings its client, and says what the answer took in seconds
/leave          closes at once, with a code and a reason
/break          ends its connection without a word
/noted?NAME     says how the connection to /?NAME ended, as JSON: code and reason, or null where no close frame came
/forbidden      is no WebSocket: 403
"""

import asyncio
import json
import urllib.parse

from websockets.asyncio.server import serve
from websockets.exceptions import ConnectionClosed

MOST = 2 * 1024 * 1024
# By the name of a connection: how it ended, once it has.
ends = {}


def end_of(name):
    return ends.setdefault(name, asyncio.get_running_loop().create_future())


async def echo(client, name):
    try:
        while True:
            fragments = [fragment async for fragment in client.recv_streaming()]
            # A fragmented message ends with an empty fragment, which `send` adds by itself.
            await client.send(fragments[0] if len(fragments) == 1 else fragments[:-1])
    except ConnectionClosed as closed:
        if name:
            end_of(name).set_result(closed.rcvd and [closed.rcvd.code, closed.rcvd.reason])


async def handle(client):
    url = urllib.parse.urlsplit(client.request.path)
    match url.path:
        case "/about":
            names = [extension.name for extension in client.protocol.extensions]
            await client.send(json.dumps({"extensions": names, "subprotocol": client.subprotocol}))
        case "/pings":
            answered = await client.ping(b"still there?")
            await client.send(str(await answered))
        case "/leave":
            await client.close(4002, "closing time – adé")
        case "/break":
            client.transport.abort()
        case "/noted":
            await client.send(json.dumps(await end_of(url.query)))
        case _:
            await echo(client, url.query)


def admit(client, request):
    return client.respond(403, "not you\n") if request.path == "/forbidden" else None


def choose(client, offered):
    return "chat.v1" if "chat.v1" in offered else None


async def main():
    how = {"process_request": admit, "select_subprotocol": choose, "max_size": MOST, "backlog": 1024}
    async with serve(handle, "127.0.0.1", 0, **how) as running:
        print(running.sockets[0].getsockname()[1], flush=True)
        await running.serve_forever()


asyncio.run(main())
