"""The generator that --model selects, on the command line and in the service."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from app.answers import QueryRequest
from app.cli import main
from app.errors import AppError
from app.models.generators import open_generator
from app.pipeline import Pipeline
from app.settings import Settings
from generation.decoding.params import SamplingParams
from generation.errors import UnavailableError
from generation.reader.reader import EmbeddedReader
from generation.remote.generator import OpenAIGenerator


class Answering(BaseHTTPRequestHandler):
    """A model server that quotes the first passage and cites it. It returns 401 without the right key."""

    bodies: ClassVar[list[dict[str, Any]]] = []

    def log_message(self, *_: object) -> None:
        return

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.bodies.append(body)
        if self.headers["authorization"] != "Bearer sk-right":
            self._send(401, {"error": {"message": "wrong key"}})
            return
        reply = "three years [1]" if "[1] Warranty" in body["messages"][-1]["content"] else "I do not know."
        message = {"role": "assistant", "content": reply}
        logprobs = {"content": [{"token": "three", "logprob": -0.5}]}
        choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": logprobs}
        self._send(200, {"choices": [choice], "usage": {"prompt_tokens": 50, "completion_tokens": 3}})

    def _send(self, status: int, fields: object) -> None:
        content = json.dumps(fields).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@pytest.fixture
def server() -> Iterator[str]:
    Answering.bodies.clear()
    made = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"openai:http://127.0.0.1:{made.server_address[1]}/v1#tiny"
    made.shutdown()
    thread.join()
    made.server_close()


@pytest.mark.parametrize("choice", ["nowhere", "transformers:", "transformers:nowhere", "gpt:x", "reader.json"])
def test_what_is_no_generator_is_refused_with_the_choices(choice: str) -> None:
    with pytest.raises(AppError) as caught:
        open_generator(choice)
    assert f"the model {choice!r}" in str(caught.value) and caught.value.parameter == "model"
    assert "openai:URL#MODEL" in str(caught.value)


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ("openai:", "URL#MODEL"),
        ("openai:host:8080#m", "URL#MODEL"),
        ("openai:http://me:hidden@host/v1", "http://host/v1"),
        ("openai-completions:http://me:hidden@host/v1?x=1#m", "http://host/v1"),
    ],
)
def test_a_server_that_cannot_be_meant_is_refused_without_its_password(choice: str, message: str) -> None:
    with pytest.raises(AppError, match=message) as caught:
        open_generator(choice)
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize("choice", ["", "reader", "openai:http://127.0.0.1:9/v1#m", "transformers:somewhere"])
def test_a_precision_is_a_decoders_only(choice: str) -> None:
    with pytest.raises(AppError, match="int8"):
        open_generator(choice, precision="int8")


def test_each_choice_opens_its_generator(reader_folder: Path) -> None:
    assert isinstance(open_generator(str(reader_folder)), EmbeddedReader)
    assert isinstance(open_generator("reader"), EmbeddedReader)
    with pytest.raises(AppError, match="transformers:"):
        open_generator(f"transformers:{reader_folder}")
    server = open_generator("openai-completions:http://127.0.0.1:9/v1#meta/llama#3", context_length=100)
    assert isinstance(server, OpenAIGenerator)
    assert (server.name, server.context_length) == ("meta/llama#3", 100)
    server.close()


def test_the_pipeline_asks_the_server_with_the_key_and_closes_it(
    server: str, make_settings: Callable[..., Settings], small_home: Path
) -> None:
    settings = make_settings(small_home, model=server, model_key="sk-right", model_context=2000)
    assert "sk-right" not in repr(settings)
    with Pipeline(settings) as pipeline:
        params = SamplingParams(temperature=0.8, min_p=0.1, repetition_penalty=1.1, n=2)
        result = pipeline.answer(QueryRequest("How long is the warranty?", params=params))
        assert [answer.text for answer in result.answers] == ["three years [1]"] * 2
        assert result.model == "tiny"
        shown = result.to_json()["answers"][0]
        assert (shown["mean_logprob"], shown["logprobs"]) == (-0.5, None)
        assert shown["annotations"][0]["document_id"] == "warranty"
        assert pipeline.generator.context_length == 2000
    assert [(b["min_p"], b["repetition_penalty"]) for b in Answering.bodies] == [(0.1, 1.1)] * 2
    assert Answering.bodies[0]["seed"] != Answering.bodies[1]["seed"]
    with pytest.raises(RuntimeError, match="closed"):
        pipeline.generator.generate(result_prompt(pipeline), SamplingParams(), (0,))
    with Pipeline(make_settings(small_home, model=server)) as without, pytest.raises(UnavailableError, match="401"):
        without.answer(QueryRequest("How long is the warranty?"))


def result_prompt(pipeline: Pipeline) -> Any:
    return pipeline.generator.prompt("How long?", (), 5)


def test_a_server_on_the_command_line(
    server: str,
    small_home: Path,
    home_copy: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PLUMBLINE_MODEL_KEY", "sk-right")
    home = ["--home", str(home_copy)]
    question = "How long is the warranty of the Heron 4?"
    assert main(["query", question, "--generator", server, "--min-p", "0.05", *home]) == 0
    assert capsys.readouterr().out.startswith("three years [1]\n")
    file = tmp_path / "questions.jsonl"
    file.write_text(json.dumps({"id": "q", "text": question, "references": ["three years"]}) + "\n")
    arguments = ["evaluate", str(file), "--arms", "rag", "--n", "2", "--model", server, "--report", str(tmp_path / "r")]
    assert main([*arguments, "--repetition-penalty", "1.2", *home]) == 0
    assert Answering.bodies[-1]["repetition_penalty"] == 1.2
    capsys.readouterr()
    monkeypatch.setenv("PLUMBLINE_MODEL_KEY", "sk-wrong")
    assert main(["query", question, "--model", server, *home]) == 1
    error = capsys.readouterr().err
    assert "401" in error and "wrong key" in error
    assert "sk-wrong" not in error
    assert main(["query", question, "--model", server, "--model-context", "3", *home]) == 2
    err = capsys.readouterr().err
    assert "--model-context" in err and "3" in err
    assert main(["query", question, "--min-p", "2", *home]) == 2
    err = capsys.readouterr().err
    assert "min_p" in err and "2.0" in err


def test_log_probabilities_and_their_alternatives_on_the_command_line(
    small_home: Path, home_copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["query", "How long is the warranty of the Heron 4?", "--home", str(home_copy), "--json"]
    assert main([*arguments, "--logprobs", "3"]) == 0
    (answer,) = json.loads(capsys.readouterr().out)["answers"]
    assert len(answer["logprobs"]) == answer["usage"]["completion_tokens"]
    for token in answer["logprobs"]:
        assert len(token["top"]) == 3
        assert token["top"][0]["logprob"] >= token["logprob"] - 1e-6
    assert main([*arguments, "--logprobs", "21"]) == 2
    err = capsys.readouterr().err
    assert "top_logprobs" in err and "21" in err
