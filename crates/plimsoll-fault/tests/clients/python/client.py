"""Drives a server with PyPI's toxiproxy-python and observes each effect through the proxy.

Usage: client.py HOST:PORT
"""

import queue
import socket
import sys
import threading
import time
from contextlib import contextmanager

from toxiproxy import Toxiproxy
from toxiproxy.exceptions import InvalidToxic, NotFound, ProxyExists

PATIENCE = 10.0
failures = 0


class Echo:
    """A server on an ephemeral port that sends back what it gets; `received` holds the bytes of each ended connection."""

    def __init__(self):
        self.received = queue.Queue()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        received = b""
        try:
            while data := connection.recv(65536):
                received += data
                connection.sendall(data)
        except OSError:
            pass
        connection.close()
        self.received.put(received)

    def received_from(self, first):
        """Bytes of the next ended connection that began with `first`; others may end late."""
        while not (received := self.received.get(timeout=PATIENCE)).startswith(first):
            pass
        return received


class Outcome:
    """A client's view of an exchange: bytes that came, seconds from before the connection to the last event, and how it ended."""

    def __init__(self, data, seconds, end):
        self.data, self.seconds, self.end = data, seconds, end

    def __repr__(self):
        return "%d bytes, %.3f s, %s" % (len(self.data), self.seconds, self.end)


def exchange(listen, sent=b"", expected=None, finish=False):
    """Sends, closes its half if `finish`, and reads until `expected` bytes are there, or to the end."""
    host, port = listen.rsplit(":", 1)
    start = time.monotonic()
    data, end = b"", "open"
    try:
        with socket.create_connection((host, int(port)), timeout=PATIENCE) as connection:
            connection.sendall(sent)
            if finish:
                connection.shutdown(socket.SHUT_WR)
            while expected is None or len(data) < expected:
                piece = connection.recv(65536)
                if not piece:
                    end = "closed"
                    break
                data += piece
    except ConnectionRefusedError:
        end = "refused"
    except ConnectionResetError:
        end = "reset"
    return Outcome(data, time.monotonic() - start, end)


def is_at_end(connection):
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


@contextmanager
def check(name):
    global failures
    try:
        yield
        print("ok", name, flush=True)
    except Exception as error:
        failures += 1
        print("FAILED %s: %s: %s" % (name, type(error).__name__, error), flush=True)


def require(condition, seen):
    if not condition:
        raise AssertionError("saw %r" % (seen,))


@contextmanager
def toxic(proxy, kind, stream, toxicity=1.0, **attributes):
    proxy.add_toxic(type=kind, stream=stream, toxicity=toxicity, attributes=attributes)
    try:
        yield
    finally:
        proxy.destroy_toxic("%s_%s" % (kind, stream))


def check_passes(proxy):
    seen = exchange(proxy.listen, b"through", expected=7)
    require(seen.data == b"through", seen)


def check_toxics(proxy, echo, stream):
    with check("latency " + stream), toxic(proxy, "latency", stream, latency=100, jitter=0):
        seen = exchange(proxy.listen, b"late", expected=4)
        require(seen.data == b"late" and seen.seconds >= 0.1, seen)

    with check("bandwidth " + stream), toxic(proxy, "bandwidth", stream, rate=20):
        seen = exchange(proxy.listen, b"b" * 4000, expected=4000)
        require(len(seen.data) == 4000 and seen.seconds >= 0.2, seen)

    with check("slow_close " + stream), toxic(proxy, "slow_close", stream, delay=200):
        seen = exchange(proxy.listen, finish=True)
        require(seen.end == "closed" and seen.seconds >= 0.2, seen)

    with check("timeout " + stream), toxic(proxy, "timeout", stream, timeout=200):
        seen = exchange(proxy.listen, b"lost")
        require(seen.data == b"" and seen.end != "open" and seen.seconds >= 0.2, seen)

    with check("reset_peer " + stream), toxic(proxy, "reset_peer", stream, timeout=100):
        seen = exchange(proxy.listen, b"lost")
        require(seen.end == "reset" and seen.seconds >= 0.1, seen)

    # 1000 bytes in pieces of at most 100 are at least ten pieces, hence nine delays of 10 ms.
    with check("slicer " + stream), toxic(proxy, "slicer", stream, average_size=100, size_variation=0, delay=10_000):
        sent = bytes(range(250)) * 4
        seen = exchange(proxy.listen, sent, expected=1000)
        require(seen.data == sent and seen.seconds >= 0.09, seen)

    with check("limit_data " + stream), toxic(proxy, "limit_data", stream, bytes=10):
        seen = exchange(proxy.listen, b"limit of data in " + stream.encode())
        received = echo.received_from(b"limit")
        passed = received if stream == "upstream" else seen.data
        require(passed == b"limit of d" and seen.end != "open", (received, seen))

    with check("toxicity 0 " + stream), toxic(proxy, "limit_data", stream, toxicity=0, bytes=10):
        seen = exchange(proxy.listen, b"t" * 25, expected=25)
        require(len(seen.data) == 25, seen)


def main(server):
    host, port = server.rsplit(":", 1)
    toxiproxy = Toxiproxy()
    toxiproxy.update_api_consumer(host, int(port))
    echo = Echo()
    names = ["python", "python_populated_1", "python_populated_2"]
    for name in names:
        toxiproxy.destroy(toxiproxy.get_proxy(name))

    with check("version"):
        require(toxiproxy.running() and b"version" in toxiproxy.version(), toxiproxy.version())

    with check("create"):
        proxy = toxiproxy.create(upstream=echo.address, name="python")
        require(proxy.enabled and not proxy.listen.endswith(":0"), proxy.listen)
        check_passes(proxy)

    with check("list and get"):
        found = toxiproxy.get_proxy("python")
        require((found.listen, found.upstream) == (proxy.listen, echo.address), (found.listen, found.upstream))

    for stream in ("upstream", "downstream"):
        check_toxics(proxy, echo, stream)

    with check("toxics are listed"), toxic(proxy, "latency", "upstream", toxicity=0.5, latency=7, jitter=3):
        found = proxy.get_toxic("latency_upstream")
        require((found.type, found.stream, found.toxicity) == ("latency", "upstream", 0.5), vars(found))
        require(found.attributes == {"latency": 7, "jitter": 3}, found.attributes)

    with check("disable and enable"):
        with proxy.down():
            seen = exchange(proxy.listen)
            require(seen.end == "refused", seen)
        check_passes(proxy)

    with check("disable closes open connections"):
        host, port = proxy.listen.rsplit(":", 1)
        with socket.create_connection((host, int(port)), timeout=PATIENCE) as connection:
            connection.sendall(b"o")
            require(connection.recv(1) == b"o", "nothing")
            with proxy.down():
                require(is_at_end(connection), "an open connection")

    with check("reset"):
        proxy.add_toxic(type="limit_data", attributes={"bytes": 1})
        proxy.disable()
        require(toxiproxy.reset(), "a refusal")
        require(proxy.toxics() == {}, proxy.toxics())
        check_passes(proxy)

    with check("populate"):
        populated = toxiproxy.populate(
            [{"name": name, "listen": "127.0.0.1:0", "upstream": echo.address} for name in names[1:]]
        )
        require(len(populated) == 2, populated)
        for each in populated:
            check_passes(each)
            each.destroy()

    for name, error, act in [
        ("an unknown toxic is refused", InvalidToxic, lambda: proxy.add_toxic(type="unknown")),
        ("an existing toxic is refused", ProxyExists, lambda: [proxy.add_toxic(type="latency") for _ in range(2)]),
        ("an absent toxic is not found", NotFound, lambda: proxy.destroy_toxic("absent")),
    ]:
        with check(name):
            try:
                act()
            except error:
                pass
            else:
                require(False, "no %s" % error.__name__)

    with check("delete"):
        require(toxiproxy.destroy(proxy), "a refusal")
        require(toxiproxy.get_proxy("python") is None, toxiproxy.proxies())
        seen = exchange(proxy.listen)
        require(seen.end == "refused", seen)


main(sys.argv[1])
sys.exit(failures > 0)
