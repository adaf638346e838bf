"""Effect of one improbable token on the rest of an answer: python -m benchmarks.propagation --output FILE.svg.

The experiment measures the paper's neutral dynamics on the embedded reader. After a prompt, the words of a passage are
fed to the reader, once unchanged and once with the first answer token replaced by an improbable one. It measures the
distance of the final hidden states at each later step, with the same words fed to both. It also measures the singular
values of the Jacobian of a later state with respect to the embedding of the replaced token, and the verdict on the
reader's continuation. docs/experiments/propagation.md has the results. Nothing is timed; the last line is JSON.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor

from benchmarks.line_plots import Line, Panel, svg
from data.documents import Document
from data.loaders import load_documents, load_question_files
from data.questions import Question
from data.samples_paths import sample_corpus_path, sample_question_paths
from evaluation.claims.extraction import extract_claims
from evaluation.verifiers.reference_verifier import ReferenceVerifier
from evaluation.verifiers.verifier import VerificationItem
from generation.prompt import Prompt
from generation.reader.reader import EmbeddedReader
from generation.reader.vocabulary import reader_vocabulary
from model.decoder.cache import KVCache
from model.decoder.heads import HeadMemory, copyable_tokens
from model.reader.prefix_decoder import FIRST_COPYABLE_ID
from retrieval.chunking.chunks import Chunk, RetrievedChunk

LEVELS = (0.1, 0.01, 0.0001)
STEPS = 16
JACOBIAN_STEPS = (1, 4, 15)
_BEFORE, _AFTER = 300, 500  # characters of the passage around the answer
_LONGEST = 12  # tokens of an answer


@dataclass(frozen=True, slots=True)
class Case:
    """A question with its prompt. words: tokens of the passage from the answer on."""

    question: Question
    prompt: Prompt
    words: tuple[int, ...]


class _Joined(KVCache):
    """A cache that joins a prompt's keys and values to later ones without in-place writes, which cannot be
    differentiated.
    """

    def append(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        if not self.length:
            return super().append(layer, keys, values)
        kept = self.keys[layer, :, :, : self.length], self.values[layer, :, :, : self.length]
        return torch.cat((kept[0], keys), dim=2), torch.cat((kept[1], values), dim=2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, help="SVG to write")
    parser.add_argument("--questions", type=int, default=40)
    parser.add_argument("--jacobians", type=int, default=4, help="questions whose Jacobians are computed")
    given = parser.parse_args()
    torch.manual_seed(0)
    reader = EmbeddedReader()
    model = reader.model.eval()
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    cases = _cases(reader, given.questions)
    results: dict[str, object] = {"benchmark": "propagation", "questions": len(cases)}
    distances = {level: [d for c in cases if (d := _distances(reader, c, level)) is not None] for level in LEVELS}
    curves = {level: torch.stack(rows).median(dim=0).values for level, rows in distances.items() if rows}
    results["median_distance"] = {str(k): [round(float(v), 5) for v in row] for k, row in curves.items()}
    results["used"] = {str(level): len(rows) for level, rows in distances.items()}
    values = [_singular_values(reader, c) for c in cases[: given.jacobians]]
    singular = torch.stack(values).median(dim=0).values  # (steps, 3): largest, 10th, 100th
    results["singular_values"] = {
        str(k): [float(f"{v:.4g}") for v in row] for k, row in zip(JACOBIAN_STEPS, singular, strict=True)
    }
    results["verdicts"] = _verdicts(reader, cases)
    if given.output:
        given.output.write_text(svg(_panels(curves, singular)), encoding="utf-8")
    print(json.dumps(results))


def _cases(reader: EmbeddedReader, most: int) -> list[Case]:
    """Return answerable sample questions with one evidence span, each with only its passage in the prompt."""
    tokenizer = reader_vocabulary().tokenizer
    documents = {d.id: d for d in load_documents([sample_corpus_path()]) if isinstance(d, Document)}
    cases = []
    for question in load_question_files(sample_question_paths()):
        if len(question.evidence) != 1 or question.evidence[0].document_id not in documents:
            continue
        span = question.evidence[0]
        document = documents[span.document_id]
        start, end = max(0, span.start - _BEFORE), min(len(document.text), span.end + _AFTER)
        chunk = Chunk(document.id, start, end, document.text[start:end], document.title)
        words = tokenizer.encode(document.text[span.start : end]).token_ids
        prompt = reader.prompt(question.text, (RetrievedChunk(chunk, 1.0, 1),), 64)
        if len(words) > STEPS:
            cases.append(Case(question, prompt, tuple(words[: STEPS + 1])))
        if len(cases) == most:
            break
    return cases


def _memory(reader: EmbeddedReader, prompt: Prompt) -> tuple[HeadMemory, Tensor]:
    """Process the prompt. Returns the memory that the head copies from, and the last hidden state (1, E)."""
    ids = torch.tensor([prompt.token_ids])
    hidden = reader.model(ids, reader.model.new_cache(1, ids.shape[1]))
    null = reader_vocabulary().no_answer
    return HeadMemory(hidden, ids, copyable_tokens(ids, FIRST_COPYABLE_ID, null)), hidden[:, -1]


def _states(reader: EmbeddedReader, prompt: Prompt, words: Sequence[int]) -> Tensor:
    """Return the final hidden states of the words after the prompt: (T, E)."""
    model, ids = reader.model, torch.tensor([prompt.token_ids])
    cache = _Joined(model.config, 1, ids.shape[1], dtype=model.dtype, device=model.device)
    model(ids, cache)
    states: Tensor = model(torch.tensor([words]), cache)[0]
    return states


def _improbable(reader: EmbeddedReader, case: Case, level: float) -> int | None:
    """Return the most likely first token with a probability between a tenth of ``level`` and ``level``; None if there
    is none.
    """
    memory, last = _memory(reader, case.prompt)
    logprobs = reader.model.next_token(last, _due(memory, ())).logprobs[0].clone()
    logprobs[:FIRST_COPYABLE_ID] = -torch.inf  # special tokens are not words
    logprobs[case.words[0]] = -torch.inf
    probabilities = logprobs.exp()
    fitting = torch.where((probabilities <= level) & (probabilities >= level / 10), probabilities, -1.0)
    best = int(fitting.argmax())
    return best if float(fitting[best]) > 0 else None


def _due(memory: HeadMemory, drawn: Sequence[int]) -> HeadMemory:
    """Return the memory with the answer so far and a position for the next token."""
    return replace(memory, answer=torch.tensor([[*drawn, 0]]))


@torch.inference_mode()
def _distances(reader: EmbeddedReader, case: Case, level: float) -> Tensor | None:
    """Return |h'_t - h_t| / |h_t| at steps 0..STEPS - 1; step 0 is the replaced token. None if no token is so
    improbable.
    """
    other = _improbable(reader, case, level)
    if other is None:
        return None
    plain = _states(reader, case.prompt, case.words[:STEPS])
    forced = _states(reader, case.prompt, (other, *case.words[1:STEPS]))
    return (forced - plain).norm(dim=-1) / plain.norm(dim=-1)


def _singular_values(reader: EmbeddedReader, case: Case) -> Tensor:
    """Return the largest, 10th and 100th singular value of d h_{t+k} / d e_t: (steps, 3).

    e_t is the embedding of the first answer token. Values are scaled by |e_t| / |h_{t+k}| to compare relative changes.
    """
    model = reader.model
    width = model.config.hidden_size
    shift = torch.zeros(width, requires_grad=True)
    caches: list[Tensor] = []

    def moved(module: object, inputs: object, output: Tensor) -> Tensor:
        if output.shape[1] != STEPS:  # the prompt
            return output
        caches.append(output[0, 0].detach())
        return torch.cat((output[:, :1] + shift, output[:, 1:]), dim=1)

    hook = model.embedding.register_forward_hook(moved)
    try:
        states = _states(reader, case.prompt, case.words[:STEPS])
    finally:
        hook.remove()
    rows = []
    for k in JACOBIAN_STEPS:
        jacobian = torch.stack(
            [torch.autograd.grad(states[k, i], shift, retain_graph=True)[0] for i in range(width)]
        )  # (E, E)
        scale = caches[0].norm() / states[k].detach().norm()
        values = torch.linalg.svdvals(jacobian) * scale
        rows.append(values[torch.tensor([0, 9, 99])])
    return torch.stack(rows)


@torch.inference_mode()
def _verdicts(reader: EmbeddedReader, cases: Sequence[Case]) -> dict[str, dict[str, int]]:
    """Return the counts of verdicts on the reader's free answers, and on its answers after each forced first token."""
    result: dict[str, dict[str, int]] = {}
    for name, level in (("unforced", None), *((str(level), level) for level in LEVELS)):
        counts = {"supported": 0, "contradicted": 0, "unverifiable": 0, "nothing said": 0}
        for case in cases:
            first = None if level is None else _improbable(reader, case, level)
            if level is not None and first is None:
                continue
            text = reader_vocabulary().tokenizer.decode(_greedy(reader, case.prompt, first))
            claims = extract_claims(text).claims
            if not claims:
                counts["nothing said"] += 1
                continue
            (verdict,) = ReferenceVerifier().verify([VerificationItem(case.question, claims, text)])[0]
            counts[verdict.label] = counts.get(verdict.label, 0) + 1
        result[name] = counts
    return result


def _greedy(reader: EmbeddedReader, prompt: Prompt, first: int | None) -> list[int]:
    """Return the most likely answer. first: a forced first token, or None.

    Refusals are excluded, since they would end both answers at once.
    """
    model, ids = reader.model, torch.tensor([prompt.token_ids])
    cache = model.new_cache(1, ids.shape[1] + _LONGEST)
    hidden = model(ids, cache)
    vocabulary = reader_vocabulary()
    memory = HeadMemory(hidden, ids, copyable_tokens(ids, FIRST_COPYABLE_ID, vocabulary.no_answer))
    drawn: list[int] = []
    last = hidden[:, -1]
    while len(drawn) < _LONGEST:
        logprobs = model.next_token(last, _due(memory, drawn)).logprobs[0].clone()
        logprobs[vocabulary.no_answer] = -torch.inf
        token = first if first is not None and not drawn else int(logprobs.argmax())
        if token == vocabulary.separator:
            break
        drawn.append(token)
        last = model(torch.tensor([[token]]), cache)[:, -1]
    return drawn


def _panels(curves: dict[float, Tensor], singular: Tensor) -> list[Panel]:
    distance = [
        Line(f"probability about {level:g}", tuple((float(k), max(float(v), 1e-6)) for k, v in enumerate(row) if k))
        for level, row in curves.items()
    ]
    names = ("largest", "10th", "100th")
    values = [
        Line(f"{name} singular value", tuple(zip(map(float, JACOBIAN_STEPS), map(float, singular[:, i]), strict=True)))
        for i, name in enumerate(names)
    ]
    return [
        Panel("Relative distance of the final state", "steps after the forced token", tuple(distance)),
        Panel("Jacobian by the forced token's embedding", "steps after it", tuple(values)),
    ]


if __name__ == "__main__":
    main()
