"""Build the prompts of instruction-tuned decoders within a token budget: instructions, passages and question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from data.blank import is_blank
from generation.budget import FittedChunk, fit_chunks
from generation.causal.chat_format import ChatFrame, frame_tokens
from generation.causal.prompt_template import (
    PASSAGE_OVERHEAD,
    SHORT_PASSAGE,
    PromptTemplate,
    default_prompt,
    shown_title,
)
from generation.errors import ContextLengthError, GenerationError
from generation.prompt import Prompt, PromptChunk
from model.checkpoints.tokenizer import Tokenizer
from retrieval.chunking.chunks import RetrievedChunk
from retrieval.chunking.sentences import sentence_spans


def sentence_ends(text: str) -> tuple[int, ...]:
    """Return the offsets at which a passage may be truncated."""
    return tuple(span.end for span in sentence_spans(text))


class CausalPrompter:
    """Builds prompts for one checkpoint.

    tokenizer, frame: tokenizer and chat frame of the checkpoint. context_length: size of its context, in tokens.
    template: prompt template; default_prompt() if None.
    """

    def __init__(
        self, tokenizer: Tokenizer, frame: ChatFrame, context_length: int, template: PromptTemplate | None = None
    ) -> None:
        self._tokenizer = tokenizer
        self._template = template or default_prompt()
        self._frame = frame
        self._context_length = context_length

    def prompt(self, question: str, chunks: Sequence[RetrievedChunk], max_new_tokens: int, own: str = "") -> Prompt:
        """See Generator.prompt. own: the caller's instructions, which are never truncated; "" for none."""
        if is_blank(question):
            raise GenerationError("the question is empty: enter a question")
        budget = self._context_length - max_new_tokens
        bare = len(self._encode(question, (), own))
        if bare > budget:
            raise ContextLengthError(
                f"the question with its instructions has {bare} tokens, but {max(budget, 0)} are available (a context "
                f"of {self._context_length} minus {max_new_tokens} new tokens): shorten it or request fewer new tokens"
            )
        # The template may differ with and without passages, so its tokens are counted with passages of one character.
        one, two = (len(self._encode(question, (SHORT_PASSAGE,) * count, own)) if chunks else 0 for count in (1, 2))
        mark = max(two - one, 0) + PASSAGE_OVERHEAD

        def cost(retrieved: RetrievedChunk, end: int) -> int:
            texts = shown_title(retrieved.chunk), retrieved.chunk.text[:end]
            return mark + sum(map(self._tokenizer.count, texts))

        fit = fit_chunks(chunks, budget - max(bare, one), cost, sentence_ends)
        shown = list(fit.shown)
        omitted = list(fit.omitted)
        ids = self._encode(question, shown, own)
        while len(ids) > budget and shown:
            # Joined pieces may need more tokens than separate ones, so the estimate may be too low.
            omitted.insert(0, shown.pop().retrieved)
            ids = self._encode(question, shown, own)
        parts = tuple(PromptChunk(n, f.retrieved, 0, f.end) for n, f in enumerate(shown, start=1))
        return Prompt(question, parts, tuple(omitted), ids, instructions=own)

    def begun(self, question: str, chunks: Sequence[RetrievedChunk], max_new_tokens: int, beginning: str) -> Prompt:
        """See ContinuingGenerator.continued_prompt."""
        # With a chat frame the prompt ends at the start of the answer's turn. Without one, it ends in "Answer:", after
        # which the words start with a space.
        beginning_ids = self._tokenizer.encode(beginning if self._frame.after else f" {beginning}").token_ids
        prompt = self.prompt(question, chunks, max_new_tokens + len(beginning_ids))
        return replace(prompt, token_ids=(*prompt.token_ids, *beginning_ids))

    def _encode(self, question: str, shown: Sequence[FittedChunk], own: str) -> tuple[int, ...]:
        return frame_tokens(self._frame, self._template.turns(question, shown, own), self._tokenizer)
