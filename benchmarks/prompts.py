"""Comparison of prompts for a small model: the templates of docs/experiments/prompts on the sample questions.

    python -m benchmarks.prompts --model smollm2 --half choose     # the half on which the default was chosen
    python -m benchmarks.prompts --model smollm2 --half report     # the other half

The halves are fixed: questions with odd numbers choose, those with even numbers report. --every N takes each N-th
question of a half. Answers are greedy and judged by the same simple rule for every prompt. An answer is right if its
first sentence contains a reference as whole words and it does not decline. For an unanswerable question it is right if
it declines.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from app.models.shipped_decoder import decoder_folder
from app.pipeline import Pipeline
from app.retrieval.passages import Passages
from app.settings import Settings
from data.document_loader import load_documents
from data.question_loader import load_question_files
from data.questions import Question
from data.samples_paths import sample_corpus_path, sample_question_paths
from evaluation.evidence.passages import gold_chunks
from generation.causal.chat_format import chat_frame
from generation.causal.generator import CausalGenerator
from generation.causal.prompt import CausalPrompter
from generation.causal.prompt_template import read_prompt
from generation.decoding.params import SamplingParams
from generation.engine.options import EngineOptions
from generation.engine.precision import weight_precision
from generation.generator import GenerationTask
from model.checkpoints.tokenizer import Tokenizer
from model.hardware.device import pick_device
from retrieval.chunking.chunks import RetrievedChunk

PROMPTS = Path(__file__).parent.parent / "docs" / "experiments" / "prompts"
_DECLINES = re.compile(
    r"do(es)? not (answer|know|say|mention|contain|provide|specify)|don't know|"
    r"no (answer|information)|not (mentioned|specified|provided)",
    re.I,
)
_BATCH = 8


@dataclass(frozen=True, slots=True)
class Score:
    """Counts for one prompt and arm. words: mean number of words per answer. seconds: total time of all answers."""

    prompt: str
    arm: str
    answerable: int
    right: int
    declined: int
    unanswerable: int
    rightly_declined: int
    words: float
    seconds: float


def is_right(answer: str, references: Sequence[str]) -> bool:
    """Return whether the first sentence contains a reference as whole words and the answer does not decline."""
    first = re.split(r"(?<=[.!?])\s+(?=[A-Z])|\n", answer.strip(), maxsplit=1)[0]
    padded = f" {_words(first)} "
    return not _DECLINES.search(answer) and any(f" {_words(reference)} " in padded for reference in references)


def declines(answer: str) -> bool:
    """Return whether an answer declines."""
    return _DECLINES.search(answer) is not None


def half(questions: Sequence[Question], name: str, every: int) -> list[Question]:
    """Return a half of the questions: "choose" has those with odd numbers, "report" those with even numbers."""
    odd = name == "choose"
    return [q for q in questions if int(q.id.rsplit("-", 1)[1]) % 2 == odd][::every]


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+(?:[.,]\d+)*", text.lower()))


def main() -> None:
    """Print a JSON line for every prompt and arm."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--precision", default="bf16")
    parser.add_argument("--half", choices=("choose", "report"), default="choose")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--arms", nargs="+", choices=("gold", "rag"), default=["gold", "rag"])
    parser.add_argument("--max-tokens", type=int, default=32)
    parser.add_argument("--prompts", type=Path, nargs="*", default=sorted(PROMPTS.glob("*.jinja")))
    parser.add_argument("--answers", type=Path, default=None, help="also write every answer to this file")
    arguments = parser.parse_args()
    questions = half(load_question_files(sample_question_paths()), arguments.half, arguments.every)
    with TemporaryDirectory() as home, Pipeline(Settings(home=Path(home))) as pipeline:
        pipeline.index("samples", load_documents([sample_corpus_path()]))
        search = pipeline.search("samples")
        source = Passages(search.retriever)
        given: dict[str, list[list[RetrievedChunk]]] = {"gold": [], "rag": []}
        for question in questions:
            given["rag"].append(list(search.retrieve(question.text, 4)))
            given["gold"].append(_gold(question, source, given["rag"][-1]))
    folder = decoder_folder(arguments.model)
    precision = weight_precision(arguments.precision, pick_device("cpu"))
    generator = CausalGenerator(folder, precision=precision, options=EngineOptions())
    tokenizer, frame = Tokenizer.from_checkpoint(folder), chat_frame(folder)
    for path in arguments.prompts:
        prompter = CausalPrompter(tokenizer, frame, generator.context_length, read_prompt(path))
        for arm, passages in ((arm, given[arm]) for arm in arguments.arms):
            started, answers = perf_counter(), []
            params = SamplingParams(max_tokens=arguments.max_tokens)
            for start in range(0, len(questions), _BATCH):
                tasks = [
                    GenerationTask(prompter.prompt(q.text, chunks, params.max_tokens), params, (0,))
                    for q, chunks in zip(
                        questions[start : start + _BATCH], passages[start : start + _BATCH], strict=True
                    )
                ]
                answers += [drawn[0].text for drawn in generator.generate_many(tasks)]
            score = _score(path.stem, arm, questions, answers, perf_counter() - started)
            print(json.dumps({name: getattr(score, name) for name in Score.__slots__}), flush=True)
            if arguments.answers is not None:
                with arguments.answers.open("a") as file:
                    for question, answer in zip(questions, answers, strict=True):
                        file.write(
                            json.dumps({"prompt": path.stem, "arm": arm, "id": question.id, "answer": answer}) + "\n"
                        )


def _score(prompt: str, arm: str, questions: Sequence[Question], answers: Sequence[str], seconds: float) -> Score:
    pairs = list(zip(questions, answers, strict=True))
    answerable = [(q, a) for q, a in pairs if q.answerable]
    others = [a for q, a in pairs if not q.answerable]
    return Score(
        prompt,
        arm,
        len(answerable),
        sum(is_right(a, q.references) for q, a in answerable),
        sum(declines(a) for _, a in answerable),
        len(others),
        sum(map(declines, others)),
        round(sum(len(a.split()) for a in answers) / len(answers), 1),
        round(seconds, 1),
    )


def _gold(question: Question, source: Passages, ranked: Sequence[RetrievedChunk]) -> list[RetrievedChunk]:
    """Return the gold passages; for an unanswerable question, the retrieved passages."""
    chunks = gold_chunks(question, source, ranked)[:2] or tuple(hit.chunk for hit in ranked[:2])
    return [RetrievedChunk(chunk, 1.0, rank) for rank, chunk in enumerate(chunks, start=1)]


if __name__ == "__main__":
    main()
