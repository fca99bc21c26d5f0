"""A web server that answers what a test tells it to, in place of one of ours."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread

from lakehouse_assets import settings

Answer = tuple[int, dict[str, str], str]


class Answers(BaseHTTPRequestHandler):
    """Answers in turn with what it is told to; the last answer stays. It is always healthy."""

    protocol_version = "HTTP/1.1"
    answers: list[Answer]
    asked: list[str]  # all paths
    taken: list[tuple[str, dict[str, str], bytes]]  # what was answered with 200
    lock = Lock()

    def do_GET(self) -> None:
        self._answer(*((200, {}, "{}") if self.path == "/health" else self._next(b"")))

    def do_POST(self) -> None:
        self._answer(*self._next(self.rfile.read(int(self.headers["Content-Length"]))))

    def _next(self, body: bytes) -> Answer:
        with self.lock:
            self.asked.append(self.path)
            answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
            if answer[0] == 200:
                self.taken.append((self.path, dict(self.headers), body))
        return answer

    def _answer(self, status: int, headers: dict[str, str], said: str) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(said))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(said.encode())

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def answering(port: str) -> Iterator[type[Answers]]:
    """On the port of that name; at first everything is answered with 200."""

    class Mine(Answers):
        answers = [(200, {}, "{}")]  # noqa: RUF012
        asked = []  # noqa: RUF012
        taken = []  # noqa: RUF012

    server = ThreadingHTTPServer(("127.0.0.1", settings.port(port)), Mine)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield Mine
    finally:
        server.shutdown()
        server.server_close()
