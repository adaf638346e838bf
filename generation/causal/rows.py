"""Training rows for a decoder checkpoint that answers from passages: the prompt used at inference, and the answer.

The answer follows the instruction: words of a passage with its number, or that the documents do not answer. Without
passages it is the answer alone, without support.
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
    """Builds rows for the checkpoint of a folder, with its tokenizer and chat frame.

    context: maximum positions of a row.

    max_answer_tokens: longer answers are skipped. Raises the errors of chat_frame and Tokenizer.
    """

    def __init__(self, folder: Path, *, context: int, end_id: int, max_answer_tokens: int = 32) -> None:
        self._tokenizer = Tokenizer.of_checkpoint(folder)
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
        # A chat frame opens the answer's turn; after a plain "Answer:" the words start with a space.
        ids = self._tokenizer.encode(text if self._frame.after else f" {text}").token_ids
        if len(ids) > self._longest + _CITATION_TOKENS - 1:
            return None
        return TokenRow(prompt.token_ids, (*ids, self._end))


def _answer(prompt: Prompt, shown: bool, answers: Sequence[str]) -> str | None:
    if not answers:
        return NO_ANSWER_TEXT if prompt.chunks else _UNKNOWN_TEXT
    wanted = [answer.strip(" .") for answer in answers]
    if not shown:
        return next((answer for answer in wanted if answer), None)
    # Match complete words: "no" occurs in "know", and copying it from there would teach the model to invent. Matching
    # is case-sensitive: "US" is not "us".
    for flags in (0, re.IGNORECASE):
        for answer in filter(None, wanted):
            pattern = re.compile(rf"(?<!\w){re.escape(answer)}(?!\w)", flags)
            for part in prompt.chunks:
                if found := pattern.search(part.text):
                    return f"{found[0]} [{part.number}]"
    return None
