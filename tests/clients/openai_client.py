"""Test a running server with the official openai package: tests/clients/openai_client.py http://127.0.0.1:8000/v1

It prints each test and exits with 1 at the first failure. --model: a collection with documents. --question: a question
that they answer. --key: API key if the server needs one; a wrong key is then tested too.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
import urllib.request
from collections.abc import Callable
from typing import Any

import openai
from openai import AsyncOpenAI, OpenAI

AT_ONCE = 100


def main() -> int:
    """Run all tests in order and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url", help="of the API, with /v1 at its end")
    parser.add_argument("--model", default="", help="default: the first that the server lists")
    parser.add_argument("--question", default="How long is the warranty?")
    parser.add_argument("--key", default="")
    arguments = parser.parse_args()
    # Retries would hide a rejection.
    client = OpenAI(base_url=arguments.url, api_key=arguments.key or "none", max_retries=0, timeout=300)
    model = arguments.model or client.models.list().data[0].id
    asked: dict[str, Any] = {"model": model, "messages": [{"role": "user", "content": arguments.question}]}
    checks: list[Callable[[], str]] = [
        lambda: models(client, model),
        lambda: chat(client, asked),
        lambda: samples(client, asked),
        lambda: logprobs(client, asked),
        lambda: stream(client, asked),
        lambda: conversation(client, asked),
        lambda: cancelled(client, asked, arguments.url),
        lambda: bad_parameters(client, asked),
        lambda: asyncio.run(many(arguments.url, arguments.key, asked)),
    ]
    if arguments.key:
        checks.append(lambda: wrong_key(arguments.url, asked))
    for check in checks:
        try:
            print("ok  ", check(), flush=True)
        except AssertionError as error:
            print("FAIL", error, flush=True)
            return 1
    return 0


def models(client: OpenAI, model: str) -> str:
    """Test the list of models, and one model."""
    listed = [entry.id for entry in client.models.list()]
    assert model in listed, f"{model} is not among {listed}"
    assert client.models.retrieve(model).owned_by == "plumbline"
    must_raise(openai.NotFoundError, lambda: client.models.retrieve("no-such-model"))
    return f"models: {', '.join(listed)}"


def chat(client: OpenAI, asked: dict[str, Any]) -> str:
    """Test a completion with citations and sources."""
    reply = client.chat.completions.create(**asked, seed=1)
    (choice,) = reply.choices
    text = choice.message.content or ""
    assert text, "the answer is empty"
    assert choice.finish_reason in ("stop", "length"), choice.finish_reason
    assert reply.usage is not None
    assert reply.usage.total_tokens == reply.usage.prompt_tokens + reply.usage.completion_tokens
    assert reply.model_extra is not None
    assert reply.model_extra["sources"], "no sources came with the answer"
    for annotation in choice.message.annotations or []:
        place = annotation.url_citation
        marked = text[place.start_index : place.end_index]
        assert marked.startswith("["), f"the citation stands at {marked!r}"
        assert place.url.startswith("plumbline:")
    again = client.chat.completions.create(**asked, seed=1)
    assert again.choices[0].message.content == text, "the same seed gave another answer"
    return f"chat: {text!r}, {len(reply.model_extra['sources'])} sources"


def samples(client: OpenAI, asked: dict[str, Any]) -> str:
    """Test n, temperature, top_p, stop, max_tokens and Plumbline's own fields."""
    reply = client.chat.completions.create(
        **asked,
        n=3,
        seed=7,
        temperature=1.0,
        top_p=0.9,
        max_tokens=12,
        stop=["\n\n"],
        extra_body={"k": 2, "verify": True},
    )
    assert [choice.index for choice in reply.choices] == [0, 1, 2]
    assert reply.model_extra is not None
    judged = reply.model_extra["plumbline"]["judged"]
    assert len(judged) == 3, "verify gave no verdicts"
    assert len(reply.model_extra["sources"]) <= 2
    return f"samples: outcomes {[one['outcome'] for one in judged]}"


def logprobs(client: OpenAI, asked: dict[str, Any]) -> str:
    """Test tokens with log-probabilities."""
    reply = client.chat.completions.create(**asked, logprobs=True, top_logprobs=2, seed=1)
    found = reply.choices[0].logprobs
    assert found is not None
    assert found.content is not None
    for token in found.content:
        assert token.logprob <= 0, token
        assert len(token.top_logprobs) == 2, token
    return f"logprobs: {len(found.content)} tokens"


def stream(client: OpenAI, asked: dict[str, Any]) -> str:
    """Test that streamed chunks join to the answer and end with the usage."""
    full = client.chat.completions.create(**asked, seed=1).choices[0].message.content
    text, usage, finish, sources = "", None, None, None
    for chunk in client.chat.completions.create(**asked, seed=1, stream=True, stream_options={"include_usage": True}):
        usage = chunk.usage or usage
        sources = sources or (chunk.model_extra or {}).get("sources")
        for choice in chunk.choices:
            text += choice.delta.content or ""
            finish = choice.finish_reason or finish
    assert text == full, f"streamed {text!r}, whole {full!r}"
    assert usage is not None, "no usage came"
    assert finish in ("stop", "length"), finish
    assert sources, "no sources came with the stream"
    return f"stream: {text!r}, {usage.total_tokens} tokens"


def conversation(client: OpenAI, asked: dict[str, Any]) -> str:
    """Test a system message, and a question that depends on the previous one."""
    first = asked["messages"][0]
    answer = client.chat.completions.create(**asked).choices[0].message
    messages = [
        {"role": "system", "content": "Answer in few words."},
        first,
        answer.model_dump(),
        {"role": "user", "content": "Why is that?"},
    ]
    reply = client.chat.completions.create(**{**asked, "messages": messages})
    assert reply.model_extra is not None
    alone = reply.model_extra["plumbline"]["question"]
    assert alone != "Why is that?", "the follow-up was not made to stand alone"
    return f"conversation: read as {alone!r}"


def cancelled(client: OpenAI, asked: dict[str, Any], url: str) -> str:
    """Test that a stream that the client closes frees its slot."""
    with client.chat.completions.create(**asked, stream=True, n=8, temperature=1.0) as streamed:
        next(iter(streamed))
    begun = time.monotonic()
    while active(url, client.api_key):
        assert time.monotonic() - begun < 60, "a query that nobody reads is still worked on after a minute"
    return f"cancelled in mid-stream: its place was free after {time.monotonic() - begun:.2f} s"


def active(url: str, key: str) -> int:
    """Return the number of active queries that the server reports."""
    request = urllib.request.Request(url.removesuffix("/v1") + "/metrics", headers={"Authorization": f"Bearer {key}"})
    with urllib.request.urlopen(request, timeout=60) as response:
        lines = response.read().decode().splitlines()
    return int(float(next(line.split()[1] for line in lines if line.startswith("plumbline_requests_active "))))


def bad_parameters(client: OpenAI, asked: dict[str, Any]) -> str:
    """Test that unsupported parameters are rejected by name."""
    wrong: list[tuple[str, dict[str, Any]]] = [
        ("temperature", {"temperature": 9}),
        ("top_p", {"top_p": -1}),
        ("n", {"n": 0}),
        ("tools", {"tools": [{"type": "function", "function": {"name": "f"}}]}),
        ("response_format", {"response_format": {"type": "json_object"}}),
        ("presence_penalty", {"presence_penalty": 1.0}),
        ("nonsense", {"extra_body": {"nonsense": 1}}),
        ("messages", {"messages": []}),
    ]
    for name, fields in wrong:
        error = must_raise(openai.BadRequestError, lambda f=fields: client.chat.completions.create(**{**asked, **f}))
        assert error.param == name, f"{name}: the server named {error.param}"
    unknown = must_raise(
        openai.NotFoundError, lambda: client.chat.completions.create(**{**asked, "model": "no-such-model"})
    )
    assert unknown.code == "model_not_found", unknown.code
    return f"bad parameters: {len(wrong)} refused by name"


async def many(url: str, key: str, asked: dict[str, Any]) -> str:
    """Test that many concurrent requests, half of them streamed, get the same answers as single ones."""
    async with AsyncOpenAI(base_url=url, api_key=key or "none", timeout=600) as client:

        async def one(seed: int) -> str:
            if seed % 2:
                reply = await client.chat.completions.create(**asked, seed=seed, temperature=1.0, max_tokens=8)
                return reply.choices[0].message.content or ""
            text = ""
            async for chunk in await client.chat.completions.create(
                **asked, seed=seed, temperature=1.0, max_tokens=8, stream=True
            ):
                text += "".join(choice.delta.content or "" for choice in chunk.choices)
            return text

        alone = [await one(seed) for seed in (0, 1)]
        begun = time.monotonic()
        texts = await asyncio.gather(*(one(seed) for seed in range(AT_ONCE)))
        passed = time.monotonic() - begun
    assert all(texts), "an answer is empty"
    assert texts[:2] == alone, f"at once {texts[:2]}, alone {alone}"
    return f"{AT_ONCE} at once: {len(set(texts))} different answers in {passed:.1f} s"


def wrong_key(url: str, asked: dict[str, Any]) -> str:
    """Test an invalid key."""
    stranger = OpenAI(base_url=url, api_key="pl-wrong", max_retries=0)
    error = must_raise(openai.AuthenticationError, lambda: stranger.chat.completions.create(**asked))
    return f"wrong key: {json.dumps(error.body)}"


def must_raise(kind: type[openai.APIStatusError], call: Callable[[], object]) -> Any:
    """Return the error that the call must raise."""
    try:
        call()
    except kind as error:
        return error
    except openai.APIError as error:
        raise AssertionError(f"expected {kind.__name__}, got {type(error).__name__}: {error}") from error
    raise AssertionError(f"expected {kind.__name__}, and it went through")


if __name__ == "__main__":
    sys.exit(main())
