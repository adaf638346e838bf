"""Valid replies of a loopback server: chat, completions, n, seeds, log-probabilities, streams, token budgets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from generation.completion import TextDelta
from generation.decoding.params import SamplingParams
from generation.errors import GenerationError
from generation.generator import BatchGenerator, GenerationTask
from retrieval.chunking.chunks import Chunk, RetrievedChunk

Make = Callable[..., Any]


def passage(text: str, rank: int = 1) -> RetrievedChunk:
    return RetrievedChunk(Chunk(f"d{rank}", 0, len(text), text, "Skerry"), 1.0 / rank, rank)


def test_a_chat_answer_with_its_logprobs_and_citations(server: Any, wire: Any, remote: Make) -> None:
    content = [{"token": "In", "logprob": -0.25}, {"token": " 1871", "logprob": 1e-9}]
    usage = {"prompt_tokens": 91, "completion_tokens": 2}
    server.script = [wire.reply(200, wire.chat(" In 1871 [1] [2]\n", logprobs={"content": content}, usage=usage))]
    generator = remote()
    prompt = generator.prompt("When?", [passage("It was built in 1871.")], 20)
    params = SamplingParams(temperature=0.7, top_k=40, top_p=0.9, min_p=0.1, max_tokens=20, stop=("\n\n",))
    (answer,) = generator.generate(prompt, params, (2**31 + 5,))
    assert (answer.text, answer.finish_reason, answer.seed) == ("In 1871 [1] [2]", "stop", 2**31 + 5)
    assert (answer.token_logprobs, answer.logprobs_missing) == ((-0.25, 0.0), "")
    assert [c.number for c in answer.citations] == [1]
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (91, 2)
    (body,) = server.requests
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert body["messages"][1]["content"].endswith("[1] Skerry: It was built in 1871.\n\nQuestion: When?")
    assert {k: v for k, v in body.items() if k != "messages"} == {
        "model": "tiny",
        "max_tokens": 20,
        "temperature": 0.7,
        "seed": 5,
        "top_p": 0.9,
        "top_k": 40,
        "min_p": 0.1,
        "stop": ["\n\n"],
        "logprobs": True,
        "top_logprobs": 1,
    }
    assert server.paths == ["/v1/chat/completions"]


def test_plain_completions(server: Any, wire: Any, remote: Make) -> None:
    choice = {"index": 0, "text": "Ole", "finish_reason": "length", "logprobs": {"token_logprobs": [-1.5]}}
    server.script = [wire.reply(200, {"choices": [choice]})]
    generator = remote(api="completions", length_field="max_completion_tokens")
    (answer,) = generator.generate(generator.prompt("Who?", [], 5), SamplingParams(max_tokens=5), (1,))
    assert (answer.text, answer.finish_reason, answer.token_logprobs) == ("Ole", "length", (-1.5,))
    assert answer.usage.completion_tokens == 1  # counted by log-probabilities, since there is no usage
    assert server.requests[0]["max_completion_tokens"] == 5
    assert server.requests[0]["prompt"].startswith("Answer the question in a few words.")
    assert server.paths == ["/v1/completions"]


@pytest.mark.parametrize(
    ("logprobs", "reason"),
    [
        (None, "the server sent none"),
        ({"content": None}, "the server sent none"),
        ({"content": [{"logprob": -1.0}, {"logprob": float("nan")}]}, "the server sent nan for token 1"),
        ({"content": [{"logprob": None}]}, "the server sent None for token 0"),
        ({"content": [{"logprob": "-1"}]}, "the server sent '-1' for token 0"),
        ({"content": [{"logprob": float("-inf")}]}, "the server sent -inf for token 0"),
        ({"content": [{"logprob": 3.0}]}, "the server sent 3.0 for token 0, which is not a log-probability"),
        ({"content": [7]}, "the server sent None for token 0"),
        ("yes", "the server sent none"),
    ],
)
def test_logprobs_that_are_missing_or_wrong_are_none_with_a_reason(
    server: Any, wire: Any, remote: Make, logprobs: object, reason: str
) -> None:
    server.script = [wire.reply(200, wire.chat("yes", logprobs=logprobs))]
    generator = remote()
    (answer,) = generator.generate(generator.prompt("Is it?", [], 5), SamplingParams(), (0,))
    assert (answer.text, answer.token_logprobs, answer.logprobs_missing) == ("yes", (), reason)


def test_a_request_for_every_seed_and_their_order_is_kept(server: Any, wire: Any, remote: Make) -> None:
    server.script = [lambda handler, body: wire.reply(200, wire.chat(f"seed {body['seed']}"))(handler, body)]
    generator = remote(logprobs=False)
    prompts = [generator.prompt(question, [], 5) for question in ("One?", "Two?")]
    tasks = [GenerationTask(prompt, SamplingParams(temperature=1.0), (7, 8, 9)) for prompt in prompts]
    assert isinstance(generator, BatchGenerator)
    many = generator.generate_many(tasks)
    assert [[c.text for c in completions] for completions in many] == [["seed 7", "seed 8", "seed 9"]] * 2
    assert len(server.requests) == 6
    assert not any("logprobs" in body or "n" in body for body in server.requests)
    assert many[0][0].logprobs_missing == "not asked for"
    assert generator.generate(prompts[0], SamplingParams(), ()) == ()


def test_n_samples_in_one_request(server: Any, wire: Any, remote: Make) -> None:
    choices = [{"index": i, "message": {"content": f"number {i}"}, "finish_reason": "stop"} for i in (2, 0, 1)]
    server.script = [wire.reply(200, {"choices": choices, "usage": {"prompt_tokens": 9, "completion_tokens": 12}})]
    generator = remote(one_request=True)
    found = generator.generate(generator.prompt("Which?", [], 5), SamplingParams(), (4, 5, 6))
    assert [(c.text, c.seed) for c in found] == [("number 0", 4), ("number 1", 5), ("number 2", 6)]
    assert (server.requests[0]["n"], server.requests[0]["seed"]) == (3, 4)
    assert found[0].usage.completion_tokens == 0  # twelve for all three samples, so the count of one is unknown
    with pytest.raises(GenerationError, match=r"3 choices.*2"):
        generator.generate(generator.prompt("Which?", [], 5), SamplingParams(), (4, 5))


def test_a_stream(server: Any, wire: Any, remote: Make) -> None:
    parts = [wire.piece(t) for t in (" ", "\nCafé\u2028", " is", " open", " EN", "D of it")]
    server.script = [wire.events({"choices": [{"delta": {"role": "assistant"}}]}, *parts, wire.piece(None, "stop"))]
    generator = remote()
    prompt = generator.prompt("Is it?", [], 5)
    pieces = list(generator.stream(prompt, SamplingParams(stop=("END",)), (3, 4)))
    assert all(isinstance(piece, TextDelta) and piece.text for piece in pieces)
    for sample in (0, 1):
        assert "".join(p.text for p in pieces if p.sample == sample) == "Café\u2028 is open"
    assert [body["stream"] for body in server.requests] == [True, True]
    assert [body["seed"] for body in server.requests] == [3, 4]


def test_a_server_that_does_not_stream_gives_one_piece(server: Any, wire: Any, remote: Make) -> None:
    server.script = [wire.reply(200, wire.chat("All of it. "), content_type="application/json")]
    generator = remote()
    (piece,) = generator.stream(generator.prompt("What?", [], 5), SamplingParams(), (0,))
    assert piece == TextDelta("All of it.", 0)


def test_a_stream_that_is_closed_lets_the_server_go(server: Any, wire: Any, remote: Make) -> None:
    server.script = [wire.events(*[wire.piece(f"word{i} ") for i in range(50)], wire.piece(None, "stop"))]
    generator = remote()
    stream = generator.stream(generator.prompt("What?", [], 5), SamplingParams(), (0,))
    assert next(stream).text == "word0"
    stream.close()
    assert len(list(generator.stream(generator.prompt("What?", [], 5), SamplingParams(), (0,)))) == 50


def test_the_budget_is_estimated_on_the_safe_side(remote: Make) -> None:
    generator = remote(context_length=500, bytes_per_token=2.0)
    chunks = [passage("The lighthouse stands 34 metres above the sea. " * 3, rank) for rank in range(1, 20)]
    prompt = generator.prompt("How high?", chunks, 50)
    assert 0 < len(prompt.chunks) < 5
    assert [c.retrieved for c in prompt.chunks] + list(prompt.omitted) == chunks
    with pytest.raises(GenerationError, match=r"500.*400"):
        generator.prompt("How high? " * 30, chunks, 400)
    with pytest.raises(GenerationError, match="empty"):
        generator.prompt(" ", chunks, 5)


@pytest.mark.parametrize(
    "expected",
    [
        {"error": {"message": "This model's maximum context length is 512 tokens.", "code": 400}},
        {"error": {"message": "too long", "code": "context_length_exceeded"}},
        {"error": {"type": "exceed_context_size_error", "message": "the request exceeds the available context size"}},
        {"object": "error", "message": "The input (700 tokens) is longer than the model's context length"},
    ],
)
def test_chunks_are_dropped_while_the_server_finds_the_prompt_too_long(
    server: Any, wire: Any, remote: Make, expected: object
) -> None:
    too_long = wire.reply(400, expected)
    server.script = [too_long, too_long, wire.reply(200, wire.chat("34 metres [1] [2]"))]
    generator = remote()
    prompt = generator.prompt("How high?", [passage(f"Passage number {i}.", i) for i in (1, 2, 3)], 5)
    (answer,) = generator.generate(prompt, SamplingParams(), (0,))
    shown = [body["messages"][1]["content"].count("Passage number") for body in server.requests]
    assert shown == [3, 2, 1]
    assert [c.number for c in answer.citations] == [1]  # the second passage was dropped
    server.script = [too_long]
    with pytest.raises(GenerationError, match=r"too long.*400"):
        generator.generate(prompt, SamplingParams(), (0,))
    server.script = [too_long, wire.events(wire.piece("high"), wire.piece(None, "stop"))]
    assert [p.text for p in generator.stream(prompt, SamplingParams(), (0,))] == ["high"]


def test_the_fingerprint_is_of_url_model_and_what_the_server_says(server: Any, wire: Any, remote: Make) -> None:
    server.script = [wire.reply(200, wire.chat(None, "length", system_fingerprint="fp_1"))]
    first, other = remote(), remote(model="other")
    assert len({first.fingerprint, other.fingerprint, remote(api="completions").fingerprint}) == 3
    assert remote(url=server.url.replace("http://", "http://me:secret@") + "/").fingerprint == first.fingerprint
    asked = len(server.requests)
    assert first.fingerprint == first.fingerprint
    assert len(server.requests) == asked  # fetched once
    server.script = [wire.reply(200, wire.chat("x", system_fingerprint="fp_2"))]
    assert remote().fingerprint != first.fingerprint
    assert (first.name, first.context_length) == ("tiny", 4096)


def test_text_that_no_json_can_carry(server: Any, wire: Any, remote: Make) -> None:
    server.script = [wire.reply(200, wire.chat("ok"))]
    generator = remote()
    generator.generate(generator.prompt("日本\udfff?", [passage("\ud800 \x00 İß")], 5), SamplingParams(), (0,))
    assert "日本\ufffd?" in server.requests[0]["messages"][1]["content"]
