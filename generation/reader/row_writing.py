"""Convert a question, its shown chunks and its answers to a training row of the embedded reader."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from generation.reader.prompt import ReaderPrompter
from generation.reader.vocabulary import ReaderVocabulary
from model.training.rows import TokenRow
from retrieval.chunking.chunks import RetrievedChunk


class RowWriter(Protocol):
    """Writes training rows in the format of one kind of model. ReaderRows selects the chunks, a writer encodes them."""

    def row(self, question: str, shown: Sequence[RetrievedChunk], answers: Sequence[str]) -> TokenRow | None:
        """Return the row; None if it cannot be used (too long, or the answer does not occur in the shown text).

        answers: correct answers, best first; empty if the shown text does not answer. The target is then a refusal.
        """
        ...


class ReaderRowWriter:
    """A RowWriter for the prefix decoder: the prompt of generation.reader.prompt, and an answer copied from it.

    max_positions: maximum number of tokens of prompt and answer together. max_answer_tokens: rows with longer answers
    are skipped, because the reader answers in a few words.
    """

    def __init__(self, vocabulary: ReaderVocabulary, *, max_positions: int, max_answer_tokens: int = 24) -> None:
        self._vocabulary, self._positions, self._longest = vocabulary, max_positions, max_answer_tokens
        self._prompter = ReaderPrompter(vocabulary)

    def row(self, question: str, shown: Sequence[RetrievedChunk], answers: Sequence[str]) -> TokenRow | None:
        """See RowWriter."""
        vocabulary = self._vocabulary
        budget = self._positions - self._longest - 1
        if vocabulary.tokenizer.count(question) + 2 > budget:
            return None
        prompt = self._prompter.prompt(question, shown, budget)
        choices = [vocabulary.tokenizer.encode(answer.strip(" .")).token_ids for answer in answers]
        if shown and answers:
            # Only an answer whose tokens occur in the prompt can be copied. The text may contain it only as part of a
            # word ("no" in "know"), or in a chunk that did not fit.
            passages = prompt.token_ids[prompt.token_ids.index(vocabulary.separator) :]
            choices = [choice for choice in choices if _occurs(choice, passages)]
        elif not answers:
            choices = [(vocabulary.no_answer,)]
        if not choices or not 0 < len(choices[0]) <= self._longest:
            return None
        return TokenRow(prompt.token_ids, (*choices[0], vocabulary.separator))


def _occurs(ids: Sequence[int], inside: Sequence[int]) -> bool:
    return f" {' '.join(map(str, ids))} " in f" {' '.join(map(str, inside))} "
