"""The client reads replies of vLLM and SGLang as their documentation describes them.

The files in ``documented`` were written from that documentation (``source``), not by a server.
"""

from __future__ import annotations

import json
import queue
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.doctor.context import context
from generation.completion import Completion
from generation.decoding.params import SamplingParams
from generation.errors import ContextLengthError, UnavailableError
from generation.generator import GenerationTask
from generation.live import FinishedRequest, LiveEvent
from generation.remote.probe import ServerProbe
from retrieval.chunking.chunks import Chunk, RetrievedChunk

Make = Callable[..., Any]
PARAMS = SamplingParams(max_tokens=20, temperature=0.7, stop=("\n\nQ:",))
PASSAGE = RetrievedChunk(Chunk("d", 0, 21, "It was built in 1871.", "Skerry"), 1.0, 1)


@pytest.fixture(params=["vllm", "sglang"])
def documented(request: pytest.FixtureRequest) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads((Path(__file__).parent / "documented" / f"{request.param}.json").read_text())
    assert "not recorded" in fields["source"][0]
    return fields


def ask(generator: Any, seed: int = 7) -> Completion:
    found = generator.generate(generator.prompt("When?", (PASSAGE,), 20), PARAMS, (seed,))[0]
    assert isinstance(found, Completion)
    return found


def test_an_answer_with_reasoning_logprobs_and_usage(
    server: Any, wire: Any, remote: Make, documented: dict[str, Any]
) -> None:
    server.script = [wire.reply(200, documented["chat"])]
    answer = ask(remote())
    assert (answer.text, answer.thought) == ("In 1871 [1]", "The passage says 1871.")
    assert [citation.number for citation in answer.citations] == [1]
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (91, 10)
    content = documented["chat"]["choices"][0]["logprobs"]["content"]
    assert answer.token_logprobs == tuple(part["logprob"] for part in content)
    assert (answer.finish_reason, answer.seed, answer.logprobs_missing) == ("stop", 7, "")
    (body,) = server.requests
    assert (body["seed"], body["logprobs"], body["temperature"], body["stop"]) == (7, True, 0.7, ["\n\nQ:"])


def test_a_stream(server: Any, wire: Any, remote: Make, documented: dict[str, Any]) -> None:
    server.script = [wire.events(*documented["stream"])]
    heard: queue.SimpleQueue[LiveEvent] = queue.SimpleQueue()
    generator = remote()
    prompt = generator.prompt("When?", (PASSAGE,), 20)
    generator.begin(GenerationTask(prompt, PARAMS, (7,)), heard.put)
    while not isinstance(event := heard.get(timeout=60), FinishedRequest):
        assert not isinstance(event, Exception), event
    (answer,) = event.completions
    assert (answer.text, answer.thought) == ("In 1871 [1]", "The passage says 1871.")
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (91, 4)
    assert answer.finish_reason == "stop"
    assert server.requests[0]["stream_options"] == {"include_usage": True}


def test_a_stop_string_in_the_reasoning_leaves_no_answer(
    server: Any, wire: Any, remote: Make, documented: dict[str, Any]
) -> None:
    server.script = [wire.reply(200, documented["stopped_in_reasoning"])]
    answer = ask(remote(logprobs=False))
    assert (answer.text, answer.thought, answer.finish_reason) == ("", "First, the passage says", "stop")


def test_an_aborted_answer_is_no_answer(server: Any, wire: Any, remote: Make, documented: dict[str, Any]) -> None:
    server.script = [wire.reply(200, documented["aborted"])]
    with pytest.raises(UnavailableError, match="'abort'"):
        ask(remote(logprobs=False))


def test_a_prompt_that_is_too_long_loses_its_passage(
    server: Any, wire: Any, remote: Make, documented: dict[str, Any]
) -> None:
    for error in documented["context_errors"]:
        refusal = wire.reply(error["status"], error["body"])
        server.script = [refusal, wire.reply(200, documented["chat"])]
        answer = ask(remote())
        assert (answer.text, answer.citations) == ("In 1871 [1]", ())  # the passage was dropped
        server.script = [refusal]
        with pytest.raises(ContextLengthError, match="512"):
            ask(remote())


def test_an_unknown_model(server: Any, wire: Any, remote: Make, documented: dict[str, Any]) -> None:
    error = documented["unknown_model"]
    server.script = [wire.reply(error["status"], error["body"])]
    with pytest.raises(UnavailableError, match=r"'tny' \(404\).*serves tiny, other"):
        ask(remote(model="tny"))


def test_a_busy_server_is_asked_again(
    server: Any, wire: Any, remote: Make, fake_time: Any, documented: dict[str, Any]
) -> None:
    error = documented["busy"]
    server.script = [wire.reply(error["status"], error["body"]), wire.reply(200, documented["chat"])]
    assert ask(remote()).text == "In 1871 [1]"
    assert len(fake_time.slept) == 1


def test_refused_logprobs_are_left_out(server: Any, wire: Any, remote: Make, documented: dict[str, Any]) -> None:
    error = documented["logprobs_limit"]
    server.script = [wire.reply(error["status"], error["body"]), wire.reply(200, documented["chat"])]
    answer = ask(remote())
    assert answer.text == "In 1871 [1]"
    assert error["body"].get("message", error["body"].get("error", {}).get("message"))[:30] in answer.logprobs_missing


def test_the_doctor_reads_the_context_from_the_list_and_from_refusals(
    server: Any, wire: Any, remote: Make, documented: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    generator = remote(context_length=4096)
    probe = ServerProbe(generator.options)
    monkeypatch.setattr(probe, "models", lambda: tuple(documented["models"]["data"]))
    (finding,) = context(probe)
    assert (finding.status, finding.figures["context_length"]) == ("warn", 512)
    assert server.requests == []
    monkeypatch.setattr(probe, "models", lambda: ())
    for error in documented["context_errors"]:
        server.script = [wire.reply(error["status"], error["body"])]
        (finding,) = context(probe)
        assert finding.status == "warn"
        assert finding.figures["context_length"] in (512, None)
    probe.close()
