"""A component that faults break: answers each request over HTTP with a Date, as `--` words after the port say.

tls CERTIFICATE KEY   over TLS; reads its certificate anew on SIGHUP
on HOST               listens there, and not at the loopback address
deaf                  keeps its certificate, whatever it is told
busy                  a thread works a tenth of the time
hungry                a thread takes ever more memory while its group's is limited
shared                somebody else may listen at its port, too
left                  leaves the control groups of a run before it listens
elsewhere DIRECTORY   a thread has whatever fills its disk fill another one
"""

import http.server
import os
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time

port, words = int(sys.argv[1]), sys.argv[2:]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args):
        pass


class Server(http.server.ThreadingHTTPServer):
    def server_bind(self):
        if "shared" in words:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        super().server_bind()


def busy():
    while True:
        begun = time.monotonic()
        while time.monotonic() < begun + 0.01:
            pass
        time.sleep(0.09)


def limit_file():
    """The file with the memory limit of the group that it is started in."""
    for line in open("/proc/self/cgroup"):
        _, controllers, path = line.rstrip().split(":", 2)
        if "memory" in controllers.split(","):
            return f"/sys/fs/cgroup/memory{path}/memory.limit_in_bytes"
        if not controllers:
            unified = f"/sys/fs/cgroup{path}/memory.max"
    return unified


def leave():
    """Leaves the groups of a run for the next above that take it."""
    for line in open("/proc/self/cgroup").readlines():
        _, controllers, path = line.rstrip().split(":", 2)
        above, name = os.path.split(path)
        if not name.startswith("plimsoll-"):
            continue
        hierarchy = controllers.removeprefix("name=") or "unified"
        mounts = [f"/sys/fs/cgroup/{hierarchy}", "/sys/fs/cgroup"]
        mount = next(mount for mount in mounts if os.path.exists(f"{mount}{path}"))
        while True:
            try:
                with open(f"{mount}{above}/cgroup.procs", "w") as processes:
                    processes.write(str(os.getpid()))
                break
            except OSError:
                if above == "/":
                    raise
                above = os.path.dirname(above)


def hungry():
    """While that group is limited, whether it is still in it or not, four mebibytes more each 2 ms, up to 256."""
    kept = []
    while True:
        limit = open(limited_by).read().strip()
        if limit == "max" or int(limit) > 1 << 40:
            kept.clear()
        elif len(kept) < 64:
            kept.append(bytearray(b"x" * (4 << 20)))
        time.sleep(0.002)


def elsewhere():
    """A small disk, of which a file lies over the one that fills the disk whenever that is removed."""
    disk = words[words.index("elsewhere") + 1]
    filler, other = os.path.join(disk, ".plimsoll-filler"), os.path.join(disk, "other")
    os.mkdir(other)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", other], check=True)
    open(f"{other}/file", "w").close()
    while True:
        if not os.path.ismount(filler):
            open(filler, "w").close()
            subprocess.run(["mount", "--bind", f"{other}/file", filler], check=True)
        time.sleep(0.05)


limited_by = limit_file() if "hungry" in words else None
if "left" in words:
    leave()
for work in (busy, hungry, elsewhere):
    if work.__name__ in words:
        threading.Thread(target=work, daemon=True).start()
host = words[words.index("on") + 1] if "on" in words else "127.0.0.1"
server = Server((host, port), Handler)
if "tls" in words:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    files = words[words.index("tls") + 1 :][:2]
    load = lambda *_: context.load_cert_chain(*files)
    load()
    signal.signal(signal.SIGHUP, signal.SIG_IGN if "deaf" in words else load)
    server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
