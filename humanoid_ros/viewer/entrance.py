# SPDX-License-Identifier: Apache-2.0
"""Who may come in, and what a browser may say.

A page is opened by its address with a token, under a name of this machine, from itself alone: it can push a robot, and
other users of the machine, other pages that its user has open, and names that somebody else makes lead here (DNS
rebinding) must not get at it. What one browser says of a control is kept for all others: a number that can't be sent
would leave all without a page.
"""

from __future__ import annotations

import dataclasses
import hmac
import http
import math
import os
import re
import secrets
import socket
import time
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import viser.infra
from websockets.asyncio.server import ServerConnection
from websockets.datastructures import Headers
from websockets.http11 import Request, Response
from websockets.typing import Data

from humanoid_model.errors import InputError
from humanoid_ros.viewer.drawing.shapes import LARGEST

LARGEST_MESSAGE = 1 << 16
"""Of a browser [bytes]."""
LONGEST_TEXT = 4096
"""Letters of a text: a path has no more."""
UPDATE = "GuiUpdateMessage"


class BrowserConnection(ServerConnection):
    """A connection that leaves out what can't be used, and tells the log.

    Args:
        log: takes a line for the log.
        arguments: of a connection.
        options: of a connection.
    """

    def __init__(self, log: Callable[[str], None], *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._log = log

    async def recv(self, decode: bool | None = None) -> Data:  # type: ignore[override]
        """Return the next message that can be used."""
        while True:
            message = await super().recv(decode)
            fault = message_fault(message)
            if fault is None:
                return message
            self._log(f"left out a message of a browser: {fault}")


def message_fault(raw: Data) -> str | None:
    """Return why a message of a browser can't be used; None if it can.

    Args:
        raw: as it came.
    """
    try:
        message = viser.infra.Message.deserialize(b"" if isinstance(raw, str) else bytes(raw))
    except Exception:  # bytes that are nothing, another type, other fields
        return "it can't be read"
    kind, said = type(message).__name__, vars(message)
    if kind.startswith("FileTransfer"):
        return "the page takes no files"
    if kind == UPDATE and not (isinstance(said["updates"], dict) and said["updates"].keys() == {"value"}):
        return "of a control, its value alone is a browser's to say"
    left: list[Any] = [said]
    while left:
        part = left.pop()
        if isinstance(part, dict):
            left += [*part, *part.values()]
        elif isinstance(part, list | tuple):
            left += part
        elif isinstance(part, str | bytes):
            if len(part) > LONGEST_TEXT:
                return f"a text of {len(part)} letters in {kind}, more than {LONGEST_TEXT}"
        elif isinstance(part, int | float) and not (math.isfinite(part) and abs(part) <= LARGEST):
            return f"the number {part:.3g} in {kind}, beyond {LARGEST:.0e}"
    return None


VARIABLE = "HUMANOID_STACK_TOKEN"
"""Environment variable with the token: what is on a command line or in a parameter is read by others."""
FORM = re.compile(r"[A-Za-z0-9_-]{16,}")
EVERYWHERE = ("", "0.0.0.0", "::")
"""Addresses that mean all of a machine's."""
LOOPBACK = ("localhost", "127.0.0.1", "::1")
ROOT = ("", "/")
"""Paths of the address that is opened; it has the token as ``?token=``, every other path begins with it."""
QUIET = 10.0
"""Between two lines of the log [s]."""
LONGEST = 100
"""Of what a refused one says of itself, in the log."""
HOW = "Open the address with ?token=... that the viewer or the lift editor printed when it started.\n"

Respond = Callable[[ServerConnection, Request], "Response | None"]
"""Answers a request, as websockets has it; None lets a websocket in."""


def page_token() -> str:
    """Return the token of this process and of those that it starts: that of :data:`VARIABLE`, or a random one.

    Raises:
        InputError: the given one is too short, or can't be part of an address.
    """
    token = os.environ.get(VARIABLE) or secrets.token_urlsafe(24)
    if not FORM.fullmatch(token):
        raise InputError(
            "the token can't be used",
            element=f"environment variable {VARIABLE}",
            remedy="Give 16 or more letters, digits, - and _, or none for a random one",
        )
    os.environ[VARIABLE] = token  # a page that is started again has the same: browsers come back by themselves
    return token


def page_address(host: str, port: int, token: str) -> str:
    """Return what to open in a browser of this machine.

    Args:
        host: address that the page listens on.
        port: its port.
        token: its token.
    """
    shown = "localhost" if host in EVERYWHERE else f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}/?token={token}"


class Entrance:
    """Lets in who has the token; who hasn't is refused, and told to the log now and then.

    Args:
        host: address that the page listens on.
        token: what who comes in has to know.
        names: further names of this machine, under which a proxy serves the page, say.
        log: takes a line for the log; called from the server's thread.
    """

    def __init__(self, host: str, token: str, names: Iterable[str], log: Callable[[str], None]) -> None:
        self._token, self._log = token, log
        self._further = {name.lower() for name in names}
        self._names = {*LOOPBACK, host.lower(), *self._further} - {*EVERYWHERE}
        self._far = host.lower() not in LOOPBACK
        if self._far:
            own = socket.gethostname().lower()
            self._names |= {own, f"{own}.local"}
        self._told_at, self._untold = -float("inf"), 0

    def guard(self, serve: Respond) -> Respond:
        """Return what answers requests in place of a page's own answer, which is asked for those that may come in."""

        def answer(connection: ServerConnection, request: Request) -> Response | None:
            path, mark, query = request.path.partition("?")
            if path == "/favicon.ico":  # browsers ask for it by themselves
                return _response(http.HTTPStatus.NOT_FOUND, "")
            refusal = self._refusal(connection, request)
            if refusal is not None:
                self.tell(f"refused a connection from {connection.remote_address[0]}: {refusal}")
                return _response(http.HTTPStatus.FORBIDDEN, f"{refusal}.\n{HOW}")
            if path in ROOT:
                if "Upgrade" in request.headers:
                    return None
                return _response(http.HTTPStatus.SEE_OTHER, "", Location=f"{self._token}/")
            # The page is below the token, of which its server knows nothing.
            inner = dataclasses.replace(request, path=(path.removeprefix(f"/{self._token}") or "/") + mark + query)
            response = serve(connection, inner)
            if response is not None:
                response.headers["Referrer-Policy"] = "no-referrer"
                response.headers["Cache-Control"] = "no-store"
            return response

        return answer

    def _refusal(self, connection: ServerConnection, request: Request) -> str | None:
        """Return why a request may not come in."""
        hosts, origins = request.headers.get_all("Host"), request.headers.get_all("Origin")
        if len(hosts) != 1 or not self._own(hosts[0], connection):
            return f"Host {_quoted(hosts)} is none of this page"
        # A proxy may write another Host, but the browser writes the name that the proxy has.
        same = f"//{hosts[0].lower()}"
        if any(not origin.lower().endswith(f":{same}") and _name(origin) not in self._further for origin in origins):
            return f"Origin {_quoted(origins)} is another page"
        if not self._knows(request.path):
            return "There is no token, or a wrong one"
        return None

    def _own(self, host: str, connection: ServerConnection) -> bool:
        """Whether a Host is a name of this machine, or the address that the connection came to."""
        name = _name(f"//{host}")
        return name in self._names or (self._far and name == str(connection.local_address[0]))

    def _knows(self, target: str) -> bool:
        path, _, query = target.partition("?")
        given = parse_qs(query).get("token", [""])[0] if path in ROOT else path.lstrip("/").split("/")[0]
        return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), self._token.encode())

    def tell(self, line: str) -> None:
        """Tell the log, unless that was told of something just now; then the next line has the number."""
        now = time.monotonic()
        if now - self._told_at < QUIET:
            self._untold += 1
            return
        more = f" ({self._untold} more like it since the last line)" if self._untold else ""
        self._told_at, self._untold = now, 0
        self._log(f"{line}{more}")


def _name(address: str) -> str:
    """Return the name in an address; empty where there is none."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:  # brackets that don't close
        return ""


def _quoted(values: list[str]) -> str:
    """Return what somebody said, safe for a terminal and short."""
    return ascii(", ".join(values))[:LONGEST]


def _response(status: http.HTTPStatus, text: str, **headers: str) -> Response:
    body = text.encode()
    given = {"Content-Type": "text/plain; charset=utf-8", "Content-Length": str(len(body)), "Connection": "close"}
    return Response(status.value, status.phrase, Headers(**given, **headers), body)
