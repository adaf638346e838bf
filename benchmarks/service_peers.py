"""Peers of benchmarks/service_load.py: the same work called directly, and a plain handler."""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import torch
from fastapi import FastAPI

from app.answering.answer_parts import Answer, Timings, sources_of
from app.answers import QueryRequest, QueryResult
from app.pipeline import Pipeline
from app.service.engine.preparation import Preparation, PreparedQuery, QueryPreparer
from benchmarks.engine_peers import Shape
from benchmarks.service_clients import Times
from generation.causal.prompt_template import default_prompt
from generation.decoding.params import SamplingParams
from generation.generator import GenerationTask, generate_many


def direct(
    pipeline: Pipeline, collection: str, questions: Sequence[str], count: int, rounds: int, *, whole: bool = False
) -> Times:
    """Run the service's work without the service: search, prompts and answers for ``count`` concurrent questions.

    whole: whether to prepare queries as the service does, and also to serialise answers as JSON and store them.
    """
    preparing = QueryPreparer(pipeline)
    answers: list[float] = []
    begun = perf_counter()
    for turn in range(rounds):
        started = perf_counter()
        numbers = [number + turn * count for number in range(count)]
        texts = [questions[number % len(questions)] for number in numbers]
        if whole:
            _whole(pipeline, preparing, collection, texts, numbers)
        else:
            _drawn(pipeline, collection, texts, numbers)
        answers += [perf_counter() - started] * count
    return Times(perf_counter() - begun, tuple(answers))


def _drawn(pipeline: Pipeline, collection: str, texts: Sequence[str], seeds: Sequence[int]) -> None:
    retriever, generator = pipeline.retriever(collection), pipeline.generator
    results = retriever.retrieve_many(texts, 4)
    params = SamplingParams(max_tokens=32)
    prompts = [generator.prompt(text, chunks, 32) for text, chunks in zip(texts, results, strict=True)]
    tasks = [GenerationTask(prompt, params, (seed,)) for prompt, seed in zip(prompts, seeds, strict=True)]
    assert all(drawn[0].text for drawn in generate_many(generator, tasks))


def _whole(
    pipeline: Pipeline, preparing: QueryPreparer, collection: str, texts: Sequence[str], seeds: Sequence[int]
) -> None:
    requests = [
        QueryRequest(text, collection, params=SamplingParams(max_tokens=32, seed=s))
        for text, s in zip(texts, seeds, strict=True)
    ]
    ready = [
        one for one in preparing([Preparation(request, "") for request in requests]) if isinstance(one, PreparedQuery)
    ]
    tasks = [
        GenerationTask(one.prompt, request.params, (request.params.seed,))
        for one, request in zip(ready, requests, strict=True)
    ]
    completions = generate_many(pipeline.generator, tasks)
    results = [
        QueryResult(
            uuid.uuid4().hex,
            request,
            one.searched.collection,
            one.searched.generation,
            pipeline.generator.name,
            tuple(Answer(completion) for completion in drawn),
            sources_of(one.prompt, one.searched.locations),
            Timings(one.retrieval_s, 0.0),
            search=one.searched.settings,
        )
        for request, one, drawn in zip(requests, ready, completions, strict=True)
    ]
    assert all(json.dumps(result.to_json()) for result in results)
    pipeline.keep(results, [one.stored for one in ready])


def llama_folder(folder: Path, shape: Shape) -> Path:
    """Write a random Llama with this shape, and a small byte-level tokenizer. Returns the folder."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=shape.vocabulary,
        hidden_size=shape.width,
        intermediate_size=shape.inner,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.kv_heads,
        max_position_embeddings=shape.positions,
        bos_token_id=0,
        eos_token_id=1,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["<s>", "</s>"],
        show_progress=False,
    )
    tokenizer.train_from_iterator(["a question in a few words"], trainer)
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def generate_handler(folder: Path, tokens: int) -> FastAPI:
    """Return a minimal app that calls ``generate`` on the service's prompt, one request at a time."""
    from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast

    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))
    turn = threading.Lock()
    app = FastAPI()

    @app.post("/v1/query")
    def answer(body: dict[str, Any]) -> dict[str, str]:
        ids = tokenizer(default_prompt().turns(body["question"], ()).joined, return_tensors="pt").input_ids
        with turn, torch.inference_mode():
            torch.manual_seed(int(body["seed"]))
            drawn = model.generate(ids, max_new_tokens=tokens, do_sample=True, temperature=1.0, pad_token_id=1)
        return {"text": tokenizer.decode(drawn[0, ids.shape[1] :])}

    return app
