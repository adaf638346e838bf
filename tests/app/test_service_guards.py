"""Protection of a server on the network: frames, wrong keys, proxies, signals."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
from fastapi.testclient import TestClient
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from app.accounts.keys import KeyStore
from app.commands.serve import trusted_proxies
from app.errors import UsageError
from app.pipeline import Pipeline
from app.service.application import create_app
from app.service.http.access import WRONG_KEYS_PER_MINUTE, Access
from app.service.http.rates import RateLimiter
from app.service.server import DrainingServer, server_config
from tests.app.collection_calls import error_code


def bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


def wrong(number: int) -> dict[str, str]:
    return bearer(f"pl-{number:016x}-" + "A" * 43)


@pytest.mark.parametrize("path", ["/", "/livez", "/login", "/collections", "/v1/evaluations/0/report", "/nowhere"])
def test_nothing_may_be_framed(client: TestClient, path: str) -> None:
    headers = client.get(path).headers
    assert headers["x-frame-options"] == "DENY"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def guarded(pipeline: Pipeline, clock: Clock) -> Iterator[SimpleNamespace]:
    """A server that requires keys, with a controlled clock; ``known`` and ``fresh`` are its keys."""
    keys = KeyStore(pipeline.store)
    known, fresh = (keys.create(name, ["query"]).secret for name in ("known", "fresh"))
    app = create_app(pipeline, require_key=True)
    app.state.access = Access(pipeline, required=True, rates=RateLimiter(clock))
    with TestClient(app) as client:
        yield SimpleNamespace(client=client, known=known, fresh=fresh)


@pytest.mark.parametrize("path", ["/v1/collections", "/readyz", "/v1/query"])
def test_wrong_keys_are_limited_and_good_ones_go_on(
    guarded: SimpleNamespace, clock: Clock, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = guarded.client
    assert client.get("/v1/collections", headers=bearer(guarded.known)).status_code == 200
    for number in range(WRONG_KEYS_PER_MINUTE):
        client.request("POST" if path == "/v1/query" else "GET", path, headers=wrong(number))

    hosts: list[str] = []
    real = KeyStore.authenticate
    monkeypatch.setattr(KeyStore, "authenticate", lambda self, token: (hosts.append(token), real(self, token))[1])
    refused = client.get("/v1/collections", headers=wrong(99))
    assert error_code(refused, 429) == "rate_limit_exceeded"
    assert int(refused.headers["retry-after"]) >= 1
    assert error_code(client.get("/v1/collections", headers=bearer(guarded.fresh)), 429) == "rate_limit_exceeded"
    assert hosts == []
    assert client.get("/v1/collections", headers=bearer(guarded.known)).status_code == 200
    assert client.get("/v1/collections").status_code == 401  # nobody guesses without a key
    clock.now += 61
    assert client.get("/v1/collections", headers=bearer(guarded.fresh)).status_code == 200


def test_logins_are_limited_too(guarded: SimpleNamespace) -> None:
    statuses = [
        guarded.client.post("/login", data={"key": f"pl-{n:016x}-" + "A" * 43}).status_code
        for n in range(WRONG_KEYS_PER_MINUTE + 3)
    ]
    assert statuses == [401] * WRONG_KEYS_PER_MINUTE + [429] * 3


def test_a_key_that_is_revoked_is_no_longer_known(guarded: SimpleNamespace, pipeline: Pipeline) -> None:
    assert guarded.client.get("/v1/collections", headers=bearer(guarded.known)).status_code == 200
    KeyStore(pipeline.store).revoke("known")
    assert guarded.client.get("/v1/collections", headers=bearer(guarded.known)).status_code == 401


def behind_proxy(app: object, trusted: list[str], client: str) -> TestClient:
    return TestClient(ProxyHeadersMiddleware(app, trusted), client=(client, 1))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("address", "scheme", "secure"),
    [("10.1.2.3", "https", True), ("10.1.2.3", "http", False), ("192.0.2.9", "https", False)],
)
def test_the_cookie_is_secure_behind_a_trusted_proxy_only(
    guarded: SimpleNamespace, address: str, scheme: str, secure: bool
) -> None:
    client = behind_proxy(guarded.client.app, trusted_proxies("127.0.0.1, 10.1.0.0/16"), address)
    reply = client.post(
        "/login", data={"key": guarded.known}, headers={"X-Forwarded-Proto": scheme}, follow_redirects=False
    )
    assert reply.status_code == 303
    assert ("secure" in reply.headers["set-cookie"].lower()) is secure
    assert "httponly" in reply.headers["set-cookie"].lower()


def test_behind_a_trusted_proxy_wrong_keys_are_counted_by_the_clients_address(guarded: SimpleNamespace) -> None:
    client = behind_proxy(guarded.client.app, ["10.0.0.1"], "10.0.0.1")
    for number in range(WRONG_KEYS_PER_MINUTE + 1):
        last = client.get("/v1/collections", headers={**wrong(number), "X-Forwarded-For": "203.0.113.5"})
    assert last.status_code == 429
    other = client.get("/v1/collections", headers={**bearer(guarded.fresh), "X-Forwarded-For": "203.0.113.6"})
    assert other.status_code == 200
    spoofing = behind_proxy(guarded.client.app, ["10.0.0.1"], "198.51.100.7")
    for number in range(WRONG_KEYS_PER_MINUTE + 1):
        last = spoofing.get("/v1/collections", headers={**wrong(number), "X-Forwarded-For": f"203.0.113.{number}"})
    assert last.status_code == 429


def test_proxy_addresses() -> None:
    assert trusted_proxies(None) == []
    assert trusted_proxies("::1") == ["::1"]
    for bad in ("", "*", "example.org", "10.0.0.1/8", "10.0.0.1,,"):
        with pytest.raises(UsageError, match="--proxy-headers"):
            trusted_proxies(bad)


@pytest.mark.parametrize("name", [signal.SIGHUP, signal.SIGTERM])
def test_signals_drain(small_pipeline: Pipeline, name: signal.Signals) -> None:
    app = create_app(small_pipeline)
    server = DrainingServer(server_config(app, port=0), app, lambda: None)
    before = {one: signal.signal(one, lambda *_: None) for one in (signal.SIGHUP, signal.SIGTERM)}
    try:
        with server.capture_signals():
            signal.raise_signal(name)
            assert server.should_exit
            assert not server.force_exit
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def test_a_hangup_is_ignored_under_nohup(small_pipeline: Pipeline) -> None:
    app = create_app(small_pipeline)
    server = DrainingServer(server_config(app, port=0), app, lambda: None)
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with server.capture_signals():
            signal.raise_signal(signal.SIGHUP)
            assert not server.should_exit
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.drill
@pytest.mark.parametrize(("signals", "code"), [(("SIGHUP",), 0), (("SIGINT",) * 2, 130), (("SIGINT",) * 5, 130)])
def test_a_server_ends_without_a_traceback(
    small_home: Path, signals: tuple[str, ...], code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import os

    from tests.drill.serving import serving

    with serving({**os.environ, "PLUMBLINE_HOME": str(small_home)}, "--no-worker") as server:
        for name in signals[:-1]:
            server.process.send_signal(getattr(signal, name))
            with suppress(subprocess.TimeoutExpired):  # signals that come at once are one
                server.process.wait(0.2)
        assert server.stopped(getattr(signal, signals[-1])) == code
    assert "Traceback" not in "".join(server.lines)


def test_rates_tell_how_long_to_wait_without_taking() -> None:
    clock: Callable[[], float] = Clock()
    rates = RateLimiter(clock)
    assert [rates.wait("a", 2) for _ in range(9)] == [0.0] * 9
    rates.charge("a", 2, 2)
    assert rates.wait("a", 2) == pytest.approx(30.0)
