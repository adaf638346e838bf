"""Check an embedded reader by computing it in several ways: cached, in chunks, padded, and in the engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from generation.decoding.params import SamplingParams
from generation.engine.core import Engine
from generation.engine.options import EngineOptions
from generation.engine.requests import EngineRequest
from generation.reader.probing import distributions
from generation.reader.vocabulary import reader_vocabulary
from model.checkpoints.checkpoint import stored_tensors
from model.checkpoints.facts import DecoderFacts, config_facts
from model.checkpoints.self_check import Comparison, SplitDifferences, tolerance
from model.decoder.attention import prefix_mask
from model.decoder.decoder import Decoder
from model.decoder.heads import HeadMemory, copyable_tokens
from model.decoder.packing import pack
from model.errors import ModelError
from model.reader.prefix_decoder import FIRST_COPYABLE_ID, NULL_ID, WEIGHTS, ReaderUse, load_prefix_decoder, reader_use

_QUESTION_TOKENS, _PASSAGE_TOKENS, _ANSWER_TOKENS = 8, 24, 8


@dataclass(frozen=True, slots=True)
class ReaderFindings:
    """The findings of a check.

    facts: description of the reader. use: how its probabilities are used. prompt_tokens: length of the prompt. split:
    largest differences of log-probabilities from one uncached pass over prompt and answer. engine: comparison of the
    engine with that pass, and of its greedy tokens with those of cached decoding. allowed: maximum difference that
    rounding explains.
    """

    facts: DecoderFacts
    use: ReaderUse
    prompt_tokens: int
    split: SplitDifferences
    engine: Comparison
    allowed: float


def inspect_reader(folder: Path, device: str, notify: Callable[[str], None]) -> ReaderFindings:
    """Load the reader of a folder and compute a short prompt in several ways. say: called with the name of each step.

    Raises ModelError if files are missing or damaged, or if the results are not finite.
    """
    notify("loading the reader")
    use = reader_use(folder)
    model = load_prefix_decoder(folder, device=device)
    facts = config_facts(
        model.config,
        family="plumbline reader",
        architecture="prefix decoder with a copying head",
        parameters=sum(parameter.numel() for parameter in model.parameters()),
        stored=tuple(sorted({tensor.dtype for tensor in stored_tensors(folder / WEIGHTS)})),
        dtypes=("float32",),
    )
    notify("computing it in several ways")
    prompt = _prompt()
    with torch.inference_mode():
        answer = _greedy(model, prompt)
        expected = _one_pass(model, prompt, answer)
        if not bool(torch.isfinite(expected).all()):
            raise ModelError(f"{folder}: it computes non-finite numbers: its weights are damaged")
        split = SplitDifferences(
            cached=_largest_difference(distributions(model, prompt, answer), expected),
            chunked=_largest_difference(_in_two_steps(model, prompt, answer), expected),
            padded=_largest_difference(_one_pass(model, prompt, answer, padded=True), expected),
        )
    allowed = tolerance(torch.float32, expected)
    notify("computing it in the engine")
    engine = _engine(model, prompt, answer, expected, allowed)
    return ReaderFindings(facts, use, len(prompt), split, engine, allowed)


def _prompt() -> tuple[int, ...]:
    """Return a prompt with a question and two passages of random tokens, some of which they share."""
    vocabulary = reader_vocabulary()
    generator = torch.Generator().manual_seed(1)
    count = _QUESTION_TOKENS + 2 * _PASSAGE_TOKENS
    drawn = torch.randint(FIRST_COPYABLE_ID, vocabulary.tokenizer.size, (count,), generator=generator).tolist()
    question, rest = drawn[:_QUESTION_TOKENS], drawn[_QUESTION_TOKENS:]
    ids = [vocabulary.begin, *question, vocabulary.separator]
    for number in range(2):
        passage = rest[number * _PASSAGE_TOKENS : (number + 1) * _PASSAGE_TOKENS]
        ids += [vocabulary.chunks[number], *passage, *question[number : number + 3], vocabulary.separator]
    return tuple(ids)


def _greedy(model: Decoder, prompt: tuple[int, ...]) -> tuple[int, ...]:
    answer: tuple[int, ...] = ()
    while len(answer) < _ANSWER_TOKENS:
        answer = (*answer, int(distributions(model, prompt, answer)[-1].argmax()))
    return answer


def _one_pass(model: Decoder, prompt: tuple[int, ...], answer: tuple[int, ...], *, padded: bool = False) -> Tensor:
    """Return log-probabilities (A + 1, V) from one pass without a cache.

    padded: whether to compute them in a batch with a longer sequence.
    """
    sequence = [*prompt, *answer]
    pad = 3 if padded else 0
    rows = [[*sequence[: len(prompt)], *sequence[1 : 1 + pad], *answer]] if padded else []
    ids = torch.tensor([*rows, [*sequence, *[0] * pad]], device=model.device)
    prompts = torch.tensor([*([len(prompt) + pad] if padded else []), len(prompt)], device=model.device)
    lengths = torch.tensor([*([len(sequence) + pad] if padded else []), len(sequence)], device=model.device)
    hidden = model(ids, mask=prefix_mask(prompts, lengths, ids.shape[1]), prompt_lengths=prompts)[-1:]
    return _heads(model, hidden[:, : len(prompt)], hidden[:, len(prompt) - 1 : len(sequence)], prompt, answer)


def _in_two_steps(model: Decoder, prompt: tuple[int, ...], answer: tuple[int, ...]) -> Tensor:
    """Return log-probabilities (A + 1, V) from a pass over the prompt, then one over the entire answer."""
    cache = model.new_cache(1, len(prompt) + len(answer))
    states = model(torch.tensor([prompt], device=model.device), cache)
    rest = model(torch.tensor([answer], device=model.device), cache)
    return _heads(model, states, torch.cat((states[:, -1:], rest), dim=1), prompt, answer)


def _heads(model: Decoder, states: Tensor, hidden: Tensor, prompt: tuple[int, ...], answer: tuple[int, ...]) -> Tensor:
    """Return log-probabilities (A + 1, V). states: (1, P, E), to copy from. hidden: (1, A + 1, E)."""
    ids = torch.tensor([prompt], device=model.device)
    copyable = copyable_tokens(ids, FIRST_COPYABLE_ID, NULL_ID)
    out = []
    for count in range(len(answer) + 1):
        answer_ids = torch.tensor([[*answer[:count], 0]], device=model.device) if count else None
        out.append(model.next_token(hidden[:, count], HeadMemory(states, ids, copyable, answer_ids)).logprobs[0])
    return torch.stack(out)


def _engine(
    model: Decoder, prompt: tuple[int, ...], answer: tuple[int, ...], expected: Tensor, allowed: float
) -> Comparison:
    """Return the comparison with the engine. Packs the weights, so that only the engine can use the model then."""
    pack(model)
    request = EngineRequest(
        prompt, SamplingParams(max_tokens=len(answer)), (0,), first_copyable_id=FIRST_COPYABLE_ID, null_id=NULL_ID
    )
    options = EngineOptions(memory_bytes=1 << 26, cache_bytes=0, invariant=True)
    (drawn,) = Engine(model, options).run([request])[0].samples
    equal = next((n for n, (a, b) in enumerate(zip(drawn.token_ids, answer, strict=True)) if a != b), len(answer))
    tie = equal < len(answer) and float(expected[equal].max() - expected[equal, drawn.token_ids[equal]]) <= 2 * allowed
    same = torch.tensor(drawn.token_logprobs[:equal])
    difference = _largest_difference(same, expected[range(equal), list(answer[:equal])].cpu()) if equal else 0.0
    return Comparison(difference, allowed, equal, len(answer), tie)


def _largest_difference(found: Tensor, expected: Tensor) -> float:
    return float((found - expected).abs().max())
