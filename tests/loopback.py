"""An HTTP server on loopback, in a separate thread."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class QuietHandler(BaseHTTPRequestHandler):
    """A handler for HTTP/1.1 without a log."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        return


class LoopbackServer:
    """A server that uses ``handler`` until it is closed. Disconnecting clients cause no error."""

    def __init__(self, handler: type[BaseHTTPRequestHandler]) -> None:
        class Server(ThreadingHTTPServer):
            def handle_error(self, *_: object) -> None:
                return

        self._server = Server(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    @property
    def url(self) -> str:
        """Base URL of OpenAI's interface."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def close(self) -> None:
        """Stop the server and its thread."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
