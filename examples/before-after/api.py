"""A small read API with sixteen workers, as an application server has them, or as many as are asked for; standard library only.

    api.py PORT LOG_URL SECRETS_URL every-request|cached [WORKERS]

A worker takes 30 ms for an article. With `every-request` it also asks the secrets API before and calls the log API after, and the caller
waits for both. With `cached` it keeps the secret for an hour and logs to standard output.
"""

import asyncio
import sys
import time
from urllib.parse import urlsplit

WORKERS = 16
OWN_WORK_S = 0.030
SECRET_LASTS_S = 3600


class Upstream:
    """Calls one URL, over as many kept connections as are needed at once."""

    def __init__(self, url):
        parts = urlsplit(url)
        self.host, self.port = parts.hostname, parts.port
        self.idle = []

    async def call(self, method, path, body=b""):
        reader, writer = (
            self.idle.pop()
            if self.idle
            else await asyncio.open_connection(self.host, self.port)
        )
        head = f"{method} {path} HTTP/1.1\r\nHost: {self.host}:{self.port}\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        answer = await read_message(reader)
        if answer is None:
            raise ConnectionError(f"{self.host}:{self.port} closed the connection")
        self.idle.append((reader, writer))
        return answer[1]


async def read_message(reader):
    """The first line and the body of a message; None at the end of the connection."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    lines = head.split(b"\r\n")
    length = 0
    for line in lines[1:]:
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return lines[0], await reader.readexactly(length) if length else b""


class Api:
    def __init__(self, log, secrets, every_request, workers):
        self.log, self.secrets, self.every_request = Upstream(log), Upstream(secrets), every_request
        self.workers = asyncio.Semaphore(workers)
        self.secret, self.secret_until = None, 0.0

    async def answer(self, path):
        async with self.workers:
            if self.every_request or time.monotonic() >= self.secret_until:
                self.secret = await self.secrets.call("GET", "/secret")
                self.secret_until = time.monotonic() + SECRET_LASTS_S
            await asyncio.sleep(OWN_WORK_S)
            line = f"GET {path}".encode()
            if self.every_request:
                await self.log.call("POST", "/log-events", line)
            else:
                sys.stdout.buffer.write(line + b"\n")
        return b'{"title":"An article"}'

    async def serve(self, reader, writer):
        try:
            while (message := await read_message(reader)) is not None:
                body = await self.answer(message[0].split()[1].decode())
                writer.write(
                    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b"
                    % (len(body), body)
                )
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()


async def main():
    port, log, secrets, mode, *workers = sys.argv[1:]
    if mode not in ("every-request", "cached"):
        sys.exit(f"{mode}: write every-request or cached")
    workers = int(workers[0]) if workers else WORKERS
    api = Api(log, secrets, mode == "every-request", workers)
    server = await asyncio.start_server(api.serve, "127.0.0.1", int(port), backlog=4096)
    async with server:
        await server.serve_forever()


asyncio.run(main())
