"""Export of scores by OTLP to a server on the loopback interface, which parses the requests."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from app.errors import AppError
from app.exporting.otlp_sending import HEADERS_VARIABLE, otlp_server, send_documents
from app.exporting.responses_export import export_responses, without_password
from evaluation.exports.otlp import otlp_documents
from evaluation.exports.responses import JudgedResponse
from evaluation.outcomes import AnswerEvaluation

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
RESPONSES = [
    JudgedResponse(
        "r", f"q{n}", "How long?", "A day.", "rag", 0, AnswerEvaluation("supported", ()), 1, contexts=("It.",)
    )
    for n in range(3)
]


@dataclass
class Receiver:
    """A server that records requests. replies: statuses of the next responses, then 200."""

    url: str = ""
    replies: list[tuple[int, dict[str, str], bytes]] = field(default_factory=list)
    requests: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    received = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            received.requests.append((self.path, headers, body))
            kind = {"content-type": "application/x-protobuf"}
            status, more, content = received.replies.pop(0) if received.replies else (200, kind, b"")
            self.send_response(status)
            for name, value in {**more, "content-length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    received.url = f"http://127.0.0.1:{server.server_port}"
    yield received
    server.shutdown()
    server.server_close()
    thread.join()


def test_spans_arrive_with_headers_and_ids(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HEADERS_VARIABLE, "authorization=Bearer%20key-1, x-project = one")
    assert export_responses("otlp", f"{receiver.url}/api/public/otel", iter(RESPONSES)) == 3
    ((path, headers, body),) = receiver.requests
    assert path == "/api/public/otel/v1/traces"
    assert headers["content-type"] == "application/x-protobuf"
    assert (headers["authorization"], headers["x-project"]) == ("Bearer key-1", "one")
    (resource,) = ExportTraceServiceRequest.FromString(body).resource_spans
    assert resource.resource.attributes[0].value.string_value == "plumbline"
    spans = resource.scope_spans[0].spans
    roots = [span for span in spans if not span.parent_span_id]
    assert [span.trace_id.hex() for span in roots] == [response.key[32:] for response in RESPONSES]
    assert all(len(span.span_id) == 8 for span in spans)
    assert {span.parent_span_id for span in spans} == {b"", *(span.span_id for span in roots)}
    event = roots[0].events[0]
    values = {item.key: item.value for item in event.attributes}
    assert event.name == "gen_ai.evaluation.result"
    assert values["gen_ai.evaluation.score.value"].double_value == 0.0
    assert values["gen_ai.evaluation.score.label"].string_value == "supported"


def test_log_records_arrive_at_their_own_endpoint(receiver: Receiver) -> None:
    traced = [JudgedResponse("", "q", "", "A.", "a", 0, RESPONSES[0].evaluation, 7, trace_id=TRACE, span_id=SPAN)]
    assert export_responses("otlp-logs", f"{receiver.url}/v1/logs", traced) == 1
    ((path, _, body),) = receiver.requests
    assert path == "/v1/logs"
    (record,) = ExportLogsServiceRequest.FromString(body).resource_logs[0].scope_logs[0].log_records
    assert (record.trace_id.hex(), record.span_id.hex(), record.time_unix_nano) == (TRACE, SPAN, 7)
    assert record.event_name == "gen_ai.evaluation.result"


def test_busy_servers_are_asked_again_as_they_say(receiver: Receiver) -> None:
    receiver.replies = [(503, {}, b""), (429, {"retry-after": "7"}, b""), (502, {}, b"")]
    waits: list[float] = []
    server = otlp_server(receiver.url, "traces")
    assert send_documents(server, otlp_documents(RESPONSES, "traces", "1"), "traces", waits.append) == 1
    assert waits == [0.5, 7.0, 2.0]
    assert len({body for _, _, body in receiver.requests}) == 1
    receiver.replies = [(503, {}, b"overloaded")] * 5
    with pytest.raises(AppError, match=r"503.*overloaded"):
        send_documents(server, otlp_documents(RESPONSES, "traces", "1"), "traces", waits.append)
    assert not receiver.replies


@pytest.mark.parametrize(
    ("status", "headers", "expected"),
    [
        (401, {}, HEADERS_VARIABLE),
        (404, {}, "no such endpoint"),
        (405, {}, "no such endpoint"),
        (415, {}, "does not read protobuf"),
        (301, {"location": "http://127.0.0.1:9/v1/traces"}, "redirects are not followed"),
        (400, {}, "bad batch"),
    ],
)
def test_refusals_say_what_to_do(receiver: Receiver, status: int, headers: dict[str, str], expected: str) -> None:
    receiver.replies = [(200, {}, b""), (status, headers, b"bad\nbatch")]
    documents = otlp_documents(RESPONSES, "traces", "1", at_once=1)
    with pytest.raises(AppError, match=rf"(?s){status} \(1 requests were accepted before\).*{expected}"):
        send_documents(otlp_server(receiver.url, "traces"), documents, "traces")
    assert len(receiver.requests) == 2


def test_a_part_that_is_rejected_is_an_error(receiver: Receiver) -> None:
    partial = ExportTracePartialSuccess(rejected_spans=2, error_message="too old")
    content = ExportTraceServiceResponse(partial_success=partial).SerializeToString()
    kinds = [
        ("application/x-protobuf", content),
        ("application/json", b'{"partialSuccess": {"rejectedSpans": "2", "errorMessage": "too old"}}'),
    ]
    for kind, reply in kinds:
        receiver.replies = [(200, {"content-type": kind}, reply)]
        with pytest.raises(AppError, match=r"rejected 2 of the traces.*too old"):
            export_responses("otlp", receiver.url, RESPONSES)
    for content in (b"\xff\xff", b"[]"):  # a reply that cannot be read: its status counts
        receiver.replies = [(200, {"content-type": "application/json" if content == b"[]" else kinds[0][0]}, content)]
        assert export_responses("otlp", receiver.url, RESPONSES) == 3


def test_urls_and_headers_are_checked(receiver: Receiver) -> None:
    with pytest.raises(AppError, match="endpoint for logs"):
        export_responses("otlp", f"{receiver.url}/v1/logs", RESPONSES)
    with pytest.raises(AppError, match="has no host name"):
        otlp_server("http://", "traces")
    with pytest.raises(AppError, match="Port"):
        otlp_server("http://host:port", "traces")
    for headers in ("authorization", "a=b%0d%0ac: d", "=x"):
        with pytest.raises(AppError, match=HEADERS_VARIABLE):
            otlp_server(receiver.url, "traces", headers)
    with pytest.raises(AppError, match="not sent to a server"):
        export_responses("parquet", receiver.url, RESPONSES)
    assert not receiver.requests
    named = receiver.url.replace("//", "//pk%40:sk@")
    export_responses("otlp", named, RESPONSES[:1])
    assert receiver.requests[0][1]["authorization"] == "Basic cGtAOnNr"
    assert without_password(named) == receiver.url
    assert without_password("file@home/spans.jsonl") == "file@home/spans.jsonl"


def test_a_server_that_is_not_there_is_named_without_its_password() -> None:
    server = otlp_server("http://user:secret@127.0.0.1:9/x", "traces")
    with pytest.raises(AppError, match=r"http://127\.0\.0\.1:9/x/v1/traces cannot be reached") as failure:
        send_documents(server, otlp_documents(RESPONSES, "traces", "1"), "traces", lambda _: None)
    assert "secret" not in str(failure.value)
