"""A real llama.cpp server: what the doctor says of it, evaluations that agree, streams, and a server that is killed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

import plumbline
from app.doctor.server_checks import server_findings
from app.pipeline import Pipeline
from app.service.application import create_app
from app.settings import Settings
from evaluation.runs.experiment import Progress
from evaluation.runs.records import SampleRecord
from evaluation.runs.run_store import RunStore
from generation.decoding.params import SamplingParams
from generation.errors import UnavailableError
from generation.generator import GenerationTask
from generation.live import FinishedRequest
from generation.remote.generator import OpenAIGenerator
from generation.remote.options import RemoteOptions
from tests.scale.llamacpp import MODEL, LlamaServer, llama_server

pytestmark = pytest.mark.scale

NOTES = {
    "ferry.txt": "The ferry to Dunmarrow leaves at nine and takes forty minutes.",
    "museum.txt": "The museum of clocks in Dunmarrow is closed on Mondays. A ticket costs six crowns.",
}
QUESTIONS = [
    plumbline.Question("q1", "How long does the ferry to Dunmarrow take?", ("forty minutes",), ("ferry.txt",)),
    plumbline.Question("q2", "When does the ferry to Dunmarrow leave?", ("at nine",), ("ferry.txt",)),
    plumbline.Question("q3", "On which day is the museum closed?", ("Monday",), ("museum.txt",)),
    plumbline.Question("q4", "What does a ticket for the museum cost?", ("six crowns",), ("museum.txt",)),
]
ARMS = ("closed_book", "rag")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LlamaServer]:
    log = tmp_path_factory.mktemp("llama") / "log"
    with llama_server(log, "--interrupt_requests", "False") as started:
        yield started


def opened(home: Path, server: LlamaServer, **fields: Any) -> Pipeline:
    """A pipeline whose model is on the server. home: with the notes, which are indexed on first use."""
    values = {"encoder": "", "device": "cpu", "model_context": 1024, "database": "", **fields}
    pipeline = plumbline.open(Settings(home=home, model=server.model, **values))
    if not (home / "plumbline.db").exists():
        notes = home.parent / "notes"
        notes.mkdir(exist_ok=True)
        for name, text in NOTES.items():
            (notes / name).write_text(text)
        plumbline.index(pipeline, [notes], collection="notes")
    return pipeline


def evaluated(pipeline: Pipeline, **options: Any) -> tuple[str, list[SampleRecord]]:
    fields: dict[str, Any] = {"samples": 2, "decoding": plumbline.Decoding(temperature=0.7, max_tokens=16), **options}
    run = plumbline.evaluate(pipeline, QUESTIONS, collection="notes", arms=ARMS, **fields)
    return run.id, list(RunStore(pipeline.store).load_samples(run.id))


def texts(records: list[SampleRecord]) -> dict[tuple[str, str, int], str]:
    return {
        (r.question_id, r.arm, r.sample): "unscored" if r.completion is None else r.completion.text for r in records
    }


def test_the_doctor_on_llama_cpp(tmp_path: Path) -> None:
    with llama_server(tmp_path / "log") as server, opened(tmp_path / "home", server) as pipeline:
        found = {finding.check: finding for finding in server_findings(pipeline)}
    assert [name for name, finding in found.items() if finding.status == "fail"] == []
    assert found["server speed"].figures["tokens"] == 32
    assert found["server seeds"].figures["other_seed_differs"] is True
    assert found["server n"].figures["n_honoured"] is False
    assert found["server logprobs"].figures["values"] == 32
    assert found["server context"].figures["context_length"] == 1024
    assert found["server prefix cache"].status == "ok"
    assert found["server streaming"].figures["ended"] is True
    # Its default: a stream ends when another request comes.
    assert int(found["server streams together"].figures["broken_off"] or 0) > 0
    assert found["server cancellation"].status == "ok"


def test_two_evaluations_on_fresh_servers_agree(tmp_path: Path) -> None:
    """In the same order from the same state: its prefix cache changes rounding, so concurrency would not agree."""
    found = []
    for place in range(2):
        with (
            llama_server(tmp_path / "log") as server,
            opened(tmp_path / f"home{place}", server, model_parallel=1) as pipeline,
        ):
            records = evaluated(pipeline)[1]
            assert all(r.completion is not None and len(r.completion.token_logprobs) > 0 for r in records)
            found.append(texts(records))
    assert found[0] == found[1]
    assert len(found[0]) == 16
    assert len(set(found[0].values())) > 8  # seeds and questions make a difference


def test_many_samples_at_once(server: LlamaServer, tmp_path: Path) -> None:
    with opened(tmp_path / "home", server) as pipeline:
        run, records = evaluated(pipeline, samples=4)
        assert len(records) == 32
        assert not any(r.failure for r in records)
        assert evaluated(pipeline, samples=4)[0] == run


def test_streams_at_once_and_a_client_that_leaves(server: LlamaServer, tmp_path: Path) -> None:
    with opened(tmp_path / "home", server) as pipeline:
        generator = pipeline.generator
        assert isinstance(generator, OpenAIGenerator)
        params = SamplingParams(max_tokens=24, temperature=1.0)
        ended: list[FinishedRequest | Exception] = []
        heard = [threading.Event() for _ in range(4)]
        begun: list[Any] = []

        def listener(place: int) -> Any:
            def hear(event: Any) -> None:
                if isinstance(event, FinishedRequest | Exception):
                    ended.append(event)
                    heard[place].set()
                elif place == 3:
                    begun[3].cancel()  # leaves at its first word

            return hear

        for place in range(4):
            prompt = generator.prompt(f"Tell a story about the number {place}.", (), 24)
            begun.append(generator.begin(GenerationTask(prompt, params, (place,)), listener(place)))
        assert all(event.wait(300) for event in heard)
        drawn = [event for event in ended if isinstance(event, FinishedRequest)]
        assert len(drawn) == 4, ended
        reasons = sorted(event.completions[0].finish_reason for event in drawn)
        assert reasons == ["cancelled", "length", "length", "length"]


def test_openai_s_chat_through_serve(server: LlamaServer, tmp_path: Path) -> None:
    with opened(tmp_path / "home", server) as pipeline, TestClient(create_app(pipeline)) as client:
        body = {"model": "notes", "messages": [{"role": "user", "content": QUESTIONS[0].text}], "stream": True}
        reply = client.post("/v1/chat/completions", json=body)
        assert reply.status_code == 200
        assert reply.text.rstrip().endswith("data: [DONE]")
        assert '"error"' not in reply.text


@pytest.mark.parametrize("again", [True, False])
def test_a_server_that_is_killed_in_the_middle(tmp_path: Path, again: bool) -> None:
    """again: it is started at once, so that lost requests are retried; otherwise the run ends, and resumes later."""
    with (
        llama_server(tmp_path / "log") as server,
        opened(tmp_path / "home", server, model_parallel=2) as pipeline,
    ):
        killed: list[int] = []

        def kill(progress: Progress) -> None:
            if progress.done >= 4 and not killed:
                killed.append(progress.done)
                server.kill()
                if again:
                    server.start(wait=False)

        if again:
            records = evaluated(pipeline, progress=kill)[1]
            assert killed
            for record in records:
                assert record.completion is not None or server.url in record.evaluation.reason
            lost = sum(record.completion is None for record in records)
            assert lost <= 8, [record.evaluation.reason for record in records]
            return
        impatient = RemoteOptions(server.url, MODEL, context_length=1024, parallel=2, retries=1, backoff_s=0.05)
        with (
            _client(pipeline, impatient),
            pytest.raises(plumbline.PlumblineError, match=r"cells in a row.*http://127\.0\.0\.1"),
        ):
            evaluated(pipeline, progress=kill)
        server.start()
        with _client(pipeline, impatient):
            records = evaluated(pipeline)[1]
        assert len(records) == 16
        assert not any(record.failure for record in records)
        assert len({(r.question_id, r.arm, r.sample) for r in records}) == 16


@contextmanager
def _client(pipeline: Pipeline, options: RemoteOptions) -> Iterator[None]:
    """Give the pipeline a client of these options; the fingerprint is the same."""
    with closing(OpenAIGenerator(options)) as generator:
        pipeline.__dict__["generator"] = generator
        yield


def test_a_model_context_larger_than_the_server_s(server: LlamaServer) -> None:
    """The server sends an empty stream, and says why only when it does not stream."""
    generator = OpenAIGenerator(RemoteOptions(server.url, MODEL, context_length=4096, retries=1))
    prompt = generator.prompt("word " * 1200, (), 16)
    done = threading.Event()
    heard: list[Any] = []

    def hear(event: Any) -> None:
        heard.append(event)
        done.set()

    generator.begin(GenerationTask(prompt, SamplingParams(max_tokens=16), (0,)), hear)
    assert done.wait(300)
    assert "1024 tokens" in str(heard[0])
    generator.close()


def test_a_wrong_address_and_a_server_of_another_kind(server: LlamaServer) -> None:
    for url, message in ((server.url.removesuffix("/v1"), "does the URL end"), ("http://127.0.0.1:9/v1", "reached")):
        generator = OpenAIGenerator(RemoteOptions(url, MODEL, retries=0))
        with pytest.raises(UnavailableError, match=message):
            generator.generate(generator.prompt("Is it?", (), 5), SamplingParams(max_tokens=2), (0,))
        generator.close()
