"""Log-likelihoods of answers equal those computed token by token, and include the reader's own answer."""

from __future__ import annotations

import pytest
import torch

from generation.prompt import Prompt
from generation.reader.answer_likelihood import MAX_TOKENS, answer_likelihoods
from generation.reader.probing import distributions, force_answer
from generation.reader.reader import EmbeddedReader
from model.reader.prefix_decoder import ReaderUse
from retrieval.chunking.chunks import Chunk, RetrievedChunk

_TEXT = "The Skellwick works opened in 1931. Its first director was Ada Thorne, who had built clocks in Leeds."
_ANSWERS = ("Ada Thorne", "1931", "clocks in Leeds", "a rocket")


@pytest.fixture(scope="module")
def reader() -> EmbeddedReader:
    """Return the shipped reader with another temperature."""
    return EmbeddedReader().with_use(ReaderUse(1.3, -2.0))


def _prompt(reader: EmbeddedReader, question: str, text: str = _TEXT) -> Prompt:
    return reader.prompt(question, (RetrievedChunk(Chunk("works", 0, len(text), text, ""), 1.0, 1),), MAX_TOKENS)


@pytest.mark.parametrize("question", ("Who was the first director?", "What does a ticket to Oslo cost?"))
def test_log_probabilities_are_those_of_its_distributions(reader: EmbeddedReader, question: str) -> None:
    prompt, encode = _prompt(reader, question), reader.vocabulary.tokenizer.encode
    answers = [encode(answer).token_ids for answer in _ANSWERS]
    found = answer_likelihoods(reader, prompt, answers)
    for ids, logprob in zip(answers, found.logprobs, strict=True):
        with torch.inference_mode():
            plain = torch.log_softmax(distributions(reader.model, prompt.token_ids, ids) / 1.3, dim=-1)
        targets = [*ids, reader.vocabulary.separator]
        assert logprob == pytest.approx(float(plain[range(len(targets)), targets].sum()), abs=1e-4)
    assert answer_likelihoods(reader, prompt, answers[1:2]).logprobs == pytest.approx(found.logprobs[1:2], abs=1e-6)


def test_its_own_answer_is_what_it_says_when_it_may_not_decline(reader: EmbeddedReader) -> None:
    for question in ("Who was the first director?", "What does a ticket to Oslo cost?"):
        prompt = _prompt(reader, question)
        found = answer_likelihoods(reader, prompt, [])
        assert found.own == force_answer(reader, prompt).completion.token_ids
        assert found.own_logprob == answer_likelihoods(reader, prompt, [found.own]).logprobs[0]


def test_what_the_passage_answers_is_likelier_than_what_it_does_not(reader: EmbeddedReader) -> None:
    encode = reader.vocabulary.tokenizer.encode
    answers = [encode(answer).token_ids for answer in _ANSWERS]
    found = answer_likelihoods(reader, _prompt(reader, "Who was the first director?"), answers).logprobs
    assert found[0] == max(found)
    declined = answer_likelihoods(
        reader, _prompt(reader, "Who was the first director?", "Ada Thorne liked tea."), answers[:1]
    )
    assert declined.logprobs[0] < found[0]


def test_answers_of_no_or_too_many_tokens_are_refused(reader: EmbeddedReader) -> None:
    prompt = _prompt(reader, "Who?")
    for answer in ((), (2000,) * MAX_TOKENS):
        with pytest.raises(ValueError, match=r"1 to 31"):
            answer_likelihoods(reader, prompt, [answer])
