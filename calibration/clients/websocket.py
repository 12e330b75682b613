"""PyPI's `websockets` against `calibration/upstreams/websocket.py`, with or without something between the two. A line for each step: "ok NAME" or
"failed NAME: why".

python websocket.py PORT [CERTIFICATE], which is the authority's of a server that speaks TLS.
"""

import asyncio
import json
import os
import ssl
import sys

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

SIZES = [0, 1, 125, 126, 127, 65535, 65536, 1024 * 1024]
CONNECTIONS = 200
MESSAGES = 100
PATIENCE = 60

port, *authority = sys.argv[1:]
secured = ssl.create_default_context(cafile=authority[0]) if authority else None
BASE = f"{'wss' if secured else 'ws'}://localhost:{port}"


def joined(path="/", **options):
    # By its address, whatever the name resolves to.
    return connect(BASE + path, host="127.0.0.1", ssl=secured, proxy=None, max_size=2 * SIZES[-1], open_timeout=PATIENCE, **options)


def same(expected, actual):
    if expected != actual:
        raise AssertionError(f"{actual!r:.200}, not {expected!r:.200}")


async def echoed(client, message):
    await client.send(message)
    same(message, await client.recv())


async def about(**options):
    """What the server says was agreed on, and the client's side of it."""
    async with joined("/about", **options) as client:
        said = json.loads(await client.recv())
        same(said["extensions"], [extension.name for extension in client.protocol.extensions])
        same(said["subprotocol"], client.subprotocol)
        return said


async def close_of(client):
    """The code and the reason with which the other side has ended, or None where it has not said any."""
    try:
        same("no message", await client.recv())
    except ConnectionClosed as closed:
        return closed.rcvd and (closed.rcvd.code, closed.rcvd.reason)


async def noted(name):
    async with joined(f"/noted?{name}") as client:
        return json.loads(await client.recv())


async def text():
    async with joined() as client:
        for size in SIZES:
            # Three bytes each, and what is left.
            await echoed(client, "☃" * (size // 3) + "x" * (size % 3))


async def binary():
    async with joined(compression=None) as client:
        for size in SIZES:
            await echoed(client, os.urandom(size))


async def compressed():
    same(["permessage-deflate"], (await about())["extensions"])
    async with joined() as client:
        for size in SIZES:
            await echoed(client, bytes(size))
            await echoed(client, os.urandom(size))


async def uncompressed():
    same([], (await about(compression=None))["extensions"])


async def fragmented():
    fragments = ["one ", "and another ☃ ", "x" * 70_000, "!"]
    for compression in ["deflate", None]:
        async with joined(compression=compression) as client:
            for parts in [fragments, [part.encode() for part in fragments]]:
                await client.send(parts)
                got = [part async for part in client.recv_streaming()]
                same(parts, got[:-1])


async def ping_amid_a_message():
    async with joined() as client:

        async def parts():
            yield "before "
            await (await client.ping(b"amid"))
            yield "behind"

        await client.send(parts())
        same("before behind", await client.recv())


async def pings():
    async with joined() as client:
        for payload in [b"", b"hello", bytes(125)]:
            await (await client.ping(payload))
        await client.pong(b"that nobody asked for")
        await echoed(client, "and on")


async def pings_of_the_server():
    async with joined("/pings") as client:
        if float(await client.recv()) < 0:
            raise AssertionError("answered before it was asked")


async def many_at_once():
    ready = asyncio.Barrier(CONNECTIONS)

    async def one(number):
        async with joined(ping_interval=None) as client:
            await ready.wait()
            for turn in range(MESSAGES):
                await echoed(client, f"{number}/{turn} " + "x" * (number * turn % 997))

    async with asyncio.TaskGroup() as group:
        for number in range(CONNECTIONS):
            group.create_task(one(number))


async def close_of_the_client():
    for number, (code, reason) in enumerate([(1000, ""), (1001, "going"), (4001, "bis bald – adé")]):
        name = f"own-{number}-{os.getpid()}"
        async with joined(f"/?{name}") as client:
            await echoed(client, "x")
            await client.close(code, reason)
            same(code, client.close_code)
        same([code, reason], await noted(name))


async def close_of_the_server():
    async with joined("/leave") as client:
        same((4002, "closing time – adé"), await close_of(client))


async def break_of_the_client():
    name = f"broken-{os.getpid()}"
    async with joined(f"/?{name}") as client:
        await echoed(client, "x")
        client.transport.abort()
    same(None, await noted(name))


async def break_of_the_server():
    async with joined("/break") as client:
        same(None, await close_of(client))


async def refusal():
    try:
        async with joined("/forbidden"):
            raise AssertionError("it was let in")
    except InvalidStatus as refused:
        same((403, b"not you\n"), (refused.response.status_code, refused.response.body))
        same("text/plain; charset=utf-8", refused.response.headers["Content-Type"])


async def subprotocol():
    same("chat.v1", (await about(subprotocols=["chat.v2", "chat.v1"]))["subprotocol"])
    same(None, (await about(subprotocols=["chat.v3"]))["subprotocol"])
    same(None, (await about())["subprotocol"])


STEPS = [
    text,
    binary,
    compressed,
    uncompressed,
    fragmented,
    ping_amid_a_message,
    pings,
    pings_of_the_server,
    many_at_once,
    close_of_the_client,
    close_of_the_server,
    break_of_the_client,
    break_of_the_server,
    refusal,
    subprotocol,
]


async def main():
    failed = False
    for step in STEPS:
        try:
            async with asyncio.timeout(PATIENCE):
                await step()
            print(f"ok {step.__name__}")
        except Exception as error:  # Whatever a client throws is what its user would see.
            failed = True
            print(f"failed {step.__name__}: {error!r}".replace("\n", " "))
    return failed


sys.exit(1 if asyncio.run(main()) else 0)
