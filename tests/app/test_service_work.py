"""Shared work of requests: queue, batches, messages to the event loop, streams with slow or disconnected clients."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
from starlette.types import Message

from app.service.engine.admission import Admission, Limits
from app.service.engine.batching import MicroBatcher
from app.service.engine.loop_callbacks import LoopCallbacks
from app.service.engine.memory import memory_left
from app.service.http.errors import ApiError
from app.service.http.sse import EventStream, event


def refused(error: pytest.ExceptionInfo[ApiError]) -> tuple[int, str]:
    assert error.value.retry_after is not None
    assert error.value.retry_after >= 1
    return error.value.status, error.value.code


def test_turns_are_given_in_order_and_the_rest_is_refused() -> None:
    async def run() -> None:
        admission = Admission(Limits(active=2, waiting=2))
        first, second = await admission.enter(), await admission.enter()
        order: list[int] = []

        async def wait(number: int) -> None:
            turn = await admission.enter()
            order.append(number)
            turn.release()

        waiting = [asyncio.create_task(wait(n)) for n in range(2)]
        await asyncio.sleep(0)
        assert (admission.active, admission.waiting) == (2, 2)
        with pytest.raises(ApiError) as error:
            await admission.enter()
        assert refused(error) == (429, "queue_full")
        first.release()
        first.release()  # nothing happens
        await asyncio.gather(*waiting)
        assert order == [0, 1]
        second.release()
        await admission.idle()
        assert admission.inside == 0

    asyncio.run(run())


def test_who_is_cancelled_while_waiting_takes_no_turn() -> None:
    async def run() -> None:
        admission = Admission(Limits(1, 5))
        first = await admission.enter()
        tasks = [asyncio.create_task(admission.enter()) for _ in range(3)]
        await asyncio.sleep(0)
        tasks[0].cancel()
        await asyncio.sleep(0)
        first.release()  # gives the turn to the second one,
        tasks[1].cancel()  # which is cancelled before it learns of it
        third = await tasks[2]
        assert admission.inside == 1
        third.release()
        await admission.idle()

    asyncio.run(run())


def test_memory_and_stopping_refuse_at_once_and_hand_back_those_who_wait() -> None:
    async def run() -> None:
        left = 10
        admission = Admission(Limits(1, 5, least_memory=10), lambda: left)
        first = await admission.enter()
        left = 9
        with pytest.raises(ApiError) as error:
            await admission.enter()
        assert refused(error) == (503, "out_of_memory")
        left = 10
        waiting = asyncio.create_task(admission.enter())
        await asyncio.sleep(0)
        admission.drain()
        for stopped in (waiting, admission.enter()):
            with pytest.raises(ApiError) as error:
                await stopped
            assert refused(error) == (503, "shutting_down")
        first.release()
        await admission.idle()

    asyncio.run(run())


def test_what_comes_while_a_batch_is_at_work_is_the_next_one() -> None:
    begun, go_on = threading.Event(), threading.Event()
    batches: list[list[int]] = []

    def work(items: Sequence[int]) -> list[int | Exception]:
        begun.set()
        assert go_on.wait(timeout=60)
        batches.append(list(items))
        return [KeyError(item) if item == 3 else 10 * item for item in items]

    async def run() -> None:
        sizes: list[int] = []
        batcher: MicroBatcher[int, int] = MicroBatcher(work, name="test", most=4, seen=sizes.append)
        first = asyncio.create_task(batcher.do(0))
        await asyncio.to_thread(begun.wait, 60)
        rest = [asyncio.create_task(batcher.do(n)) for n in range(1, 8)]
        await asyncio.sleep(0)
        rest[1].cancel()
        await asyncio.sleep(0)
        go_on.set()
        found = await asyncio.gather(first, *rest, return_exceptions=True)
        assert batches == [[0], [1, 3, 4, 5], [6, 7]]
        assert sizes == [1, 4, 2]
        assert [found[n] for n in (0, 1, 4, 5, 6, 7)] == [0, 10, 40, 50, 60, 70]
        assert isinstance(found[2], asyncio.CancelledError)
        assert isinstance(found[3], KeyError)
        batcher.close()

    asyncio.run(run())


def test_an_error_of_the_whole_batch_is_tried_alone() -> None:
    def work(items: Sequence[int]) -> list[int | Exception]:
        if 2 in items:
            raise ZeroDivisionError
        return [item + 1 for item in items]

    async def run() -> None:
        batcher: MicroBatcher[int, int] = MicroBatcher(work, name="test")
        found = await asyncio.gather(*(batcher.do(n) for n in range(4)), return_exceptions=True)
        assert [found[n] for n in (0, 1, 3)] == [1, 2, 4]
        assert isinstance(found[2], ZeroDivisionError)
        batcher.close()

    asyncio.run(run())


def test_letters_come_in_order_from_every_thread() -> None:
    async def run() -> None:
        mailbox, heard, all_heard = LoopCallbacks(), [], asyncio.Event()

        def hear(who: int, number: int) -> None:
            heard.append((who, number))
            if len(heard) == 4 * 500:
                all_heard.set()

        def send(who: int) -> None:
            for number in range(500):
                mailbox.post(lambda n=number: hear(who, n))

        await asyncio.gather(*(asyncio.to_thread(send, who) for who in range(4)))
        await asyncio.wait_for(all_heard.wait(), 60)
        for who in range(4):
            assert [n for w, n in heard if w == who] == list(range(500))

    asyncio.run(run())


def test_memory_left_is_the_lesser_of_machine_and_group(tmp_path: Path) -> None:
    proc, group = tmp_path / "proc", tmp_path / "group"
    proc.mkdir()
    group.mkdir()
    assert memory_left(proc, group) is None
    (proc / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:   4 kB\n")
    assert memory_left(proc, group) == 4096
    (group / "memory.max").write_text("max\n")
    assert memory_left(proc, group) == 4096
    (group / "memory.max").write_text("5000\n")
    (group / "memory.current").write_text("4500\n")
    (group / "memory.stat").write_text("anon 1000\ninactive_file 300\nactive_file 100\n")
    assert memory_left(proc, group) == 900


class Client:
    """The client of an ASGI response.

    It disconnects when ``leaves`` is set, and blocks sends until ``takes`` is set.
    """

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.leaves = asyncio.Event()
        self.takes = asyncio.Event()
        self.takes.set()

    async def receive(self) -> Message:
        await self.leaves.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        await self.takes.wait()
        self.messages.append(message)

    @property
    def body(self) -> bytes:
        return b"".join(m.get("body", b"") for m in self.messages)


async def three(gate: asyncio.Event | None = None) -> AsyncIterator[bytes]:
    for number in range(3):
        if gate is not None and number:
            await gate.wait()
        yield event({"n": number}, "text")


def test_a_stream_is_written_whole_and_closed() -> None:
    async def run() -> None:
        client, closed = Client(), []
        await EventStream(three(), lambda: closed.append(1))({"type": "http"}, client.receive, client.send)
        assert client.body == b"".join([event({"n": n}, "text") for n in range(3)])
        assert client.messages[0]["status"] == 200
        assert client.messages[-1]["more_body"] is False
        assert closed == [1]

    asyncio.run(run())


def test_a_client_that_leaves_closes_the_stream() -> None:
    async def run() -> None:
        client, closed, gate = Client(), asyncio.Event(), asyncio.Event()
        stream = EventStream(three(gate), closed.set, alive_s=0.001)
        sending = asyncio.create_task(stream({"type": "http"}, client.receive, client.send))
        while b": waiting" not in client.body:  # nothing comes: it says that it is alive
            await asyncio.sleep(0)
        client.leaves.set()
        await asyncio.wait_for(sending, 60)
        assert closed.is_set()
        assert client.messages[-1]["more_body"] is True

    asyncio.run(run())


def test_a_client_that_takes_nothing_is_given_up() -> None:
    async def run() -> None:
        client, closed = Client(), []
        client.takes.clear()
        stream = EventStream(three(), lambda: closed.append(1), stalled_s=0.001)
        await asyncio.wait_for(stream({"type": "http"}, client.receive, client.send), 60)
        assert closed == [1]
        assert client.messages == []

    asyncio.run(run())


def test_an_error_of_the_events_is_raised() -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield b": one\n\n"
        raise ZeroDivisionError

    async def run() -> None:
        client, closed = Client(), []
        with pytest.raises(ZeroDivisionError):
            await EventStream(broken(), lambda: closed.append(1))({"type": "http"}, client.receive, client.send)
        assert closed == [1]

    asyncio.run(run())
