"""The engine, which is synchronous and serves one caller. engine/front.py serves several."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence

import torch

from generation.completion import FinishReason
from generation.decoding.sampling import SampleStream
from generation.engine.admission import Admission
from generation.engine.compaction import close_gaps
from generation.engine.decoding_pass import DecodingPass
from generation.engine.memory_errors import is_out_of_memory, out_of_memory
from generation.engine.options import EngineOptions
from generation.engine.prompt_pass import PromptPass, ending_bytes_per_position
from generation.engine.requests import EngineRequest, Handle, RequestResult, TokenEvent, check_request
from generation.engine.sequences import Rows, Sample, Ticket
from generation.engine.step_rows import RowDrawer
from generation.engine.token_recording import record_token
from generation.errors import GenerationError, ModelOutputError
from model.decoder.decoder import Decoder
from model.engine_state.arena import KeyValueArena

_NOT_FINITE = "the model returned NaN or infinite probabilities: its weights are damaged or overflow in this precision"


class Engine:
    """An engine that decodes many requests at once on one model. Requests join and leave at every step.

    A step admits the requests that fit, generates one token for every decoding row, and reads one chunk of the waiting
    prompts. options: EngineOptions() if None. clock: function that returns the time in seconds, for deadlines. Raises
    ModelError if the memory cannot be allocated.
    """

    def __init__(
        self, model: Decoder, options: EngineOptions | None = None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._model, self._options, self._clock = model, options or EngineOptions(), clock
        memory, ending_bytes = self._options.memory_bytes, ending_bytes_per_position(model)
        self._arena = KeyValueArena(
            model.config, memory, dtype=model.dtype, device=model.device, extra_bytes=ending_bytes
        )
        self._admission = Admission(model.config, self._arena, self._options)
        self._prompts = PromptPass(model, self._arena, self._options)
        self._decoding = DecodingPass(model, self._arena, self._options, self._admission.spare)
        # A model with its own step kernels has a head that treats every row alike.
        blocked = self._options.invariant and model.row_steps is None
        self._drawer = RowDrawer(model, self._options.row_block if blocked else None)
        self._tickets: dict[int, Ticket] = {}
        self._pending: list[Rows] = []  # rows whose prompts are not read yet
        self._cohorts: list[Rows] = []  # decoding rows
        self._events: deque[TokenEvent] = deque()
        self._submitted = 0

    @property
    def options(self) -> EngineOptions:
        """The engine's options."""
        return self._options

    @property
    def busy(self) -> bool:
        """Whether any request is unfinished."""
        return any(not ticket.done for ticket in self._tickets.values())

    @property
    def free_positions(self) -> int:
        """Number of positions of the arena that no request uses. They may hold cached prompts."""
        return self._admission.free

    @property
    def rows(self) -> int:
        """Number of samples being decoded."""
        return sum(len(rows.samples) for rows in self._cohorts)

    def submit(self, request: EngineRequest) -> Handle:
        """Submit a request without computing anything. Raises GenerationError if it can never be served."""
        config = self._model.config
        max_new = check_request(request, config, self._admission.capacity, self._arena.position_bytes)
        handle = Handle(self._submitted)
        self._submitted += 1
        limit = request.params.deadline_seconds
        samples = [Sample(index, SampleStream(seed)) for index, seed in enumerate(request.seeds)]
        ends_at = None if limit is None else self._clock() + limit
        ticket = Ticket(handle, request, max_new, samples, deque(samples), ends_at)
        self._tickets[handle.number] = ticket
        if samples:
            self._admission.enqueue(ticket)
        return handle

    def step(self) -> list[TokenEvent]:
        """Run one step and return the events since the last call, in order. An error fails only its own request."""
        with torch.inference_mode():
            self._expire()
            self._pending.extend(self._admission.admit())
            if self._cohorts:
                self._decode()
            self._read_prompts()
            self._begin()
        events = list(self._events)
        self._events.clear()
        return events

    def cancel(self, handle: Handle) -> None:
        """Cancel a request: free its rows at once and keep its tokens. A finished request is unchanged."""
        ticket = self._ticket(handle)
        if not ticket.done:
            self._finish_all(ticket, "cancelled")

    def done(self, handle: Handle) -> bool:
        """Return whether the request is finished, so that ``result`` can be called."""
        return self._ticket(handle).done

    def result(self, handle: Handle) -> RequestResult:
        """Return the result of a finished request and forget the request.

        Raises the error that ended the request, or GenerationError if it is not finished.
        """
        ticket = self._ticket(handle)
        if not ticket.done:
            raise GenerationError(f"request {handle.number} is not finished: call step until it is done")
        del self._tickets[handle.number]
        if ticket.error is not None:
            raise ticket.error
        return RequestResult(tuple(sample.decoded() for sample in ticket.samples), max(ticket.shared_tokens, 0))

    def events(self) -> Iterator[TokenEvent]:
        """Run steps until all requests are finished, and yield their events."""
        while self.busy:
            yield from self.step()
        yield from self._events
        self._events.clear()

    def run(self, requests: Sequence[EngineRequest]) -> tuple[RequestResult, ...]:
        """Serve these requests, with all others in the engine, and return their results.

        Raises the first error of any of them.
        """
        handles: list[Handle] = []
        try:
            for request in requests:
                handles.append(self.submit(request))
            while not all(self.done(handle) for handle in handles):
                self.step()
            return tuple(self.result(handle) for handle in handles)
        finally:
            for handle in handles:
                if handle.number in self._tickets:  # an error or an interrupt came before
                    self.cancel(handle)
                    del self._tickets[handle.number]

    def abort(self, error: Exception) -> None:
        """Fail every request after an error that does not belong to one of them. The engine accepts new requests."""
        for ticket in list(self._tickets.values()):
            if not ticket.done:
                self._fail(ticket, error)

    def _ticket(self, handle: Handle) -> Ticket:
        ticket = self._tickets.get(handle.number)
        if ticket is None:
            raise GenerationError(f"the engine has no request {handle.number}: its result was already returned")
        return ticket

    def _expire(self) -> None:
        late = [t for t in self._tickets.values() if t.ends_at is not None and not t.done]
        if late:
            now = self._clock()
            for ticket in late:
                if ticket.ends_at is not None and now >= ticket.ends_at:
                    self._finish_all(ticket, "deadline")

    def _decode(self) -> None:
        # Ordered by memory position, so that prompts that share a prefix are read together.
        order = sorted(self._cohorts, key=lambda rows: [part.start for part in rows.prompt.ranges])
        if order != self._cohorts:
            self._cohorts = order
            self._decoding.rows_changed()
        try:
            hidden = self._decoding.hidden(self._cohorts)
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            self._decoding.rows_changed()
            self._fail_youngest(self._cohorts, error)
            return
        self._draw(hidden, list(self._cohorts))

    def _read_prompts(self) -> None:
        runs = list(self._admission.runs.values())
        chunks = self._prompts.next_chunks(runs)
        if not chunks:
            return
        try:
            self._prompts.read(chunks)
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            concerned = {id(chunk.run.prompt) for chunk in chunks}
            self._fail_youngest([rows for rows in self._pending if id(rows.prompt) in concerned], error)
            return
        for chunk in chunks:
            if not chunk.run.left:
                self._admission.prompt_done(chunk.run)

    def _begin(self) -> None:
        """Generate the first token of rows whose prompt has been read."""
        ready = [rows for rows in self._pending if rows.ending is not None]
        if not ready:
            return
        self._pending = [rows for rows in self._pending if rows.ending is None]
        self._cohorts.extend(ready)
        self._decoding.rows_changed()
        endings = [rows.ending.hidden.expand(len(rows.samples), -1) for rows in ready if rows.ending is not None]
        self._draw(torch.cat(endings), ready)

    def _draw(self, hidden: torch.Tensor, cohorts: list[Rows]) -> None:
        # Drawn once, because a retry without some of the rows must use the same numbers.
        uniforms = [sample.stream.uniform() for rows in cohorts for sample in rows.samples]
        while True:
            owners = [rows.ticket for rows in cohorts for _ in rows.samples]
            try:
                drawn = iter(self._drawer.draw(hidden, cohorts, uniforms))
                break
            except (RuntimeError, MemoryError) as error:
                if not is_out_of_memory(error):
                    raise
                self._fail_youngest(cohorts, error)
            kept = [row for row, ticket in enumerate(owners) if ticket.error is None]
            if not kept:
                return
            hidden, uniforms = hidden[kept], [uniforms[row] for row in kept]
            cohorts = [rows for rows in cohorts if rows.samples]
        # Split first, because a request that fails removes all of its rows, in any cohort.
        for rows, mine in [(rows, [next(drawn) for _ in rows.samples]) for rows in cohorts]:
            if any(token.token_id < 0 for token in mine):
                self._fail(rows.ticket, ModelOutputError(_NOT_FINITE))
                continue
            if rows.ticket.error is not None:
                continue  # another part of the same request has just failed
            try:
                for sample, token in zip(list(rows.samples), mine, strict=True):
                    if sample.finish is None and (event := record_token(rows.ticket, sample, token)) is not None:
                        self._events.append(event)
            except Exception as error:  # an error in the request's own stop rule fails that request only
                self._fail(rows.ticket, error)
            if rows.samples:  # absent if the request failed, or was cancelled by its own stop rule
                self._drop_finished(rows)

    def _drop_finished(self, rows: Rows) -> None:
        if rows.seen is not None:
            for row, sample in enumerate(rows.samples):
                if sample.finish is None:
                    rows.seen[row, sample.token_ids[-1]] = True
        if all(sample.finish is None for sample in rows.samples):
            return
        self._decoding.rows_changed()
        count = close_gaps(rows, self._arena)
        self._admission.shrink(rows, count)
        del rows.samples[count:]
        if rows.seen is not None:
            rows.seen = rows.seen[:count]
        if not count:
            self._cohorts.remove(rows)

    def _finish_all(self, ticket: Ticket, reason: FinishReason, error: str = "") -> None:
        """End every sample of the request, and free its rows and its place in the queue."""
        self._admission.leave_queue(ticket)
        ticket.waiting.clear()
        for sample in ticket.samples:
            if sample.finish is None:
                sample.finish = reason
                self._events.append(TokenEvent(ticket.handle, sample.index, None, finish_reason=reason, error=error))
        for rows in [r for r in (*self._pending, *self._cohorts) if r.ticket is ticket]:
            self._admission.shrink(rows, 0)
            rows.samples.clear()
            (self._pending if rows in self._pending else self._cohorts).remove(rows)
            self._decoding.rows_changed()

    def _fail(self, ticket: Ticket, error: Exception) -> None:
        if ticket.error is None:
            ticket.error = error
            self._finish_all(ticket, "cancelled", str(error))

    def _fail_youngest(self, concerned: Sequence[Rows], error: BaseException) -> None:
        """Fail the most recent request. The others are retried at the next step."""
        ticket = max((rows.ticket for rows in concerned), key=lambda t: t.handle.number)
        self._fail(ticket, out_of_memory(len(concerned), error))
