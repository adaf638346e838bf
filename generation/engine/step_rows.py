"""Compute next-token distributions from hidden states, for rows of many requests, and draw one token for each row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from generation.decoding.loop import CopySource, copy_sources
from generation.decoding.sampling import adjusted_logits, draw_tokens, seen_tokens, top_logprobs
from generation.engine.sequences import PromptEnd, Rows
from model.decoder.decoder import Decoder
from model.decoder.heads import HeadMemory, NextToken, copyable_tokens


@dataclass(frozen=True, slots=True)
class DrawnToken:
    """The token drawn for a row. token_id: -1 if the distribution was not finite, so that no token was drawn."""

    token_id: int
    logprob: float
    top_logprobs: tuple[tuple[int, float], ...]
    sources: tuple[CopySource, ...]


class RowDrawer:
    """Draws the next tokens of rows.

    row_block: number of rows that the head processes at a time in invariant mode, where the last block is padded; None
    to process all rows at once.
    """

    def __init__(self, model: Decoder, row_block: int | None) -> None:
        self._model, self._block = model, row_block
        self._pointer = model.config.head == "pointer"

    def draw(self, hidden: Tensor, cohorts: Sequence[Rows], uniforms: Sequence[float]) -> list[DrawnToken]:
        """Draw one token for each row.

        hidden: hidden states (N, E) of the rows of all cohorts, in order. uniforms: a number in [0, 1) for each row.
        """
        steps = self._copying_steps(hidden, cohorts) if self._pointer else None
        scores, logprobs = self._scores(hidden, cohorts, steps)
        finite = torch.isfinite(logprobs.amax(-1)).tolist()  # amax of a row with a NaN is NaN
        if not all(finite):
            bad = [i for i, good in enumerate(finite) if not good]
            scores = scores.clone()
            scores[bad] = 0.0  # a valid placeholder distribution; its draw is discarded
        params = [rows.ticket.request.params for rows in cohorts for _ in rows.samples]
        tokens = draw_tokens(scores, params, uniforms)
        chosen = logprobs.gather(-1, tokens[:, None]).squeeze(-1)
        best = top_logprobs(logprobs, [p.top_logprobs for p in params]) if any(p.top_logprobs for p in params) else None
        sources = self._sources(steps, cohorts, tokens, chosen)
        ids, values = tokens.tolist(), chosen.tolist()
        out = []
        for row, good in enumerate(finite):
            token = ids[row] if good else -1
            out.append(DrawnToken(token, values[row], best[row] if best else (), sources[row] if sources else ()))
        return out

    def _scores(
        self, hidden: Tensor, cohorts: Sequence[Rows], steps: Sequence[NextToken] | None
    ) -> tuple[Tensor, Tensor]:
        """Return scores to sample from and log-probabilities at temperature 1, (N, V) each, in fp32."""
        if steps is None:
            scores, logprobs = self._linear_scores(hidden, cohorts)
        else:
            logprobs = torch.cat([step.logprobs for step in steps])
            scores = logprobs
        if not any(rows.ticket.request.params.adjusts_logits for rows in cohorts):
            return scores, logprobs
        parts = []
        first = 0
        for rows in cohorts:
            parts.append(self._adjusted(scores[first : first + len(rows.samples)], rows))
            first += len(rows.samples)
        return torch.cat(parts), logprobs

    def _linear_scores(self, hidden: Tensor, cohorts: Sequence[Rows]) -> tuple[Tensor, Tensor]:
        blocks = [hidden] if self._block is None else in_blocks(hidden, self._block)
        logits = torch.cat([self._model.logits(part) for part in blocks])[: len(hidden)].float()
        logprobs = torch.log_softmax(logits, dim=-1)
        if all(rows.ticket.request.calibration.is_identity for rows in cohorts):
            return logits, logprobs
        first = 0
        for rows in cohorts:
            end = first + len(rows.samples)
            if not rows.ticket.request.calibration.is_identity:
                logprobs[first:end] = _calibrated(NextToken(logprobs[first:end], None), rows).logprobs
                logits[first:end] = logprobs[first:end]
            first = end
        return logits, logprobs

    def _copying_steps(self, hidden: Tensor, cohorts: Sequence[Rows]) -> list[NextToken]:
        """Return the distributions of a pointer head for each cohort, since each copies from its own prompt."""
        out = []
        first = 0
        for rows in cohorts:
            count = len(rows.samples)
            mine = hidden[first : first + count]
            first += count
            memory, answer = self._memory(rows)
            if self._block is None:
                step = self._model.next_token(mine, _with_answer(memory, answer))
            else:
                step = self._blocked_step(mine, memory, answer, self._block)
            out.append(_calibrated(step, rows))
        return out

    def _blocked_step(self, hidden: Tensor, memory: HeadMemory, answer: Tensor | None, block: int) -> NextToken:
        count = len(hidden)
        answers = [None] * -(-count // block) if answer is None else in_blocks(answer, block)
        parts = [
            self._model.next_token(h, _with_answer(memory, a))
            for h, a in zip(in_blocks(hidden, block), answers, strict=True)
        ]
        copies = [part.copy for part in parts if part.copy is not None]
        return NextToken(torch.cat([p.logprobs for p in parts])[:count], torch.cat(copies)[:count])

    def _memory(self, rows: Rows) -> tuple[HeadMemory, Tensor | None]:
        ending = _ending(rows)
        if ending.states is None or ending.token_ids is None:
            raise AssertionError("a pointer head's prompt was kept without its states")
        request = rows.ticket.request
        copyable = copyable_tokens(ending.token_ids, request.first_copyable_id, request.null_id)
        memory = HeadMemory(ending.states, ending.token_ids, copyable, keys=ending.keys)
        if not rows.samples[0].token_ids:
            return memory, None
        # The last column is the token to be predicted.
        answers = [[*sample.token_ids, 0] for sample in rows.samples]
        return memory, torch.tensor(answers, device=ending.states.device)

    def _adjusted(self, scores: Tensor, rows: Rows) -> Tensor:
        request = rows.ticket.request
        if not request.params.adjusts_logits:
            return scores
        if request.params.repetition_penalty != 1.0 and rows.seen is None:
            sequences = [[*request.prompt, *sample.token_ids] for sample in rows.samples]
            rows.seen = seen_tokens(sequences, scores.shape[-1], scores.device)
        drawn = [len(sample.token_ids) for sample in rows.samples]
        return adjusted_logits(scores, [request.params] * len(drawn), rows.seen, drawn, request.end_ids)

    def _sources(
        self, steps: Sequence[NextToken] | None, cohorts: Sequence[Rows], tokens: Tensor, logprobs: Tensor
    ) -> list[tuple[CopySource, ...]] | None:
        if steps is None:
            return None
        out: list[tuple[CopySource, ...]] = []
        first = 0
        for rows, step in zip(cohorts, steps, strict=True):
            end = first + len(rows.samples)
            prompt = _ending(rows).token_ids
            found = None if prompt is None else copy_sources(step, prompt[0], tokens[first:end], logprobs[first:end])
            out.extend(found or [()] * len(rows.samples))
            first = end
        return out


def in_blocks(rows: Tensor, block: int) -> list[Tensor]:
    """Split a tensor (N, ...) into tensors of exactly ``block`` rows; the last one is padded with its first row."""
    parts = list(torch.split(rows, block))
    missing = block - len(parts[-1])
    if missing:
        parts[-1] = torch.cat((parts[-1], parts[-1][:1].expand(missing, *rows.shape[1:])))
    return parts


def _with_answer(memory: HeadMemory, answer: Tensor | None) -> HeadMemory:
    return HeadMemory(memory.states, memory.token_ids, memory.copyable, answer, memory.keys)


def _calibrated(step: NextToken, rows: Rows) -> NextToken:
    calibration = rows.ticket.request.calibration
    return calibration.later(step) if rows.samples[0].token_ids else calibration.first(step)


def _ending(rows: Rows) -> PromptEnd:
    if rows.ending is None:
        raise AssertionError("rows are drawn for a prompt that was not read yet")
    return rows.ending
