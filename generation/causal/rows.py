"""Write training rows for decoder checkpoints: the prompt used at inference, and the target answer.

With passages, the target is an answer copied from a passage, with the passage's number, or the statement that the
documents do not answer. Without passages it is the answer alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from generation.causal.chat_format import chat_frame
from generation.causal.prompt import CausalPrompter
from generation.errors import GenerationError
from generation.prompt import Prompt
from generation.reader.vocabulary import NO_ANSWER_TEXT
from model.checkpoints.tokenizer import Tokenizer
from model.training.rows import TokenRow
from retrieval.chunking.chunks import RetrievedChunk

_UNKNOWN_TEXT = "I do not know."
_CITATION_TOKENS = 8  # " [n]" and the end, in any tokenizer


class CausalRowWriter:
    """A RowWriter for a checkpoint, with its tokenizer and chat frame.

    folder: the checkpoint. context: maximum number of tokens of a row. end_id: token that ends an answer.
    max_answer_tokens: rows with longer answers are skipped. Raises the errors of chat_frame and Tokenizer.
    """

    def __init__(self, folder: Path, *, context: int, end_id: int, max_answer_tokens: int = 32) -> None:
        self._tokenizer = Tokenizer.from_checkpoint(folder)
        self._frame = chat_frame(folder)
        self._prompter = CausalPrompter(self._tokenizer, self._frame, context)
        self._end, self._longest = end_id, max_answer_tokens

    def row(self, question: str, shown: Sequence[RetrievedChunk], answers: Sequence[str]) -> TokenRow | None:
        """See RowWriter."""
        try:
            prompt = self._prompter.prompt(question, shown, self._longest + _CITATION_TOKENS)
        except GenerationError:  # longer than the context
            return None
        text = _answer(prompt, bool(shown), answers)
        if text is None:
            return None
        # With a chat frame the prompt ends at the start of the answer's turn. Without one, it ends in "Answer:", after
        # which the words start with a space.
        ids = self._tokenizer.encode(text if self._frame.after else f" {text}").token_ids
        if len(ids) > self._longest + _CITATION_TOKENS - 1:
            return None
        return TokenRow(prompt.token_ids, (*ids, self._end))


def _answer(prompt: Prompt, shown: bool, answers: Sequence[str]) -> str | None:
    if not answers:
        return NO_ANSWER_TEXT if prompt.chunks else _UNKNOWN_TEXT
    stripped = [answer.strip(" .") for answer in answers]
    if not shown:
        return next((answer for answer in stripped if answer), None)
    # Complete words are matched, because copying "no" from "know" would teach the model to invent answers. A match in
    # the same case is preferred ("US", not "us").
    for flags in (0, re.IGNORECASE):
        for answer in filter(None, stripped):
            pattern = re.compile(rf"(?<!\w){re.escape(answer)}(?!\w)", flags)
            for part in prompt.chunks:
                if found := pattern.search(part.text):
                    return f"{found[0]} [{part.number}]"
    return None
