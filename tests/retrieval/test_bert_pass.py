from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer
from transformers import BertConfig, BertModel

from retrieval.encoding.bert_pass import batches, bert_pass
from retrieval.encoding.sentence_transformer import SentenceTransformerEncoder, default_encoder_folder
from retrieval.errors import RetrievalError
from tests.retrieval.odd_texts import ODD

MakeEncoder = Callable[..., Path]


@pytest.fixture
def make_folder(tmp_path: Path) -> MakeEncoder:
    """Small random BERT encoders in the layout of sentence-transformers, with MiniLM's tokenizer."""

    def make(
        *, pooling: str = "mean", prompts: dict[str, str] | None = None, include_prompt: bool = True, **shape: Any
    ) -> Path:
        torch.manual_seed(0)
        folder = tmp_path / f"encoder-{len(list(tmp_path.iterdir()))}"
        shutil.copytree(default_encoder_folder(), folder, ignore=shutil.ignore_patterns("model.safetensors"))
        given = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 40}
        model = BertModel(BertConfig(vocab_size=30522, initializer_range=0.3, **{**given, **shape}))
        model.save_pretrained(folder)
        modes = {f"pooling_mode_{name}": name == pooling for name in ("cls_token", "mean_tokens", "max_tokens")}
        config = {"word_embedding_dimension": 24, "include_prompt": include_prompt, **modes}
        (folder / "1_Pooling" / "config.json").write_text(json.dumps(config))
        (folder / "config_sentence_transformers.json").write_text(json.dumps({"prompts": prompts or {}}))
        return folder

    return make


def unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def test_minilm_gets_the_librarys_vectors() -> None:
    folder = default_encoder_folder()
    library, ours = SentenceTransformer(str(folder), device="cpu"), SentenceTransformerEncoder(folder)
    assert bert_pass(library, bf16=False) is not None
    expected = library.encode(list(ODD))
    np.testing.assert_allclose(ours.encode_passages(ODD), expected, rtol=0, atol=1e-6)
    # Except for rounding, the vector of a text does not depend on the other texts of the batch.
    alone = np.concatenate([ours.encode_queries([text]) for text in ODD])
    np.testing.assert_allclose(alone, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    "options",
    [
        {"prompts": {"query": "search query: ", "passage": "passage: "}},
        {"pooling": "cls_token", "hidden_act": "gelu_new"},
        {"pooling": "max_tokens", "num_attention_heads": 2, "layer_norm_eps": 1e-5},
    ],
)
def test_other_berts_get_the_librarys_vectors(make_folder: MakeEncoder, options: dict[str, Any]) -> None:
    folder = make_folder(**options)
    library, ours = SentenceTransformer(str(folder), device="cpu"), SentenceTransformerEncoder(folder)
    assert bert_pass(library, bf16=False) is not None
    np.testing.assert_allclose(ours.encode_passages(ODD), unit(library.encode_document(list(ODD))), rtol=0, atol=1e-5)
    np.testing.assert_allclose(ours.encode_queries(ODD), unit(library.encode_query(list(ODD))), rtol=0, atol=1e-5)
    if "prompts" in options:
        assert np.abs(ours.encode_queries(ODD) - ours.encode_passages(ODD)).max() > 1e-3


@pytest.mark.parametrize(
    "options",
    [
        {"hidden_act": "relu"},
        {"include_prompt": False, "prompts": {"query": "search query: ", "document": ""}},
    ],
)
def test_what_ours_does_not_compute_is_left_to_the_library(make_folder: MakeEncoder, options: dict[str, Any]) -> None:
    folder = make_folder(**options)
    library = SentenceTransformer(str(folder), device="cpu")
    assert bert_pass(library, bf16=False) is None
    ours = SentenceTransformerEncoder(folder)
    np.testing.assert_allclose(ours.encode_queries(ODD), unit(library.encode_query(list(ODD))), rtol=0, atol=1e-5)
    coarse = SentenceTransformerEncoder(folder, precision="bf16")
    np.testing.assert_array_equal(coarse.encode_queries(ODD), ours.encode_queries(ODD))
    assert 0 < np.abs(coarse.encode_passages(ODD) - ours.encode_passages(ODD)).max() < 0.2


def test_a_model_that_computes_something_else_is_found_by_its_vectors(make_folder: MakeEncoder) -> None:
    library = SentenceTransformer(str(make_folder()), device="cpu")
    assert bert_pass(library, bf16=False) is not None
    library[0].auto_model.encoder.layer[1].register_forward_hook(lambda module, given, out: out.roll(1, -1))
    assert bert_pass(library, bf16=False) is None


def test_weights_that_are_no_numbers_are_named_by_their_text(make_folder: MakeEncoder) -> None:
    folder = make_folder()
    model = BertModel.from_pretrained(folder)
    with torch.no_grad():
        model.encoder.layer[0].output.dense.bias[0] = torch.nan
    model.save_pretrained(folder)
    with pytest.raises(RetrievalError, match="'some text'"):
        SentenceTransformerEncoder(folder).encode_passages(["some text"])


def test_bf16_is_of_passages_and_part_of_the_fingerprint(make_folder: MakeEncoder) -> None:
    folder = make_folder()
    full, coarse = SentenceTransformerEncoder(folder), SentenceTransformerEncoder(folder, precision="bf16")
    assert (full.passage_modes, coarse.passage_modes) == ((full.fingerprint,), (coarse.fingerprint,))
    assert full.fingerprint != coarse.fingerprint
    assert full.serves == coarse.serves == {full.fingerprint, coarse.fingerprint}
    np.testing.assert_array_equal(full.encode_queries(ODD), coarse.encode_queries(ODD))
    cosines = (full.encode_passages(ODD) * coarse.encode_passages(ODD)).sum(axis=1)
    assert cosines.min() > 0.99 and cosines.max() < 1 - 1e-7
    with pytest.raises(RetrievalError, match=coarse.fingerprint[:12]):
        full.encode_passages_as(ODD, coarse.fingerprint)
    with pytest.raises(RetrievalError, match="int4"):
        SentenceTransformerEncoder(folder, precision="int4")  # type: ignore[arg-type]


@given(st.lists(st.integers(0, 300), max_size=60), st.integers(1, 900))
def test_batches_hold_every_text_once_within_the_budget(lengths: list[int], tokens: int) -> None:
    made = list(batches(lengths, tokens))
    assert sorted(place for places in made for place in places) == list(range(len(lengths)))
    for places in made:
        longest = max(lengths[place] for place in places)
        assert len(places) == 1 or longest * len(places) <= tokens
