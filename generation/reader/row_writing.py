"""A question, the chunks shown for it and its answers as one training row of the embedded reader."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from generation.reader.prompt import ReaderPrompter
from generation.reader.vocabulary import ReaderVocabulary
from model.training.rows import TokenRow
from retrieval.chunking.chunks import RetrievedChunk


class RowWriter(Protocol):
    """Writes rows as one kind of model is asked: reader_rows draws what is shown, a writer says it in tokens."""

    def row(self, question: str, shown: Sequence[RetrievedChunk], answers: Sequence[str]) -> TokenRow | None:
        """The row; None where it could teach nothing right (too long, or the answer does not stand in what is shown).

        answers: right ones, best first; empty where what is shown does not answer, which is to be said.
        """
        ...


class ReaderRowWriter:
    """Rows of the prefix decoder: the prompt of generation.reader.prompt, an answer that is copied token by token.

    max_positions: of prompt and answer together. max_answer_tokens: longer answers are left out (the reader answers in
    a few words).
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
            # Only an answer that stands in what is shown, token for token, teaches copying. What looked like one may
            # be part of a word ("no" in "know"), or in a chunk that the budget left out.
            passages = prompt.token_ids[prompt.token_ids.index(vocabulary.separator) :]
            choices = [choice for choice in choices if _stands(choice, passages)]
        elif not answers:
            choices = [(vocabulary.no_answer,)]
        if not choices or not 0 < len(choices[0]) <= self._longest:
            return None
        return TokenRow(prompt.token_ids, (*choices[0], vocabulary.separator))


def _stands(ids: Sequence[int], inside: Sequence[int]) -> bool:
    return f" {' '.join(map(str, ids))} " in f" {' '.join(map(str, inside))} "
