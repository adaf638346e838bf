"""A server whose model writes nothing or nonsense: the error names the model and not the documents as the cause."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from app.errors import AppError
from app.pipeline import Pipeline
from app.questions.make import MakeRequest, make_questions
from app.questions.writing import NO_QUESTION
from data.documents import Document
from evaluation.question_sets.drawing import QuestionSetSettings

TEXT = "The ferry of Torsay was built in 1931. It carries 40 cars. The harbour was founded in 1720 by Lord Calder."


@pytest.fixture(params=["", "blah blah blah"], ids=["nothing", "nonsense"])
def model(request: pytest.FixtureRequest) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            message = {"role": "assistant", "content": request.param}
            content = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"openai:http://127.0.0.1:{server.server_port}/v1#useless"
    server.shutdown()
    server.server_close()
    thread.join()


def test_the_model_is_named_as_the_reason(model: str, tmp_path: Path, make_settings: Any, small_pipeline: Any) -> None:
    with Pipeline(make_settings(tmp_path / "home")) as pipeline:
        pipeline.__dict__["encoder"] = small_pipeline.encoder
        pipeline.index("ferry", [Document("ferry.md", "The ferry", TEXT)])
        request = MakeRequest("ferry", tmp_path / "q.jsonl", QuestionSetSettings(5), model, round_trip=False)
        with pytest.raises(AppError, match=rf"the model wrote no usable question.*{NO_QUESTION}"):
            make_questions(pipeline, request, lambda *_: None)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home"]
