"""Single requests to a server, to measure the server itself."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

from generation.causal.prompt_template import PromptTurns
from generation.decoding.params import SamplingParams
from generation.remote.bodies import request_body
from generation.remote.cancellation import RequestCancellation
from generation.remote.connection import Connection
from generation.remote.options import RemoteOptions
from generation.remote.replies import Reply, delta_of, read_reply, usage_of


@dataclass(frozen=True, slots=True)
class ProbeReply:
    """A reply of a server.

    reply: the parsed reply. top: log-probability of the likeliest first token; None if not sent. cached_tokens: number
    of prompt tokens from the server's cache; None if not sent. seconds: duration of the request.
    """

    reply: Reply
    top: float | None
    cached_tokens: int | None
    seconds: float

    @property
    def text(self) -> str:
        """The reasoning and the text of the first choice, separated by a null character."""
        choice = self.reply.choices[0]
        return f"{choice.thought}\0{choice.text}"


@dataclass(frozen=True, slots=True)
class ProbeStream:
    """A streamed answer of a server.

    pieces: number of events with text or reasoning. first: seconds until the first of them; None if there is none.
    seconds: duration of the request. ended: whether a finish reason arrived. usage: whether token counts arrived.
    closed: whether this side closed the connection.
    """

    text: str
    thought: str
    pieces: int
    first: float | None
    seconds: float
    ended: bool
    usage: bool
    closed: bool = False


class ServerProbe:
    """A client that sends requests to one server without retries. Call ``close`` when done."""

    def __init__(self, options: RemoteOptions) -> None:
        self.options = replace(options, retries=0)
        self._where = f"the server at {options.shown_url}"
        self._connection = Connection(self.options)

    def close(self) -> None:
        """Close the connections."""
        self._connection.close()

    def models(self) -> tuple[dict[str, Any], ...]:
        """Return the entries of the server's list of models; empty if there is none or an error occurs."""
        try:
            return self._connection.listed_models()
        except Exception:  # of the HTTP client, of many types: there is no list
            return ()

    def ask(
        self,
        question: str,
        params: SamplingParams,
        *,
        seed: int = 0,
        n: int = 1,
        logprobs: bool = False,
        model: str | None = None,
    ) -> ProbeReply:
        """Request n choices at once.

        model: model to request instead of that of the options. Raises the errors of Connection.post.
        """
        options = self.options if model is None else replace(self.options, model=model)
        body = request_body(options, PromptTurns("", question), params, (seed,) * n, logprobs=logprobs)
        begun = perf_counter()
        fields = self._connection.post(body)
        seconds = perf_counter() - begun
        found = len(fields["choices"]) if isinstance(fields.get("choices"), list) and fields["choices"] else n
        reply = read_reply(fields, options.api, found, logprobs, self._where)
        return ProbeReply(reply, _first_top(fields) if logprobs else None, _cached(fields), seconds)

    def together(self, questions: Sequence[str], params: SamplingParams, seed: int = 0) -> list[ProbeReply]:
        """Send one request for each question, all at the same time, and return the replies in order."""
        with ThreadPoolExecutor(len(questions)) as pool:
            return list(pool.map(lambda question: self.ask(question, params, seed=seed), questions))

    def stream(
        self, question: str, params: SamplingParams, *, seed: int = 0, stop_after: int | None = None
    ) -> ProbeStream:
        """Stream one answer.

        stop_after: number of pieces after which the connection is closed; None to read to the end. Raises the errors of
        Connection.events.
        """
        body = request_body(self.options, PromptTurns("", question), params, (seed,), logprobs=False)
        body |= {"stream": True, "stream_options": {"include_usage": True}}
        cancellation = RequestCancellation()
        text = thought = ""
        pieces, first, ended, usage = 0, None, False, False
        begun = perf_counter()
        with closing(self._connection.events(body, None, cancellation)) as events:
            for fields in events:
                delta = delta_of(fields, self.options.api, self._where)
                if delta.text or delta.thought:
                    pieces += 1
                    first = perf_counter() - begun if first is None else first
                text, thought = text + delta.text, thought + delta.thought
                ended = ended or delta.finish_reason is not None
                usage = usage or usage_of(fields)[1] is not None
                if stop_after is not None and pieces >= stop_after:
                    cancellation.cancel("cancelled")
                    break
        seconds = perf_counter() - begun
        return ProbeStream(text, thought, pieces, first, seconds, ended, usage, cancellation.reason is not None)

    def streams(self, questions: Sequence[str], params: SamplingParams) -> list[ProbeStream | Exception]:
        """Stream the answers to all questions at the same time. Returns a stream or an error for each, in order."""
        results: list[ProbeStream | Exception] = [RuntimeError("not run")] * len(questions)

        def run(index: int) -> None:
            try:
                results[index] = self.stream(questions[index], params)
            except Exception as error:  # returned to the caller
                results[index] = error

        threads = [threading.Thread(target=run, args=(index,)) for index in range(len(questions))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return results


def _first_top(fields: dict[str, Any]) -> float | None:
    """Return the log-probability of the likeliest alternative of the first token; None if not sent."""
    with suppress(KeyError, IndexError, TypeError, AttributeError, ValueError):
        given = fields["choices"][0]["logprobs"]
        if "content" in given:
            return float(given["content"][0]["top_logprobs"][0]["logprob"])
        return max(map(float, given["top_logprobs"][0].values()))
    return None


def _cached(fields: dict[str, Any]) -> int | None:
    with suppress(KeyError, TypeError):
        value = fields["usage"]["prompt_tokens_details"]["cached_tokens"]
        return value if isinstance(value, int) and not isinstance(value, bool) else None
    return None
