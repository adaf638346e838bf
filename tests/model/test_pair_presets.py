"""Families of pair classifiers, as tiny random checkpoints of their shapes: what they are fed, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertForSequenceClassification,
    DebertaV2Config,
    DebertaV2ForSequenceClassification,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForSequenceClassification,
)

from model.errors import ModelError
from model.pairs.foreign_scorer import ForeignPairScorer
from model.pairs.presets import preset_from_name, read_preset
from model.pairs.scoring import Pair

Make = Callable[..., Path]
WORDS = ["the", "cable", "is", "long", "short", "red", "of", "Heron", "twelve", "metres", "a", "lamp", "it", "what"]
EVIDENCE, CLAIM = "the cable of Heron is twelve metres long", "the cable is red"
SHAPES = {
    "bert": (BertConfig, BertForSequenceClassification, ("[CLS]", "[SEP]"), ("[SEP]",), 1),
    "deberta": (DebertaV2Config, DebertaV2ForSequenceClassification, ("[CLS]", "[SEP]"), ("[SEP]",), 1),
    "roberta": (RobertaConfig, RobertaForSequenceClassification, ("<s>", "</s>"), ("</s>", "</s>"), 0),
}


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory) -> Make:
    """(shape, labels, folder's name) -> folder of a random classifier with that family's tokens around a pair."""

    def made(shape: str, labels: Sequence[str], name: str = "model") -> Path:
        folder = tmp_path_factory.mktemp("preset") / name
        config_class, model_class, (begin, end), between, second = SHAPES[shape]
        special = ["<pad>", "<unk>", begin, end]
        vocabulary = {word: n for n, word in enumerate([*special, *WORDS])}
        raw = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
        raw.pre_tokenizer = pre_tokenizers.Whitespace()
        raw.post_processor = processors.TemplateProcessing(
            single=f"{begin} $A {end}",
            pair=f"{begin} $A {' '.join(between)} $B:{second} {end}:{second}",
            special_tokens=[(begin, 2), (end, 3)],
        )
        inputs = ["input_ids", "attention_mask"] + (["token_type_ids"] if second else [])
        PreTrainedTokenizerFast(
            tokenizer_object=raw,
            pad_token="<pad>",
            unk_token="<unk>",
            cls_token=begin,
            sep_token=end,
            eos_token=end,
            bos_token=begin,
            model_max_length=512,
            model_input_names=inputs,
        ).save_pretrained(folder)
        config = config_class(
            vocab_size=len(vocabulary),
            hidden_size=16,
            intermediate_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            max_position_embeddings=34,
            type_vocab_size=2 if second else 1,
            pad_token_id=0,
            id2label=dict(enumerate(labels)),
            label2id={label: n for n, label in enumerate(labels)},
            initializer_range=1.0,
        )
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(3)
            model_class(config).save_pretrained(folder)
        return folder

    return made


def by_hand(folder: Path, shape: str, ids: Sequence[int], types: Sequence[int]) -> torch.Tensor:
    """Logits of these tokens from transformers' own class."""
    model = SHAPES[shape][1].from_pretrained(folder).eval()
    more = {"token_type_ids": torch.tensor([types])} if SHAPES[shape][4] else {}
    with torch.inference_mode():
        return model(torch.tensor([ids]), attention_mask=torch.ones(1, len(ids), dtype=torch.long), **more).logits[0]


def words(text: str) -> list[int]:
    return [WORDS.index(word) + 4 for word in text.split()]


@pytest.mark.parametrize("shape", list(SHAPES))
def test_any_order_and_spelling_of_nli_labels(make: Make, shape: str) -> None:
    for labels, place in ((["Neutral", "ENTAILMENT", "contradiction"], 1), (["entails", "not-entailed", "neutral"], 0)):
        folder = make(shape, labels)
        between = [3] * len(SHAPES[shape][3])
        ids = [2, *words(EVIDENCE), *between, *words(CLAIM), 3]
        types = [0] * (1 + len(words(EVIDENCE)) + len(between)) + [1] * (len(words(CLAIM)) + 1)
        expected = torch.softmax(by_hand(folder, shape, ids, types), -1)[place]
        (found,) = ForeignPairScorer(f"nli:{folder}").score([Pair(EVIDENCE, CLAIM)])
        assert found == pytest.approx(float(expected), abs=1e-5)
        assert ForeignPairScorer(str(folder)).score([Pair(EVIDENCE, CLAIM)]) == (found,)


@pytest.mark.parametrize("shape", ["deberta", "roberta"])
def test_minicheck_reads_one_text_joined_by_the_end_token(make: Make, shape: str) -> None:
    folder = make(shape, ["LABEL_0", "LABEL_1"])
    ids = [2, *words(EVIDENCE), 3, *words(CLAIM), 3]
    expected = torch.softmax(by_hand(folder, shape, ids, [0] * len(ids)), -1)[1]
    (found,) = ForeignPairScorer(f"minicheck:{folder}").score([Pair(EVIDENCE, CLAIM)])
    assert found == pytest.approx(float(expected), abs=1e-5)
    minicheck = make(shape, ["LABEL_0", "LABEL_1"], "MiniCheck-Large")
    assert ForeignPairScorer(str(minicheck)).score([Pair(EVIDENCE, CLAIM)]) == (found,)
    assert abs(found - ForeignPairScorer(str(folder)).score([Pair(EVIDENCE, CLAIM)])[0]) > 1e-4


def test_hhem_is_one_logit_and_alignscore_the_first_of_three(make: Make) -> None:
    folder = make("deberta", ["LABEL_0"], "hhem-1.0-open")
    ids = [2, *words(EVIDENCE), 3, *words(CLAIM), 3]
    types = [0] * (2 + len(words(EVIDENCE))) + [1] * (len(words(CLAIM)) + 1)
    logit = by_hand(folder, "deberta", ids, types)
    (found,) = ForeignPairScorer(str(folder)).score([Pair(EVIDENCE, CLAIM)])
    assert found == pytest.approx(float(torch.sigmoid(logit)[0]), abs=1e-5)
    unnamed = make("roberta", ["LABEL_0", "LABEL_1", "LABEL_2"])
    ids = [2, *words(EVIDENCE), 3, 3, *words(CLAIM), 3]
    expected = torch.softmax(by_hand(unnamed, "roberta", ids, [0] * len(ids)), -1)[0]
    (found,) = ForeignPairScorer(f"alignscore:{unnamed}").score([Pair(EVIDENCE, CLAIM)])
    assert found == pytest.approx(float(expected), abs=1e-5)
    with pytest.raises(ModelError, match="label that means"):
        ForeignPairScorer(str(unnamed))


def test_a_preset_that_does_not_fit_is_refused(make: Make) -> None:
    folder = make("bert", ["contradiction", "entailment", "neutral"], "minicheck-like")
    for preset in ("hhem", "minicheck"):
        with pytest.raises(ModelError, match=f"3 labels.*{preset}.*[12]"):
            ForeignPairScorer(f"{preset}:{folder}")
    ForeignPairScorer(str(folder))  # the name alone does not force a preset on labels that cannot be its own


def test_preset_names() -> None:
    assert read_preset("hhem:/models/x:y").checkpoint == "/models/x:y"
    assert read_preset("MiniCheck:a/b").preset is preset_from_name("lytang/MiniCheck-RoBERTa-Large", 2)
    assert read_preset("C:/models").preset is None and read_preset("hhem:").checkpoint == "hhem:"
    assert preset_from_name("vectara/hallucination_evaluation_model", 1).name == "hhem"
    assert preset_from_name("cross-encoder/nli-MiniLM2-L6-H768", 3).name == "nli"


def test_half_precision_scores_nearly_the_same_under_another_name(make: Make) -> None:
    folder = str(make("bert", ["contradiction", "entailment", "neutral"]))
    full, half = ForeignPairScorer(folder), ForeignPairScorer(folder, precision="bfloat16")
    pairs = [Pair(EVIDENCE, claim) for claim in (CLAIM, "the lamp", "it is long")]
    assert half.score(pairs) == pytest.approx(full.score(pairs), abs=0.1)
    assert half.score(pairs) != full.score(pairs) and half.name != full.name


def test_code_and_missing_heads_are_refused_in_words(make: Make, tmp_path: Path) -> None:
    folder = make("bert", ["no", "yes"])
    config = json.loads((folder / "config.json").read_text())
    config["auto_map"] = {"AutoModelForSequenceClassification": "modeling_hhem_v2.HHEMv2"}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "modeling_hhem_v2.py").write_text("raise SystemExit('ran')")
    with pytest.raises(ModelError, match="code that comes with a model is never run"):
        ForeignPairScorer(f"hhem:{folder}")
    (folder / "config.json").write_text("{")
    with pytest.raises(ModelError, match=r"config\.json"):
        ForeignPairScorer(str(folder))
    bare = make("bert", ["contradiction", "entailment", "neutral"])
    body = BertForMaskedLM(BertForSequenceClassification.from_pretrained(bare).config)
    body.save_pretrained(bare)
    with pytest.raises(ModelError, match=r"not a trained sequence classifier: it lacks bert"):
        ForeignPairScorer(str(bare))
