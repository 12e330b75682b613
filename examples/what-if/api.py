"""A small API: each order looks into the stock (HTTP) and counts itself in the cache (Redis), and is refused where either does not answer.

python3 api.py HOST PORT STOCK_URL CACHE_HOST CACHE_PORT [CERTIFICATE KEY]

With a certificate it speaks TLS, and reads the certificate anew on SIGHUP.
"""

import http.server
import signal
import socket
import ssl
import sys
import urllib.request

HOST, PORT, STOCK, CACHE_HOST, CACHE_PORT, *TLS = sys.argv[1:]
PATIENCE = 0.5


def in_stock():
    with urllib.request.urlopen(STOCK + "/stock/7", timeout=PATIENCE) as answer:
        answer.read()


def count():
    with socket.create_connection((CACHE_HOST, int(CACHE_PORT)), timeout=PATIENCE) as cache:
        cache.sendall(b"INCR orders\r\n")
        if not cache.recv(100).startswith(b":"):
            raise OSError("the cache does not count")


class Api(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        status = 200
        if self.path != "/up":
            try:
                in_stock()
                count()
            except OSError:
                status = 503
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512


server = Server((HOST, int(PORT)), Api)
if TLS:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*TLS)
    signal.signal(signal.SIGHUP, lambda *_: context.load_cert_chain(*TLS))
    # Hands shake in the thread of the connection, not where all are accepted.
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
server.serve_forever()
