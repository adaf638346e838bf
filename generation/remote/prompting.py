"""Build prompts for a server. Only the server can count tokens, so lengths are estimated conservatively."""

from __future__ import annotations

import math
from collections.abc import Sequence

from data.blank import is_blank
from generation.budget import FittedChunk, fit_chunks
from generation.causal.prompt import sentence_ends
from generation.causal.prompt_template import (
    PASSAGE_OVERHEAD,
    SHORT_PASSAGE,
    PromptTemplate,
    PromptTurns,
    shown_title,
)
from generation.errors import ContextLengthError, GenerationError
from generation.prompt import Prompt, PromptChunk
from generation.remote.options import RemoteOptions
from retrieval.chunking.chunks import RetrievedChunk

_FRAME_TOKENS = 32  # allowance for the server's unknown chat template


class RemotePrompter:
    """Builds prompts that fit the context length of the options."""

    def __init__(self, options: RemoteOptions, template: PromptTemplate) -> None:
        self._options, self._template = options, template

    def prompt(self, question: str, chunks: Sequence[RetrievedChunk], max_new_tokens: int, instructions: str) -> Prompt:
        """See InstructedGenerator.instructed_prompt. token_ids is empty, since only the server knows the tokens."""
        if is_blank(question):
            raise GenerationError("the question is empty: enter a question")
        context = self._options.context_length
        budget = context - max_new_tokens - _FRAME_TOKENS
        bare, one, two = (
            self._estimate(self._template.turns(question, (SHORT_PASSAGE,) * count, instructions).joined)
            for count in range(3)
        )
        if bare > budget:
            raise ContextLengthError(
                f"the question with its instructions has about {bare} tokens, but {max(budget, 0)} are available (a "
                f"context of {context} minus {max_new_tokens} new tokens): shorten it or request fewer new tokens"
            )

        def cost(retrieved: RetrievedChunk, end: int) -> int:
            texts = shown_title(retrieved.chunk), retrieved.chunk.text[:end]
            return max(two - one, 0) + PASSAGE_OVERHEAD + sum(map(self._estimate, texts))

        fit = fit_chunks(chunks, budget - max(bare, one), cost, sentence_ends)
        parts = tuple(PromptChunk(n, f.retrieved, 0, f.end) for n, f in enumerate(fit.shown, start=1))
        return Prompt(question, parts, fit.omitted, (), instructions=instructions)

    def turns(self, prompt: Prompt, shown: Sequence[PromptChunk]) -> PromptTurns:
        """Render the prompt with the chunks ``shown``."""
        fitted = [FittedChunk(chunk.retrieved, chunk.end) for chunk in shown]
        return self._template.turns(prompt.question, fitted, prompt.instructions)

    def _estimate(self, text: str) -> int:
        return math.ceil(len(text.encode("utf-8", errors="replace")) / self._options.bytes_per_token)
