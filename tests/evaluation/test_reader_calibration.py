"""When a reader declines, and how its probabilities are tempered: by hand, and on the shipped reader."""

from __future__ import annotations

import pytest

from evaluation.declining.refusals import is_refusal
from evaluation.errors import EvaluationError
from evaluation.reading.calibration import ProbedExample, choose_null_bias, fit_temperature
from generation.decoding.params import SamplingParams
from generation.reader.probing import distributions, force_answer
from generation.reader.reader import EmbeddedReader
from model.reader.prefix_decoder import ReaderUse
from model.training.rows import TokenRow
from retrieval.chunking.chunks import Chunk, RetrievedChunk

_TEXT = "The Skellwick works opened in 1931. Its first director was Ada Thorne, who had built clocks in Leeds."
_QUESTIONS = ("When did the Skellwick works open?", "Who was the first director?", "What does a ticket to Oslo cost?")


@pytest.fixture(scope="module")
def reader() -> EmbeddedReader:
    """The shipped reader, its probabilities untouched."""
    return EmbeddedReader().with_use(ReaderUse())


def _chunks() -> tuple[RetrievedChunk, ...]:
    return (RetrievedChunk(Chunk("works", 0, len(_TEXT), _TEXT, "Skellwick"), 1.0, 1),)


def test_the_null_bias_with_the_largest_sum_by_hand() -> None:
    """Right answers at margins 2 and -1, a wrong one at -2; nothing to answer at margins 1 and -3.

    Between -2 and -1 the F1 is 2/3 and one of two refusals is right: 7/6. Above 1: 1/3 + 1 = 4/3, the best.
    """
    probed = [ProbedExample(True, 1.0, 2.0), ProbedExample(True, 1.0, -1.0), ProbedExample(True, 0.0, -2.0)]
    probed += [ProbedExample(False, 0.0, 1.0), ProbedExample(False, 0.0, -3.0)]
    found = choose_null_bias(probed)
    assert 1.0 < found.null_bias < 2.0
    assert found.f1 == pytest.approx(1 / 3)
    assert found.no_answer_accuracy == 1.0


def test_of_equal_null_biases_the_one_that_answers_more() -> None:
    """Every cut below the only good margin gives the same sum; the lowest is chosen."""
    found = choose_null_bias([ProbedExample(True, 1.0, 0.0), ProbedExample(False, 0.0, 0.0)])
    assert found.null_bias < 0.0
    assert found.f1 == 1.0


def test_a_null_bias_needs_both_kinds() -> None:
    """Nothing unanswerable, nothing to choose on."""
    with pytest.raises(EvaluationError, match="unanswerable"):
        choose_null_bias([ProbedExample(True, 1.0, 0.0)])


@pytest.mark.parametrize("question", _QUESTIONS)
def test_it_declines_exactly_above_its_margin(reader: EmbeddedReader, question: str) -> None:
    """The margin is where the bias turns the answer into a refusal."""
    prompt = reader.prompt(question, _chunks(), 16)
    found = force_answer(reader, prompt, 16)
    assert not is_refusal(found.completion.text)
    for offset, refused in ((-0.01, False), (0.01, True)):
        biased = reader.with_null_bias(found.margin + offset)
        completion = biased.generate(prompt, SamplingParams(max_tokens=16), (0,))[0]
        assert is_refusal(completion.text) is refused
        if not refused:
            assert completion.text == found.completion.text


def test_a_bias_leaves_answers_without_passages_alone(reader: EmbeddedReader) -> None:
    """closed_book answers at its own risk."""
    prompt = reader.prompt(_QUESTIONS[0], (), 16)
    plain = reader.generate(prompt, SamplingParams(max_tokens=16), (0,))[0]
    biased = reader.with_null_bias(50.0).generate(prompt, SamplingParams(max_tokens=16), (0,))[0]
    assert biased == plain


def test_tempered_logprobs_are_those_of_the_distribution_drawn_from(reader: EmbeddedReader) -> None:
    """log p / T renormalised, step by step, for the tokens that were drawn."""
    prompt = reader.prompt(_QUESTIONS[1], _chunks(), 16)
    hot = reader.with_use(ReaderUse(1.7)).generate(prompt, SamplingParams(max_tokens=16), (0,))[0]
    rows = distributions(reader.model, prompt.token_ids, hot.token_ids[:-1])
    for token, logprob, row in zip(hot.token_ids, hot.token_logprobs, rows, strict=True):
        assert logprob == pytest.approx(float((row / 1.7).log_softmax(-1)[token]), abs=1e-4)


def test_the_temperature_has_the_least_loss_of_those_tried(reader: EmbeddedReader) -> None:
    """And the loss at 1 is the plain one."""
    prompt = reader.prompt(_QUESTIONS[0], _chunks(), 16)
    answer = reader.generate(prompt, SamplingParams(max_tokens=16), (0,))[0].token_ids
    row = TokenRow(prompt.token_ids, answer)
    found = fit_temperature(reader, [row])
    plain = distributions(reader.model, row.prompt, row.answer[:-1])
    loss = -float(sum(plain[i][token] for i, token in enumerate(answer))) / len(answer)
    assert found.loss_before == pytest.approx(loss, abs=1e-4)  # the mixture sums to 1 within rounding
    # What it would say greedily grows likelier with every fall of the temperature.
    assert found.temperature == 0.5
    assert found.loss_after < found.loss_before
    with pytest.raises(EvaluationError, match="held-out"):
        fit_temperature(reader, [])
