"""Malicious replies cost little time and memory, leak nothing into logs, and cause no crash."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import repeat
from typing import Any

import pytest

from generation.decoding.params import SamplingParams
from generation.errors import GenerationError, UnavailableError
from generation.remote.events import event_data, event_texts
from generation.remote.retries import retry_after_seconds

Make = Callable[..., Any]
KEY = "sk-very-secret"


def ask(generator: Any) -> Any:
    return generator.generate(generator.prompt("What?", [], 5), SamplingParams(max_tokens=5), (0,))[0]


def stream(generator: Any) -> str:
    pieces = generator.stream(generator.prompt("What?", [], 5), SamplingParams(max_tokens=5), (0,))
    return "".join(piece.text for piece in pieces)


def raw(status: int, body: bytes, **headers: str) -> Callable[[Any, Any], None]:
    """Return a reply of unchanged bytes, which the client need not read to the end."""

    def answer(handler: Any, _: object) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("content-length", str(len(body)))
        handler.send_header("connection", "close")
        handler.end_headers()
        handler.wfile.write(body)
        handler.close_connection = True

    return answer


def endless(handler: Any, _: object) -> None:
    """Send chunks without line ends until the client disconnects."""
    handler.send_response(200)
    handler.send_header("content-type", "text/event-stream")
    handler.send_header("connection", "close")
    handler.end_headers()
    try:
        for _number in repeat(None):
            handler.wfile.write(b"x" * 65536)
    except OSError:
        handler.close_connection = True


def test_a_stream_without_line_ends_is_left(server: Any, remote: Make) -> None:
    server.script = [endless]
    with pytest.raises(UnavailableError, match="4 MiB"):
        stream(remote())


def test_an_event_of_many_lines_is_left_too() -> None:
    with pytest.raises(UnavailableError, match="4 MiB"):
        list(event_data(repeat("data: " + "x" * 1000 + "\n", 10_000)))


def test_one_line_may_come_in_very_many_pieces() -> None:
    """Joining the line with each piece would copy 90 billion characters."""
    assert list(event_data(iter(["data: ", *["ab"] * 300_000, "\n", "\n"]))) == ["ab" * 300_000]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_events_are_the_same_however_they_are_cut(size: int) -> None:
    body = ": note\r\ndata: caf\u00e9\r\ndata:  \u65e5\u672c\r\n\r\nid: 3\ndata:x\n\n\ndata: last".encode()
    pieces = (body[i : i + size] for i in range(0, len(body), size))
    assert list(event_data(event_texts(pieces))) == ["caf\u00e9\n \u65e5\u672c", "x", "last"]


def test_the_server_does_not_choose_the_codec(server: Any, wire: Any, remote: Make) -> None:
    """Some codecs of Python decompress archives, and some take quadratic time."""
    piece = json.dumps(wire.piece("caf\u00e9", "stop"), ensure_ascii=False)
    event = f"data: {piece}\n\n".encode()
    for charset in ("zlib", "punycode", "utf-16", "no-such"):
        server.script = [raw(200, event, content_type=f"text/event-stream; charset={charset}")]
        assert stream(remote()) == "caf\u00e9"


@pytest.mark.parametrize("kind", ["whole", "refusal", "stream", "nested"])
def test_a_small_body_that_unpacks_to_a_large_one_is_cut_off(
    server: Any, remote: Make, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("generation.remote.connection._MOST_BYTES", 3 << 20)
    bomb = gzip.compress(b" " * (32 << 20))
    headers = {"content_encoding": "gzip", "content_type": "text/event-stream" if kind == "stream" else "text/plain"}
    if kind == "nested":
        bomb, headers["content_encoding"] = gzip.compress(bomb), "gzip, gzip"
    assert len(bomb) < 1 << 16
    server.script = [raw(400 if kind == "refusal" else 200, bomb, **headers)]
    expected = "400" if kind == "refusal" else "too long"
    with pytest.raises(GenerationError, match=expected):
        stream(remote()) if kind == "stream" else ask(remote())


def test_headers_without_end_are_a_broken_connection(server: Any, remote: Make) -> None:
    server.script = [raw(200, b"{}", x_large="h" * (1 << 20))]
    with pytest.raises(UnavailableError, match=r"2 times.*connection"):
        ask(remote(retries=1))


@pytest.mark.parametrize(
    ("status", "place"),
    [
        (301, "file:///etc/passwd"),
        (302, "http://127.0.0.1:9/v1"),
        (303, "//127.0.0.1:9/"),
        (307, "/v1/elsewhere"),
        (308, "javascript:1"),
        (307, "http://127.0.0.1:9/v1"),  # both statuses keep the request's body
        (308, "/v1/elsewhere"),
    ],
)
def test_no_redirect_is_followed(server: Any, wire: Any, remote: Make, status: int, place: str) -> None:
    server.script = [wire.reply(status, "", location=place)]
    with pytest.raises(UnavailableError, match=rf"redirect.*{status}"):
        ask(remote(api_key=KEY))
    assert server.paths == ["/v1/chat/completions"]


def test_a_key_that_the_server_repeats_is_not_passed_on(server: Any, wire: Any, remote: Make) -> None:
    body = {"error": {"message": f"the key {KEY} has expired"}}
    for script in (wire.reply(200, body), wire.reply(500, body), wire.events(body), wire.reply(200, f"<p>{KEY}")):
        server.script = [script]
        for way in (ask, stream):
            with pytest.raises(GenerationError) as caught:
                way(remote(api_key=KEY, retries=0))
            assert KEY not in str(caught.value)
    server.script = [wire.reply(200, wire.chat(f"your key is {KEY}"))]
    assert ask(remote(api_key=KEY)).text == "your key is ***"


def test_names_of_models_are_cut_and_write_no_control_characters(server: Any, wire: Any, remote: Make) -> None:
    server.script = [wire.reply(404, {"error": {"message": "no\x1b[2Jsuch"}})]
    server.models = ["\x1b[31mred", "long" * 100]
    with pytest.raises(UnavailableError, match=r"red, longlong") as caught:
        ask(remote())
    assert "\x1b" not in str(caught.value) and len(str(caught.value)) < 400
    server.models = ["m" * 1000] * 1000  # a megabyte, which is not read to its end
    with pytest.raises(UnavailableError, match="URL"):
        ask(remote())


def deep(levels: int) -> str:
    return '{"choices": ' + "[" * levels + "]" * levels + "}"


@pytest.mark.parametrize("status", [200, 400, 500])
@pytest.mark.parametrize("levels", [70, 900, 40_000])
def test_deep_json_is_refused_before_anything_walks_it(
    server: Any, wire: Any, remote: Make, status: int, levels: int
) -> None:
    server.script = [wire.reply(status, deep(levels))]
    for way in (ask, stream):
        with pytest.raises(GenerationError, match=r"64 deep|not JSON|refused|1 times"):
            way(remote(retries=0))


@pytest.mark.parametrize("content", [5, True, {"logprob": -1}, "text", [[]], [{"logprob": True}]])
@pytest.mark.parametrize("api", ["chat", "completions"])
def test_logprobs_of_any_type_are_none(server: Any, wire: Any, remote: Make, content: object, api: str) -> None:
    given = {"content": content} if api == "chat" else {"token_logprobs": content}
    choice = {"index": 0, "message": {"content": "yes"}, "text": "yes", "finish_reason": "stop", "logprobs": given}
    server.script = [wire.reply(200, {"choices": [choice]})]
    answer = ask(remote(api=api))
    assert (answer.text, answer.token_logprobs) == ("yes", ())
    assert "server" in answer.logprobs_missing


def test_numbers_that_no_float_or_database_holds(server: Any, wire: Any, remote: Make) -> None:
    huge = 10**4000
    usage = {"prompt_tokens": huge, "completion_tokens": 2**63}
    server.script = [wire.reply(200, wire.chat("yes", logprobs={"content": [{"logprob": -huge}]}, usage=usage))]
    answer = ask(remote())
    assert (answer.token_logprobs, answer.usage.prompt_tokens, answer.usage.completion_tokens) == ((), 0, 0)
    assert len(answer.logprobs_missing) < 100


@pytest.mark.parametrize(("sent", "counted", "kept"), [(3, 3, 3), (3, 2, 3), (3, 9, 3), (4, 2, 0), (1000, 3, 0)])
def test_more_logprobs_than_tokens_are_somebody_elses(
    server: Any, wire: Any, remote: Make, sent: int, counted: int, kept: int
) -> None:
    """One more may belong to the end token. Fewer may be those of the answer without its reasoning."""
    usage = {"prompt_tokens": 5, "completion_tokens": counted}
    server.script = [wire.reply(200, wire.chat("yes", logprobs={"content": [{"logprob": -1.0}] * sent}, usage=usage))]
    answer = ask(remote())
    assert len(answer.token_logprobs) == kept
    assert answer.logprobs_missing == ("" if kept else f"the server sent {sent} for {counted} tokens")


def test_halves_of_surrogate_pairs_do_not_get_into_a_text(server: Any, wire: Any, remote: Make) -> None:
    server.script = [wire.reply(200, wire.chat("a\ud800b \U0001f600"))]
    assert ask(remote()).text == "a\ufffdb \U0001f600"
    server.script = [wire.events(json.dumps(wire.piece("a\udfff")), wire.piece(None, "stop"))]
    assert stream(remote()) == "a\ufffd"


NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    "headers",
    [
        {"retry-after": "Sun, 01 Mar 99999999999999999999 12:00:00 GMT"},
        {"retry-after": "Sun, 01 Mar 2026 12:00:00 " + "+9" * 50_000},
        {"retry-after": "9" * 100_000},
        {"retry-after-ms": "1e999999"},
        {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1" * 100_000},
        {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1." * 50_000 + "h"},
    ],
)
def test_waits_of_nonsense_are_none_or_finite(headers: dict[str, str]) -> None:
    found = retry_after_seconds(headers, NOW)
    assert found is None or found < 1e101


def test_a_reader_of_an_endless_iterator_stops_with_its_caller() -> None:
    """A cancelled stream reads no further piece."""
    taken: list[int] = []

    def pieces() -> Iterator[str]:
        for number in range(10**9):
            taken.append(number)
            yield f"data: {number}\n\n"

    events = event_data(pieces())
    assert [next(events), next(events)] == ["0", "1"]
    assert len(taken) == 2
