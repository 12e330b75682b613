"""An upstream on Python's http.server: says its port, then for every request what it was. Bodies are left to handlers there."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        self.read_body()
        body = b"" if self.command == "HEAD" else b"fine"
        self.send_response(200)
        self.send_header("X-Seen", f"{self.command} {self.path}")
        self.send_header("Content-Length", "4")
        self.end_headers()
        self.wfile.write(body)

    def read_body(self):
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            while size := int(self.rfile.readline().split(b";")[0], 16):
                self.rfile.read(size)
                self.rfile.readline()
            while self.rfile.readline().strip():
                pass
        else:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def __getattr__(self, name):
        # Any method is answered.
        if name.startswith("do_"):
            return self.answer
        raise AttributeError(name)

    def log_message(self, *words):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
