"""What every request passes first: the host that it names, its token, how many it may make, and the headers that every response gets."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import urlsplit

from warehouse.errors import WarehouseError
from warehouse.surfaces.web.tokens import Tokens

COOKIE = "wh_token"
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_PORTS = {"http": 80, "https": 443}
OPEN_PATHS = ("/login", "/assets/", "/healthz")  # that need no token
MOST_BODY_BYTES = 1 << 20
_TOO_LARGE = WarehouseError("WH601", f"the request is larger than {MOST_BODY_BYTES:,} bytes"), 413
_FAILURES_A_MINUTE = 10  # wrong tokens of one address
_MOST_VISITORS = 10_000
_HEADERS = (
    (b"content-security-policy", b"default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),  # with no-referrer browsers send "Origin: null" with a form of our own
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
)

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Refuse = Callable[[Scope, WarehouseError, int], App]


@dataclass
class Allowance:
    """So many acts a minute for each visitor, and as many at once: a bucket that fills again."""

    a_minute: float
    _left: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)

    def take(self, visitor: str) -> bool:
        """Whether the visitor may act once more."""
        now = time.monotonic()
        left, at = self._left.pop(visitor, (self.a_minute, now))
        left = min(self.a_minute, left + (now - at) * self.a_minute / 60)
        self._left[visitor] = (left - 1 if left >= 1 else left, now)
        while len(self._left) > _MOST_VISITORS:
            self._left.popitem(last=False)
        return left >= 1


@dataclass
class Guard:
    """Wraps the application. `hosts` are the names by which it may be asked for; another name would let a page of a foreign site that
    resolves to this machine read it. Without tokens every visitor has the role `admin`, which is for one's own machine; a server that has
    had tokens stays closed when the last one is revoked. `needs_token`: it is closed from the start."""

    app: App
    tokens: Tokens
    hosts: frozenset[str]
    requests_a_minute: float
    refuse: Refuse
    needs_token: bool = False
    _requests: Allowance = field(init=False)
    _failures: Allowance = field(init=False)

    def __post_init__(self) -> None:
        self._requests = Allowance(self.requests_a_minute)
        self._failures = Allowance(_FAILURES_A_MINUTE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        guarded = _with_headers(send)
        fault, body = self._fault(scope), receive
        if fault is None and any(name == b"transfer-encoding" for name, _ in scope["headers"]):
            whole = await _whole(receive)  # it does not say how long it is
            fault, body = (None, whole) if whole else (_TOO_LARGE, receive)
        if fault:
            await self.refuse(scope, *fault)(scope, receive, guarded)
        else:
            await self.app(scope, body, guarded)

    def _fault(self, scope: Scope) -> tuple[WarehouseError, int] | None:
        """Why a request is refused, and with which status; sets the role of one that is not."""
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        host = _host(headers.get(b"host", ""))
        if host not in self.hosts:
            return WarehouseError("WH603", "this server is not asked for by that name", "Host", "wh serve --name NAME allows it"), 421
        address = scope["client"][0] if scope.get("client") else "?"
        if _is_cross_site(scope, headers, host):
            return WarehouseError("WH603", "another site sent this request", "Origin"), 403
        length = headers.get(b"content-length", "0")
        if not (length.isascii() and length.isdigit() and len(length) < 12) or int(length) > MOST_BODY_BYTES:
            return _TOO_LARGE
        try:
            self.needs_token = bool(self.tokens.all()) or self.needs_token
        except WarehouseError as error:
            return error, 401
        visitor, role = address, None if self.needs_token else "admin"
        if self.needs_token and (text := _token_text(headers)):
            if holder := self.tokens.holder(text):
                visitor, role = f"token {holder.name}", holder.role
            elif not self._failures.take(address):  # the right tokens of the same address, perhaps a proxy's, are still accepted
                return WarehouseError("WH604", "too many wrong tokens"), 429
        if not self._requests.take(visitor):
            return WarehouseError("WH604", f"more than {self.requests_a_minute:,.0f} requests a minute"), 429
        if role is None and not scope["path"].startswith(OPEN_PATHS):
            return WarehouseError("WH602", "this needs a token", "Authorization", "send it as: Authorization: Bearer TOKEN"), 401
        scope.setdefault("state", {}).update(role=role, visitor=visitor)
        return None


def _host(text: str) -> str:
    """The name in a host with or without a port; empty for what is neither."""
    try:
        return urlsplit(f"//{text}").hostname or ""
    except ValueError:
        return ""


def _token_text(headers: Mapping[bytes, str]) -> str | None:
    kind, _, text = headers.get(b"authorization", "").partition(" ")
    if kind.lower() == "bearer" and text:
        return text.strip()
    try:
        cookies = SimpleCookie(headers.get(b"cookie", ""))
    except CookieError:
        return None
    return cookies[COOKIE].value if COOKIE in cookies else None


def _is_cross_site(scope: Scope, headers: Mapping[bytes, str], host: str) -> bool:
    """Whether a page of another site makes a browser send something that is not only reading."""
    if scope["method"] in ("GET", "HEAD", "OPTIONS"):
        return False
    if headers.get(b"sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return True
    origin = headers.get(b"origin")
    return origin is not None and not _is_own(origin, scope["scheme"], headers[b"host"], may_be_proxied=host not in LOOPBACK)


def _is_own(origin: str, scheme: str, host: str, *, may_be_proxied: bool) -> bool:
    """Whether an origin is that of this server, which was asked for as `host`: scheme, name and port (RFC 6454). In front of a server for
    other machines there may be a proxy with TLS."""
    try:
        said = urlsplit(origin)
        own = urlsplit(f"{said.scheme}://{host}")
        ports = [each.port or _PORTS.get(said.scheme) for each in (said, own)]
    except ValueError:
        return False
    is_scheme = said.scheme == scheme or (may_be_proxied and said.scheme == "https")
    return is_scheme and said.hostname == own.hostname and ports[0] == ports[1]


async def _whole(receive: Receive) -> Receive | None:
    """The body, received; None where it is longer than it may be."""
    messages: list[MutableMapping[str, Any]] = []
    has_more, taken = True, 0
    while has_more:
        messages.append(await receive())
        taken += len(messages[-1].get("body", b""))
        has_more = bool(messages[-1].get("more_body", False))
        if taken > MOST_BODY_BYTES:
            return None

    async def received() -> MutableMapping[str, Any]:
        return messages.pop(0) if messages else await receive()

    return received


def _with_headers(send: Send) -> Send:
    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            own = {name for name, _ in message["headers"]}
            message["headers"] = [*message["headers"], *((name, value) for name, value in _HEADERS if name not in own)]
        await send(message)

    return sending
