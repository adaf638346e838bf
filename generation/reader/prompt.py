"""Build the embedded reader's prompt: [CLS] question [SEP] [unused1] title : text [SEP] [unused2] ... [SEP].

It is the same in training and inference. Without chunks it is [CLS] question [SEP], and the reader guesses an answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from data.blank import is_blank
from generation.budget import fit_chunks
from generation.errors import ContextLengthError, GenerationError
from generation.prompt import Prompt, PromptChunk
from generation.reader.vocabulary import ReaderVocabulary
from retrieval.chunking.chunks import RetrievedChunk
from retrieval.chunking.sentences import sentence_spans

Source = tuple[int, int, int] | None
# As in the search index, so that a long title leaves space for the text.
_TITLE_CHARACTERS = 160


class ReaderPrompter:
    """Builds the reader's prompts."""

    def __init__(self, vocabulary: ReaderVocabulary) -> None:
        self._vocabulary = vocabulary
        # Recent texts are cached, because a chunk is counted before it is encoded, and shown many times in training.
        self._encode = lru_cache(maxsize=32768)(vocabulary.tokenizer.encode)
        self._colon = vocabulary.tokenizer.id_of(":")

    def prompt(self, question: str, chunks: Sequence[RetrievedChunk], budget: int) -> Prompt:
        """Build a prompt of at most ``budget`` tokens.

        Raises GenerationError if the question is empty or does not fit even without chunks.
        """
        if is_blank(question):
            raise GenerationError("the question is empty: enter a question")
        vocabulary, tokenizer = self._vocabulary, self._vocabulary.tokenizer
        encoded = tokenizer.encode(question)
        available = budget - len(encoded.token_ids) - 2
        if available < 0:
            raise ContextLengthError(
                f"the question has {len(encoded.token_ids)} tokens, but only {max(budget - 2, 0)} fit the context: "
                "shorten it or request fewer new tokens"
            )
        ids: list[int] = [vocabulary.begin, *encoded.token_ids, vocabulary.separator]
        sources: list[Source] = [None, *((0, start, end) for start, end in encoded.offsets), None]
        fit = fit_chunks(chunks, available, self._cost, _sentence_ends, limit=len(vocabulary.chunks))
        shown: list[PromptChunk] = []
        for number, fitted in enumerate(fit.shown, start=1):
            chunk = fitted.retrieved.chunk
            ids.append(vocabulary.chunks[number - 1])
            sources.append(None)
            for part, text in ((-number, chunk.title[:_TITLE_CHARACTERS]), (number, chunk.text[: fitted.end])):
                encoding = self._encode(text)
                ids.extend(encoding.token_ids)
                sources.extend((part, start, end) for start, end in encoding.offsets)
                if part < 0 and encoding.token_ids:
                    ids.append(self._colon)
                    sources.append(None)
            ids.append(vocabulary.separator)
            sources.append(None)
            shown.append(PromptChunk(number, fitted.retrieved, 0, fitted.end))
        return Prompt(question, tuple(shown), fit.omitted, tuple(ids), tuple(sources))

    def _cost(self, retrieved: RetrievedChunk, end: int) -> int:
        title = len(self._encode(retrieved.chunk.title[:_TITLE_CHARACTERS]).token_ids)
        return 2 + (title + 1 if title else 0) + len(self._encode(retrieved.chunk.text[:end]).token_ids)


def _sentence_ends(text: str) -> tuple[int, ...]:
    return tuple(span.end for span in sentence_spans(text))
