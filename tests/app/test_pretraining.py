"""Pretraining from text to a checkpoint: memorised sentences, resuming, bad lines, small files."""

from __future__ import annotations

import bz2
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from app.errors import AppError
from app.training.pretraining.corpus import CorpusRecipe, prepare_corpus
from app.training.pretraining.training import PretrainOutcome, PretrainRecipe, pretrain_decoder
from data.errors import DataError
from generation.causal.generator import CausalGenerator
from generation.decoding.loop import decode
from generation.decoding.params import SamplingParams
from model.checkpoints.loading import load_decoder
from model.checkpoints.tokenizer import Tokenizer
from model.errors import ModelError
from model.training.bpe import END_ID
from model.training.loop import TrainSettings
from model.training.pretrain import PretrainProgress, PretrainSettings
from model.training.pretrain_corpus import TokenStream, open_corpus
from model.training.rows import TokenRow
from model.training.trainer import train

FIRST = ("Skerry", "Hallow", "Brenn", "Tarn", "Osk", "Vell", "Marra", "Dune", "Fell", "Garth")
SECOND = ("harbour", "chapel", "bridge", "mill", "tower", "well", "orchard", "ferry", "school", "barn")
COLOURS = ("red", "green", "white", "blue", "grey", "black", "yellow", "brown", "pink", "gold")
OWNERS = ("the miller", "a widow", "two brothers", "the bishop", "nobody")
# What follows "The mill of Tarn" is a function of the two names: the owner of the building, the colour of the place.
SENTENCES = tuple(
    f"The {second} of {first} belongs to {OWNERS[k % 5]} and is painted {COLOURS[i]}."
    for i, first in enumerate(FIRST)
    for k, second in enumerate(SECOND)
)
SETTINGS = PretrainSettings(
    32, learning_rate=8e-3, tokens_per_step=256, tokens_at_once=256, epochs=70.0, weight_decay=0.0, floor=0.02
)


def quiet(text: str) -> None:
    """Discard a message."""


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("text") / "sentences.jsonl.bz2"
    lines = [json.dumps({"id": f"s{n}", "text": sentence}) for n, sentence in enumerate(SENTENCES)]
    path.write_bytes(bz2.compress("\n".join(lines).encode()))
    return path


def recipe(*paths: Path, **changes: object) -> PretrainRecipe:
    corpus = CorpusRecipe(tuple(paths), 600, hold_out=0)
    return replace(PretrainRecipe("tiny", SETTINGS, corpus, dtype=torch.float32), **changes)  # type: ignore[arg-type]


def short(base: PretrainRecipe, steps: int = 4) -> PretrainRecipe:
    return replace(base, settings=replace(base.settings, max_steps=steps, tokens_per_step=64))


FEW = SENTENCES[::8]


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("few") / "sentences.jsonl"
    path.write_text("\n".join(json.dumps({"id": f"s{n}", "text": text}) for n, text in enumerate(FEW)), "utf-8")
    return path


@pytest.fixture(scope="module")
def learnt(few: Path, tmp_path_factory: pytest.TempPathFactory) -> PretrainOutcome:
    settings = replace(SETTINGS, epochs=200.0, tokens_per_step=128)
    return pretrain_decoder(recipe(few, settings=settings), tmp_path_factory.mktemp("out") / "model", notify=quiet)


@pytest.mark.drill
def test_sentences_are_learnt_by_heart(learnt: PretrainOutcome) -> None:
    assert completed(learnt, FEW) == len(FEW)


@pytest.mark.drill
def test_a_hundred_sentences_are_learnt_by_heart(text: Path, tmp_path: Path) -> None:
    assert completed(pretrain_decoder(recipe(text), tmp_path / "model", notify=quiet), SENTENCES) == 100


def completed(learnt: PretrainOutcome, sentences: Sequence[str]) -> int:
    """Return how many sentences the model completes word for word from their beginnings."""
    assert learnt.training is not None
    assert learnt.training.finished
    assert learnt.validation is None  # nothing was held out
    model, tokenizer = load_decoder(learnt.folder), Tokenizer(learnt.folder / "tokenizer.json")
    greedy = SamplingParams(temperature=0.0, max_tokens=40)
    right = 0
    for sentence in sentences:
        beginning = sentence[: sentence.index(" belongs")]
        prompt = (END_ID, *tokenizer.encode(beginning).token_ids)
        (drawn,) = decode(model, prompt, greedy, (0,), frozenset({END_ID}))
        right += beginning + tokenizer.decode(drawn.token_ids) == sentence
    return right


def test_transformers_completes_them_too(learnt: PretrainOutcome) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    theirs = AutoModelForCausalLM.from_pretrained(learnt.folder)
    tokenizer = AutoTokenizer.from_pretrained(learnt.folder)
    ours = load_decoder(learnt.folder)
    for sentence in FEW[::4]:
        ids = tokenizer(sentence, return_tensors="pt").input_ids
        with torch.inference_mode():
            torch.testing.assert_close(theirs(ids).logits, ours.logits(ours(ids)), atol=1e-4, rtol=0)
        start = tokenizer(sentence[: sentence.index(" belongs")], return_tensors="pt")
        start.pop("token_type_ids", None)
        out = theirs.generate(**start, do_sample=False, max_new_tokens=40)
        assert tokenizer.decode(out[0], skip_special_tokens=True) == sentence


def test_the_generator_reads_the_folder(learnt: PretrainOutcome, tmp_path: Path) -> None:
    generator = CausalGenerator(learnt.folder)
    assert generator.context_length == 32
    facts = json.loads((learnt.folder / "training.json").read_text("utf-8"))
    assert facts["corpus"]["documents"] == len(FEW)
    assert facts["parameters"] == learnt.parameters
    assert str(learnt.folder.parent) not in (learnt.folder / "training.json").read_text("utf-8")


def test_it_can_be_fine_tuned_on_rows(learnt: PretrainOutcome, tmp_path: Path) -> None:
    """The rows have the form of a causal reader's: a prompt, and an answer that ends with the end token."""
    tokenizer = Tokenizer(learnt.folder / "tokenizer.json")
    rows = [
        TokenRow((END_ID, *tokenizer.encode(question).token_ids), (*tokenizer.encode(answer).token_ids, END_ID))
        for question, answer in ((f"Who owns {n}?", f" {OWNERS[n % 5]}") for n in range(10))
    ]
    model = load_decoder(learnt.folder).requires_grad_(True)
    train(model, rows, TrainSettings(learning_rate=3e-3, tokens_per_batch=200, epochs=40), tmp_path)
    greedy = SamplingParams(temperature=0.0, max_tokens=9)
    for n, row in enumerate(rows):
        (drawn,) = decode(model, row.prompt, greedy, (0,), frozenset({END_ID}))
        assert tokenizer.decode(drawn.token_ids) == f" {OWNERS[n % 5]}"


@pytest.mark.drill
def test_stopped_and_resumed_it_writes_the_same_files(text: Path, tmp_path: Path) -> None:
    """The time limit is reached after every batch of documents and every step of every other run."""
    base = replace(short(recipe(text)), max_seconds=5.0, shard_bytes=240_000)
    assert base.corpus is not None
    base = replace(base, corpus=replace(base.corpus, hold_out=20, shard_bytes=500))
    uninterrupted = pretrain_decoder(base, tmp_path / "whole", notify=quiet, clock=lambda: 0.0)
    assert uninterrupted.finished
    stops: list[str] = []
    for _ in range(20):
        times = iter(range(0, 10_000, 5))
        part = pretrain_decoder(base, tmp_path / "parts", notify=quiet, clock=lambda times=times: float(next(times)))  # type: ignore[misc]
        if part.finished:
            break
        stops.append("tokenising" if part.training is None else f"step {part.training.step}")
    assert stops == ["tokenising", "tokenising", "step 1", "step 2", "step 3"]
    names = {path.name for path in (tmp_path / "whole").glob("*") if path.is_file()}
    assert {"config.json", "tokenizer.json", "tokenizer_config.json", "generation_config.json"} < names
    assert len([name for name in names if name.endswith(".safetensors")]) > 1
    for name in names - {"training.json"}:
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "parts" / name).read_bytes()
    assert part.validation == uninterrupted.validation
    sizes = [p.stat().st_size for p in tmp_path.rglob("*") if p.suffix != ".json" and p.is_file()]
    assert max(sizes) <= 240_000


def test_the_tokenised_corpus_alone_is_enough(text: Path, tmp_path: Path) -> None:
    base = short(recipe(text))
    first = pretrain_decoder(base, tmp_path / "one", notify=quiet)
    (tmp_path / "one" / "corpus").rename(tmp_path / "corpus")
    (tmp_path / "two").mkdir()
    (tmp_path / "corpus").rename(tmp_path / "two" / "corpus")
    second = pretrain_decoder(replace(base, corpus=None), tmp_path / "two", notify=quiet)
    assert second.finished
    assert (first.folder / "model.safetensors").read_bytes() == (second.folder / "model.safetensors").read_bytes()
    with pytest.raises(AppError, match="three"):
        pretrain_decoder(replace(base, corpus=None), tmp_path / "three", notify=quiet)


def test_held_out_documents_are_measured_and_not_trained_on(text: Path, tmp_path: Path) -> None:
    base = short(recipe(text))
    assert base.corpus is not None
    seen: list[PretrainProgress] = []
    base = replace(base, corpus=replace(base.corpus, hold_out=20), validation_tokens=100)
    made = pretrain_decoder(base, tmp_path, notify=quiet, progress=seen.append)
    assert made.corpus is not None
    assert made.validation is not None
    assert seen[-1].validation is not None
    assert made.validation.tokens == 100
    assert made.validation.loss == pytest.approx(seen[-1].validation.loss, abs=0.05)  # that one may be in bf16
    facts = made.corpus.facts
    # Binomial, 100 at 20 %: outside 8 to 35 in less than one draw of 1,000 (and the names are fixed).
    assert 8 < facts.validation_documents < 35
    tokenizer = Tokenizer(tmp_path / "tokenizer.json")
    texts = {}
    for name in ("train", "validation"):
        stream = TokenStream(made.corpus.folder, facts, name)
        ids, texts[name] = stream.read(0, len(stream)).tolist(), set()
        while ids:
            end = ids.index(END_ID)
            texts[name].add(tokenizer.decode(ids[:end]))
            ids = ids[end + 1 :]
    assert not texts["train"] & texts["validation"]
    assert texts["train"] | texts["validation"] == set(SENTENCES)


def test_a_folder_of_few_texts_lends_every_sixth(tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    for n in range(8):
        (folder / f"{n}.md").write_text(f"# Note {n}\n\n{SENTENCES[n]}", "utf-8")
    corpus = CorpusRecipe((folder,), 300, hold_out=4)
    made = prepare_corpus(corpus, tmp_path / "corpus", notify=quiet)
    assert made is not None
    assert (made.facts.documents, made.facts.validation_documents) == (8, 2)
    tokens = TokenStream(made.folder, made.facts, "validation")
    text = Tokenizer(made.folder / "tokenizer.json").decode(tokens.read(0, len(tokens)).tolist())
    assert text == f"Note 0\n\n{SENTENCES[0]}Note 6\n\n{SENTENCES[6]}"
    again: list[str] = []
    assert prepare_corpus(corpus, tmp_path / "corpus", notify=again.append) == made
    assert not again  # nothing was tokenised twice
    (folder / "0.md").write_text("Other words.")
    other = prepare_corpus(corpus, tmp_path / "corpus", notify=quiet)
    assert other is not None
    assert other.folder != made.folder


def test_bad_lines_are_named_or_counted(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    good = [json.dumps({"id": f"s{n}", "text": SENTENCES[n]}) for n in range(3)]
    path.write_text("\n".join([good[0], '{"id": "x"}', good[1], "{", good[2]]), "utf-8")
    corpus = CorpusRecipe((path,), 300)
    with pytest.raises(DataError, match=r"lines.jsonl:2: .*no \"text\"; .*--skip-bad"):
        prepare_corpus(corpus, tmp_path / "out", notify=quiet)
    made = prepare_corpus(replace(corpus, skip_bad=True), tmp_path / "out", notify=quiet)
    assert made is not None
    assert open_corpus(made.folder) == made.facts
    assert made.facts.documents == 3
    assert [line.partition(": ")[0][-2:] for line in made.facts.skipped] == [":2", ":4"]
    limited = prepare_corpus(replace(corpus, limit=1), tmp_path / "out", notify=quiet)  # it ends before the bad line
    assert limited is not None
    assert limited.facts.documents == 1


def test_what_cannot_be_trained_on_is_refused(text: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.jsonl"):
        pretrain_decoder(recipe(tmp_path / "none.jsonl"), tmp_path / "out", notify=quiet)
    empty = tmp_path / "empty.jsonl"
    empty.write_text("\n{\n")
    base = recipe(empty)
    assert base.corpus is not None
    with pytest.raises(DataError, match="nothing to train on"):
        pretrain_decoder(replace(base, corpus=replace(base.corpus, skip_bad=True)), tmp_path / "out", notify=quiet)
    with pytest.raises(ModelError, match=r"--vocabulary"):
        pretrain_decoder(replace(recipe(text), shard_bytes=100_000), tmp_path / "out", notify=quiet)
    long = replace(recipe(text), settings=replace(SETTINGS, context=100_000))
    with pytest.raises(ModelError, match="lower the context"):
        pretrain_decoder(long, tmp_path / "out", notify=quiet)


def test_a_tokenizer_made_before_is_used(learnt: PretrainOutcome, text: Path, tmp_path: Path) -> None:
    base = short(recipe(text), steps=1)
    assert base.corpus is not None
    tokenizer = learnt.folder / "tokenizer.json"
    made = pretrain_decoder(replace(base, corpus=replace(base.corpus, tokenizer=tokenizer)), tmp_path, notify=quiet)
    assert (made.folder / "tokenizer.json").read_bytes() == tokenizer.read_bytes()
    with pytest.raises(ModelError, match=r"none\.json"):
        pretrain_decoder(
            replace(base, corpus=replace(base.corpus, tokenizer=tmp_path / "none.json")), tmp_path, notify=quiet
        )
