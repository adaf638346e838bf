"""Tiny random classifiers written by transformers: labels by name, order, windows, batches, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

from app.cli import main
from model.errors import ModelError
from model.pairs.foreign_scorer import ForeignPairScorer, supporting_label
from model.pairs.scoring import Pair

MakeBert = Callable[..., Path]
WORDS = ["the", "cable", "is", "long", "short", "red", "of", "Heron", "twelve", "metres", "a", "lamp", "it", "what"]


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> MakeBert:
    """(labels, positions) -> folder of a random BERT classifier with a word-level tokenizer."""

    def make(labels: Sequence[str] = ("contradiction", "entailment", "neutral"), positions: int = 32) -> Path:
        folder = tmp_path_factory.mktemp("bert")
        vocabulary = {word: n for n, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS])}
        raw = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
        raw.pre_tokenizer = pre_tokenizers.Whitespace()
        raw.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]",
            pair="[CLS] $A [SEP] $B:1 [SEP]:1",
            special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
        )
        PreTrainedTokenizerFast(
            tokenizer_object=raw,
            pad_token="[PAD]",
            unk_token="[UNK]",
            cls_token="[CLS]",
            sep_token="[SEP]",
            model_max_length=512,
            model_input_names=["input_ids", "token_type_ids", "attention_mask"],
        ).save_pretrained(folder)
        config = BertConfig(
            vocab_size=len(vocabulary),
            hidden_size=16,
            intermediate_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            max_position_embeddings=positions,
            id2label=dict(enumerate(labels)),
            label2id={name: n for n, name in enumerate(labels)},
            initializer_range=1.0,
        )
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(3)
            BertForSequenceClassification(config).save_pretrained(folder)
        return folder

    return make


CLAIM, EVIDENCE = "the cable is red", "the cable of Heron is twelve metres long"


def by_hand(folder: Path, first: str, second: str) -> torch.Tensor:
    """Logits of [CLS] first [SEP] second [SEP], token by token."""
    model = BertForSequenceClassification.from_pretrained(folder).eval()
    ids = [[2] + [WORDS.index(w) + 4 for w in text.split()] + [3] for text in (first, second)]
    both = torch.tensor([ids[0] + ids[1][1:]])
    types = torch.tensor([[0] * len(ids[0]) + [1] * (len(ids[1]) - 1)])
    with torch.inference_mode():
        return model(both, token_type_ids=types).logits[0]


def test_support_is_the_chance_of_the_supporting_label(bert: MakeBert) -> None:
    folder = bert()
    (found,) = ForeignPairScorer(str(folder)).score([Pair(EVIDENCE, CLAIM)])
    assert found == pytest.approx(float(torch.softmax(by_hand(folder, EVIDENCE, CLAIM), -1)[1]), abs=1e-5)
    (turned,) = ForeignPairScorer(str(folder), claim_first=True).score([Pair(EVIDENCE, CLAIM)])
    assert turned == pytest.approx(float(torch.softmax(by_hand(folder, CLAIM, EVIDENCE), -1)[1]), abs=1e-5)
    assert abs(turned - found) > 1e-4


def test_a_single_logit_goes_through_a_sigmoid(bert: MakeBert) -> None:
    folder = bert(["LABEL_0"])
    (found,) = ForeignPairScorer(str(folder)).score([Pair(EVIDENCE, CLAIM)])
    assert found == pytest.approx(float(torch.sigmoid(by_hand(folder, EVIDENCE, CLAIM))[0]), abs=1e-5)


def test_a_short_claim_is_read_with_its_question(bert: MakeBert) -> None:
    scorer = ForeignPairScorer(str(bert()))
    pairs = [Pair(EVIDENCE, "red", "what lamp is it"), Pair(EVIDENCE, "what lamp is it red"), Pair(EVIDENCE, "red")]
    with_question, written, bare = scorer.score(pairs)
    assert with_question == pytest.approx(written, abs=1e-6)
    assert abs(with_question - bare) > 1e-4


def test_batches_repetitions_and_order_do_not_change_scores(bert: MakeBert) -> None:
    scorer = ForeignPairScorer(str(bert()))
    pairs = [Pair(" ".join(WORDS[: 1 + n % 9]), " ".join(WORDS[n % 5 : n % 5 + 2])) for n in range(40)]
    seen: list[tuple[int, int]] = []
    together = scorer.score(pairs, lambda done, total: seen.append((done, total)))
    assert together == pytest.approx([scorer.score([pair])[0] for pair in pairs], abs=1e-5)
    assert seen[-1] == (40, 40)
    assert scorer.score([]) == ()


def test_room_and_long_texts(bert: MakeBert) -> None:
    scorer = ForeignPairScorer(str(bert(positions=32)))
    assert scorer.count(["the cable [SEP] is", ""]) == [6, 0]  # "[SEP]" in a text is three tokens of text
    assert scorer.room("the cable") == 32 - 3 - 2
    assert scorer.room("the " * 500) == 32 - 3 - 14  # half of what is left
    long = scorer.score([Pair("cable " * 500, "the " * 500), Pair("cable " * 15, "the " * 14)])
    assert long[0] == pytest.approx(long[1], abs=1e-6)
    with pytest.raises(ModelError, match="claim is empty"):
        scorer.score([Pair("x", " ")])


def test_fingerprints_follow_weights_order_and_label(bert: MakeBert) -> None:
    folder = str(bert())
    scorers = [
        ForeignPairScorer(folder),
        ForeignPairScorer(folder, claim_first=True),
        ForeignPairScorer(folder, label="neutral"),
        ForeignPairScorer(str(bert(["entailment", "other"]))),
    ]
    assert len({scorer.fingerprint for scorer in scorers}) == 4
    assert ForeignPairScorer(folder).fingerprint == scorers[0].fingerprint
    assert all(len(scorer.name) <= 120 for scorer in scorers)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["entailment", "neutral", "contradiction"], 0),
        (["CONTRADICTION", "ENTAILMENT"], 1),
        (["entailment", "not_entailment"], 0),
        (["hallucinated", "consistent"], 1),
        (["Not Supported", "Supported"], 1),
        (["LABEL_0", "LABEL_1"], 1),
        (["anything"], 0),
    ],
)
def test_labels_by_name(labels: list[str], expected: int) -> None:
    assert supporting_label(dict(enumerate(labels)), len(labels), "here") == expected


@pytest.mark.parametrize(
    "labels",
    [["LABEL_0", "LABEL_1", "LABEL_2"], ["good", "bad"], ["entailment", "supported"], ["positive", "negative"]],
)
def test_unclear_labels_are_named(labels: list[str]) -> None:
    names = dict(enumerate(labels))
    with pytest.raises(ModelError, match=rf"here.*{', '.join(labels)}") as refused:
        supporting_label(names, len(labels), "here")
    assert refused.value.parameter == "supported_label"
    assert supporting_label(names, len(labels), "here", labels[1].upper()) == 1
    with pytest.raises(ModelError, match="no label 'x'"):
        supporting_label(names, len(labels), "here", "x")


def test_folders_that_are_refused(bert: MakeBert, tmp_path: Path) -> None:
    (tmp_path / "pytorch_model.bin").write_bytes(b"x")
    with pytest.raises(ModelError, match=r"no \*\.safetensors"):
        ForeignPairScorer(str(tmp_path))
    folder = bert()
    (folder / "model.safetensors").write_bytes(b"damaged")
    with pytest.raises(ModelError, match="cannot be loaded"):
        ForeignPairScorer(str(folder))
    folder = bert()
    config = json.loads((folder / "config.json").read_text())
    config["auto_map"] = {"AutoModelForSequenceClassification": "evil.Model"}
    config["model_type"] = "unheard-of"
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "evil.py").write_text("raise SystemExit('ran')")
    with pytest.raises(ModelError, match="cannot be loaded"):
        ForeignPairScorer(str(folder))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"num_hidden_layers": 10**9}, r"config\.json: num_hidden_layers is 1000000000: at most 1,024"),
        ({"num_labels": 10**9}, r"num_labels is 1000000000: at most 100,000"),
        ({"deep": {"er": {"n_layers": 10**9}}}, r"deep\.er\.n_layers is 1000000000"),
        ({"vocab_size": 10**7, "hidden_size": 4096}, r"million parameters, its files of 0\.\d MB cannot hold them"),
    ],
)
def test_a_config_larger_than_its_files_takes_no_memory(
    bert: MakeBert, fields: dict[str, object], message: str
) -> None:
    folder = bert()
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | fields))
    with pytest.raises(ModelError, match=message):
        ForeignPairScorer(str(folder))
    (folder / "config.json").write_text("[" * 100_000)
    with pytest.raises(ModelError, match=r"its config\.json"):
        ForeignPairScorer(str(folder))


def test_the_command_line_evaluates_one(bert: MakeBert, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {"evidence": EVIDENCE, "claim": f"the cable {word}", "supported": n % 2 == 0} for n, word in enumerate(WORDS)
    ]
    (tmp_path / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    command = ["model", "eval", str(bert()), "--data", str(tmp_path / "pairs.jsonl"), "--json"]
    assert main(command) == 0
    found = json.loads(capsys.readouterr().out)
    assert main([*command, "--claim-first"]) == 0
    turned = json.loads(capsys.readouterr().out)
    assert (found["n"], len(found["fingerprint"])) == (len(WORDS), 64)
    assert found["fingerprint"] != turned["fingerprint"]
    assert main([*command[:2], str(bert(["good", "bad"])), *command[3:]]) == 1
    assert "good, bad" in " ".join(capsys.readouterr().err.split())
