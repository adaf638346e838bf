"""Clients of an HTTP service, in a separate process started by benchmarks/service_load.py.

Each client runs a closed loop: it sends its next question when it has the previous answer. Clients are plain sockets
with minimal HTTP/1.1 and one kept connection each. A full client library takes as long to read a stream as the service
takes to write it, and would be measured with it. The process reads one JSON object (Work) from stdin and writes one
(Times) to stdout.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from time import perf_counter, process_time
from typing import Any


@dataclass(frozen=True, slots=True)
class Work:
    """The work of the clients.

    bodies: request bodies, used in turn across clients; each gets a seed.
    clients: number of clients.
    rounds: number of questions of each client.
    first: number of the first question.
    """

    port: int
    path: str
    bodies: tuple[dict[str, Any], ...]
    clients: int
    rounds: int
    first: int = 0


@dataclass(frozen=True, slots=True)
class Times:
    """Durations of one run, in seconds. wall: total time. answers: time of each answer. firsts: time to the first text
    of each streamed answer. processor: processor time of the clients.
    """

    wall: float
    answers: tuple[float, ...]
    firsts: tuple[float, ...] = ()
    processor: float = 0.0


async def closed_loop(work: Work) -> Times:
    """Run the clients. Raises AssertionError for an invalid answer."""
    answers: list[float] = []
    firsts: list[float] = []
    links = [await asyncio.open_connection("127.0.0.1", work.port, limit=1 << 20) for _ in range(work.clients)]

    async def one(number: int) -> None:
        reader, writer = links[number]
        for turn in range(work.rounds):
            index = work.first + number + turn * work.clients
            body = json.dumps({**work.bodies[index % len(work.bodies)], "seed": index}).encode()
            begun = perf_counter()
            writer.write(_head(work.path, len(body)) + body)
            first = await _answer(reader)
            answers.append(perf_counter() - begun)
            if first is not None:
                firsts.append(first - begun)

    begun, used = perf_counter(), process_time()
    await asyncio.gather(*(one(number) for number in range(work.clients)))
    times = Times(perf_counter() - begun, tuple(answers), tuple(firsts), process_time() - used)
    for _, writer in links:
        writer.close()
    return times


def _head(path: str, length: int) -> bytes:
    return (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    ).encode()


async def _answer(reader: asyncio.StreamReader) -> float | None:
    """Read one response. Returns the time of its first text; None if it is not a stream."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    assert head.startswith(b"http/1.1 200"), head
    if b"transfer-encoding: chunked" not in head:
        length = next(
            int(line.partition(b":")[2]) for line in head.split(b"\r\n") if line.startswith(b"content-length")
        )
        await reader.readexactly(length)
        return None
    first = None
    while size := int(await reader.readuntil(b"\r\n"), 16):
        piece = await reader.readexactly(size + 2)
        assert b"event: error" not in piece, piece
        if first is None and b"event: text" in piece:
            first = perf_counter()
    await reader.readexactly(2)
    return first


def main(arguments: Sequence[str]) -> None:
    assert not arguments, "the work comes on stdin"
    given = json.loads(sys.stdin.read())
    print(json.dumps(asdict(asyncio.run(closed_loop(Work(**{**given, "bodies": tuple(given["bodies"])}))))))


if __name__ == "__main__":
    main(sys.argv[1:])
