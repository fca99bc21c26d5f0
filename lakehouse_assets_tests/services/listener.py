"""The smallest real service: listens on one port, Kafka's. Run as a script it starts itself."""

import sys
import time

from lakehouse_assets import settings
from lakehouse_assets.services.host import listening
from lakehouse_assets.services.service import Service

CODE = """
import signal, socket, sys, time
if sys.argv[2] == "deaf":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if sys.argv[2] == "broken":
    print(*("line %d" % n for n in range(1, 31)), sep="\\n")
    sys.exit("no such disk")
time.sleep(0.3)
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    server.accept()[0].close()
"""


class Listener(Service):
    name = "listener"
    port_names = ("kafka",)
    start_timeout_s = 10
    stop_timeout_s = 1

    def __init__(self, manner: str = "plain") -> None:
        self.manner = manner

    @property
    def port(self) -> int:
        return settings.port(self.port_names[0])

    def command(self) -> list[str]:
        return [sys.executable, "-c", CODE, str(self.port), self.manner]

    def probe(self) -> bool:
        return listening(self.port)


if __name__ == "__main__":
    print(Listener().start(), flush=True)
    time.sleep(30 if "linger" in sys.argv else 0)
