"""A server that hangs, resets, refuses or sends invalid replies gives a clear error after the required waits."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import pytest

from generation.decoding.params import SamplingParams
from generation.errors import GenerationError

Make = Callable[..., Any]
KEY = "sk-very-secret"


def ask(generator: Any) -> Any:
    return generator.generate(generator.prompt("What?", [], 5), SamplingParams(max_tokens=5), (0,))[0]


def stream(generator: Any) -> list[str]:
    return [p.text for p in generator.stream(generator.prompt("What?", [], 5), SamplingParams(max_tokens=5), (0,))]


def error(message: str, code: object = None) -> dict[str, Any]:
    return {"error": {"message": message, "code": code}}


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_what_may_pass_is_asked_again_with_growing_waits(
    server: Any, wire: Any, remote: Make, fake_time: Any, status: int
) -> None:
    server.script = [wire.reply(status, error("busy"))] * 3 + [wire.reply(200, wire.chat("yes"))]
    assert ask(remote(backoff_s=2.0)).text == "yes"
    assert fake_time.slept == [1.0, 2.0, 4.0]  # half of 2, 4 and 8, since the jitter is 0.5
    assert len({body["seed"] for body in server.requests}) == 1


def test_in_the_end_it_gives_up_and_says_why(server: Any, wire: Any, remote: Make, fake_time: Any) -> None:
    server.script = [wire.reply(500, "<html>Internal\n error</html>")]
    with pytest.raises(GenerationError, match=f"{server.url}.*3 times.*500.*<html>Internal error</html>"):
        ask(remote(retries=2, backoff_s=40.0, most_backoff_s=30.0))
    assert fake_time.slept == [15.0, 15.0]


def test_the_wait_a_server_asks_for_is_kept(server: Any, wire: Any, remote: Make, fake_time: Any) -> None:
    resets = {"x_ratelimit_remaining_requests": "0", "x_ratelimit_reset_requests": "1m30s"}
    server.script = [
        wire.reply(429, error("slow down"), retry_after="17"),
        wire.reply(429, error("slow down"), **resets),
        wire.reply(200, wire.chat("yes"), **(resets | {"x_ratelimit_reset_requests": "250ms"})),
        wire.reply(200, wire.chat("again")),
    ]
    generator = remote()
    assert ask(generator).text == "yes"
    assert fake_time.slept == [17.0, 90.0]
    assert ask(generator).text == "again"  # the limit is used up, so the next request waits
    assert fake_time.slept == [17.0, 90.0, 0.25]


def test_a_wait_that_is_too_long_is_not_begun(server: Any, wire: Any, remote: Make, fake_time: Any) -> None:
    server.script = [wire.reply(429, error("come back tomorrow"), retry_after="86400")]
    with pytest.raises(GenerationError, match=r"429.*come back tomorrow.*8.64e\+04 s"):
        ask(remote(total_s=60.0))
    assert fake_time.slept == []


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (
            401,
            error("Incorrect key provided: " + KEY),
            r"API key.*401.*\*\*\*",
        ),
        (403, error("no"), r"API key.*403"),
        (404, error("no such model"), r"'tiny'.*404.*no such model.*tiny, other"),
        (400, error("top_k is not known"), r"400.*top_k is not known"),
        (422, {"detail": [{"msg": "field required"}]}, r"422.*field required"),
        (429, error("no money", "insufficient_quota"), r"quota.*429.*no money"),
        (302, "", r"redirect.*302"),
        (418, "", "418"),
    ],
)
def test_what_will_not_pass_is_an_error_at_once(
    server: Any, wire: Any, remote: Make, fake_time: Any, status: int, body: object, message: str
) -> None:
    server.script = [wire.reply(status, body, location="http://192.0.2.1/")]
    generator = remote(url=server.url.replace("//", "//user:hidden@"), api_key=KEY)
    with pytest.raises(GenerationError, match=message) as caught:
        ask(generator)
    assert server.url in str(caught.value)
    for secret in (KEY, "hidden", "user"):
        assert secret not in str(caught.value)
    with pytest.raises(GenerationError, match=message):
        stream(generator)
    assert fake_time.slept == []
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


def test_a_password_in_the_url_is_sent_where_there_is_no_key(server: Any, wire: Any, remote: Make) -> None:
    server.script = [wire.reply(200, wire.chat("yes"))]
    assert ask(remote(url=server.url.replace("//", "//user:hidden@"))).text == "yes"
    assert server.headers[0]["authorization"].startswith("Basic ")


def test_without_a_key_none_is_sent(server: Any, wire: Any, remote: Make) -> None:
    server.script = [wire.reply(401, error("key needed"))]
    with pytest.raises(GenerationError, match=r"without.* API key"):
        ask(remote())
    assert "authorization" not in server.headers[0]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("{", "not JSON.*'{'"),
        ("[1]", "object"),
        ("", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ({}, "choices"),
        ({"choices": []}, "0 choices.*1"),
        ({"choices": "x"}, "choices"),
        ({"choices": [{}]}, "text.*'stop'"),
        ({"choices": [{"message": {"content": None}, "finish_reason": "length"}]}, "reasoning"),
        ({"choices": [{"message": {"content": "x"}, "finish_reason": "content_filter"}]}, "'content_filter'"),
        ({"error": {"message": "out of memory"}}, "out of memory"),
        ({"error": "plain"}, "plain"),
    ],
)
def test_nonsense_with_status_200_is_an_error(server: Any, wire: Any, remote: Make, body: object, message: str) -> None:
    server.script = [wire.reply(200, body)]
    with pytest.raises(GenerationError, match=message):
        ask(remote())


def test_a_server_that_hangs(server: Any, remote: Make, fake_time: Any) -> None:
    server.script = [lambda handler, body: server.released.wait(60) and None]
    with pytest.raises(GenerationError, match=r"2 times.*0\.05 s"):
        ask(remote(read_s=0.05, retries=1))
    assert len(fake_time.slept) == 1


def test_a_server_that_hangs_in_the_middle(server: Any, wire: Any, remote: Make) -> None:
    def half(handler: Any, _: object) -> None:
        handler.send_response(200)
        handler.send_header("content-type", "text/event-stream")
        handler.end_headers()
        handler.wfile.write(b'data: {"choices": [{"delta": {"content": "Half"}}]}\n\n')
        handler.wfile.flush()
        server.released.wait(60)
        handler.close_connection = True

    server.script = [half]
    pieces = remote(read_s=0.2, retries=3).stream(remote().prompt("What?", [], 5), SamplingParams(max_tokens=5), (0,))
    assert next(pieces).text == "Half"
    with pytest.raises(GenerationError, match=r"no data.* 0\.2 s"):
        next(pieces)
    assert len(server.requests) == 1  # text was already returned, so nothing is retried


def test_a_server_that_never_ends_is_left_in_time(server: Any, wire: Any, remote: Make, fake_time: Any) -> None:
    """Comments keep the connection open, so the time limit of the entire answer must end it."""

    def comments(handler: Any, _: object) -> None:
        handler.send_response(200)
        handler.send_header("content-type", "text/event-stream")
        handler.send_header("connection", "close")
        handler.end_headers()
        for _number in range(100):
            fake_time.seconds += 10.0
            handler.wfile.write(b": still here\n\n")
            handler.wfile.flush()
        handler.close_connection = True

    server.script = [comments]
    with pytest.raises(GenerationError, match="in time"):
        stream(remote(total_s=300.0))


@pytest.mark.parametrize("at", ["connection", "body", "stream"])
def test_a_connection_that_breaks(server: Any, wire: Any, remote: Make, at: str) -> None:
    def reset(handler: Any, _: object) -> None:
        if at == "body":
            handler.send_response(200)
            handler.send_header("content-length", "1000")
            handler.end_headers()
            handler.wfile.write(b'{"choices"')
            handler.wfile.flush()
        handler.connection.shutdown(socket.SHUT_RDWR)
        handler.close_connection = True

    if at == "stream":
        server.script = [wire.events(wire.piece("Half"), done=False, cut=True)]
        with pytest.raises(GenerationError, match="connection"):
            stream(remote())
        return
    server.script = [reset, reset, wire.reply(200, wire.chat("whole"))]
    assert ask(remote()).text == "whole"


def test_a_stream_without_an_end_is_no_answer(server: Any, wire: Any, remote: Make) -> None:
    server.script = [wire.events(wire.piece("Half"), done=False)]
    with pytest.raises(GenerationError, match="finish reason"):
        stream(remote())
    server.script = [wire.events(wire.piece("Half"), error("worker died"))]
    with pytest.raises(GenerationError, match="worker died"):
        stream(remote())
    server.script = [wire.events(wire.piece("Half"), "{nonsense")]
    with pytest.raises(GenerationError, match="not JSON"):
        stream(remote())
    server.script = [wire.events(wire.piece("Half", "content_filter"))]
    with pytest.raises(GenerationError, match="'content_filter'"):
        stream(remote())


def test_a_server_that_is_not_there(server: Any, remote: Make) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound but not listening, so that no other server uses the port
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        with pytest.raises(GenerationError, match=f"{url}.*2 times.*reached"):
            ask(remote(url=url, retries=1))


def test_one_failure_ends_all_requests_of_a_call(server: Any, wire: Any, remote: Make) -> None:
    server.script = [wire.reply(401, error("no"))]
    generator = remote(parallel=2)
    with pytest.raises(GenerationError, match="401"):
        generator.generate(generator.prompt("What?", [], 5), SamplingParams(), tuple(range(200)))
    assert len(server.requests) < 200


def test_a_reply_that_never_ends_is_cut_off(
    server: Any, wire: Any, remote: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("generation.remote.connection._MOST_BYTES", 10_000)
    server.script = [wire.reply(200, wire.chat("x" * 20_000))]
    with pytest.raises(GenerationError, match="too long"):
        ask(remote())


@pytest.mark.parametrize("status", [200, 401])
@pytest.mark.parametrize("streamed", [False, True])
def test_a_connection_opened_while_the_generator_closes_is_let_go_too(
    server: Any, wire: Any, remote: Make, monkeypatch: pytest.MonkeyPatch, status: int, streamed: bool
) -> None:
    opened: list[socket.socket] = []
    connect, generator = socket.create_connection, remote()

    def closing(*arguments: Any, **named: Any) -> socket.socket:
        opened.append(connect(*arguments, **named))
        generator.close()
        return opened[-1]

    monkeypatch.setattr(socket, "create_connection", closing)
    server.script = [wire.reply(status, wire.chat("yes") if status == 200 else error("no"))]
    try:
        (stream if streamed else ask)(generator)
    except GenerationError as failure:
        assert status == 401 or streamed, failure
    assert [held.fileno() for held in opened] == [-1]
