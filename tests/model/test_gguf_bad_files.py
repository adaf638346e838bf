"""What is wrong with a GGUF file, or not supported, is named: the file, and the key or tensor in it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gguf import GGUFEndian, GGUFReader

from generation.causal.chat_format import chat_frame
from generation.errors import GenerationError
from model.checkpoints.gguf.header import read_header
from model.checkpoints.loading import load_decoder
from model.checkpoints.source import fingerprint
from model.checkpoints.tokenizer import Tokenizer
from model.errors import ModelError
from tests.gguf_files import byte_level, sentencepiece, write


def test_the_header_is_what_gguf_reads(tmp_path: Path) -> None:
    file = write(tmp_path / "m.gguf", quantised="Q8_0").file
    header, reader = read_header(file), GGUFReader(file)
    theirs = {key: field.contents() for key, field in reader.fields.items() if not key.startswith("GGUF.")}
    assert dict(header.metadata) == theirs
    assert [(t.name, t.type_name, t.start, t.size) for t in header.tensors] == [
        (t.name, t.tensor_type.name, t.data_offset, t.n_bytes) for t in reader.tensors
    ]


@pytest.mark.parametrize("share", [0.0, 0.0001, 0.01, 0.2, 0.5, 0.9, 0.9999])
def test_a_file_cut_short(tmp_path: Path, share: float) -> None:
    file = write(tmp_path / "m.gguf").file
    content = file.read_bytes()
    file.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(ModelError, match=r"m\.gguf .*(cut short|too short)"):
        load_decoder(file)


def test_every_damaged_byte_of_a_header_is_an_error_or_harmless(tmp_path: Path) -> None:
    """Never anything but a ModelError, and never much memory or time."""
    file = write(tmp_path / "m.gguf", vocabulary=byte_level(size=280)).file
    content = file.read_bytes()
    for place in range(0, 2000, 13):
        damaged = bytearray(content)
        damaged[place] ^= 0xFF
        file.write_bytes(damaged)
        try:
            read_header(file)
        except ModelError as error:
            assert "m.gguf" in str(error)


def test_another_byte_order(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"m\.gguf is a big-endian GGUF file"):
        load_decoder(write(tmp_path / "m.gguf", endian=GGUFEndian.BIG).file)


@pytest.mark.parametrize(
    ("content", "expected"), [(b"PK\x03\x04" * 20, "is not a GGUF file"), (b"GGUF\x01" + b"\0" * 60, "version 1")]
)
def test_other_files(tmp_path: Path, content: bytes, expected: str) -> None:
    (tmp_path / "m.gguf").write_bytes(content)
    with pytest.raises(ModelError, match=expected):
        load_decoder(tmp_path / "m.gguf")


def test_no_file(tmp_path: Path) -> None:
    (tmp_path / "folder.gguf").mkdir()
    for name, expected in (("m.gguf", "is missing"), ("folder.gguf", "is a folder")):
        with pytest.raises(ModelError, match=expected):
            load_decoder(tmp_path / name)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("general.architecture", "gemma3"),
        ("general.architecture", "mamba"),
        ("general.alignment", 33),
        ("llama.expert_count", 8),
        ("llama.rope.scaling.type", "longrope"),
        ("llama.attention.sliding_window", 512),
        ("llama.rope.dimension_count", 8),
        ("llama.attention.value_length", 12),
        ("llama.logit_scale", 0.5),
        ("llama.attention.head_count_kv", [2, 4]),
        ("llama.attention.head_count", "four"),
    ],
)
def test_what_is_not_supported_is_named_by_its_key(tmp_path: Path, key: str, value: object) -> None:
    file = write(tmp_path / "m.gguf", metadata={key: value}).file if key != "general.architecture" else None
    if file is None:  # the writer writes the architecture itself
        file = write(tmp_path / "m.gguf").file
        old, new = b"llama", str(value).encode()
        content = file.read_bytes()
        at = content.index(b"general.architecture") + len("general.architecture") + 4
        content = content[:at] + len(new).to_bytes(8, "little") + new + content[at + 8 + len(old) :]
        file.write_bytes(content)
    with pytest.raises(ModelError) as caught:
        load_decoder(file)
    assert key in str(caught.value)
    assert str(value) in str(caught.value)


@pytest.mark.parametrize("key", ["llama.context_length", "llama.block_count", "llama.attention.head_count"])
def test_what_is_missing_is_named(tmp_path: Path, key: str) -> None:
    with pytest.raises(ModelError, match=key):
        load_decoder(write(tmp_path / "m.gguf", without=(key,)).file)


def _drop(name: str) -> Callable[[dict[str, Any]], None]:
    return lambda tensors: tensors.pop(name) is None or None


def _set(name: str, shape: tuple[int, ...]) -> Callable[[dict[str, Any]], None]:
    def change(tensors: dict[str, Any]) -> None:
        tensors[name] = np.ones(shape, np.float32)

    return change


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (_drop("blk.1.ffn_up.weight"), r"1 missing: blk\.1\.ffn_up\.weight"),
        (_drop("token_embd.weight"), r"token_embd\.weight"),
        (_set("blk.0.attn_q.weight", (60, 64)), r"blk\.0\.attn_q\.weight is \(60, 64\)"),
        (_set("blk.0.attn_k.weight", (3, 64)), r"blk\.0\.attn_k\.weight is \(3, 64\)"),
        (_set("blk.7.attn_q.weight", (64, 64)), r"1 unexpected: blk\.7\.attn_q\.weight"),
        (_set("blk.0.ffn_gate_exps.weight", (2, 96, 64)), r"tensor blk\.0\.ffn_gate_exps\.weight is not supported"),
        (_set("rope_freqs.weight", (8,)), None),
        (_set("rope_freqs.weight", (7,)), r"rope_freqs\.weight"),
    ],
)
def test_tensors_that_do_not_fit(
    tmp_path: Path, change: Callable[[dict[str, Any]], None], expected: str | None
) -> None:
    file = write(tmp_path / "m.gguf", change=change).file
    with pytest.raises(ModelError, match=expected or r"rope_freqs\.weight"):
        load_decoder(file)


def test_a_number_that_is_not_finite(tmp_path: Path) -> None:
    def change(tensors: dict[str, Any]) -> None:
        tensors["blk.1.ffn_down.weight"][3, 4] = np.nan

    with pytest.raises(ModelError, match=r"blk\.1\.ffn_down\.weight holds a number that is not finite"):
        load_decoder(write(tmp_path / "m.gguf", change=change).file)


def test_a_missing_part(tmp_path: Path) -> None:
    written = write(tmp_path / "m.gguf", parts=3)
    written.files[1].unlink()
    with pytest.raises(ModelError, match=r"1 of 3 parts are missing: m-00002-of-00003\.gguf"):
        load_decoder(written.files[2])


def test_a_part_of_another_model(tmp_path: Path) -> None:
    written, other = write(tmp_path / "m.gguf", parts=2), write(tmp_path / "o.gguf", parts=2)
    written.files[1].write_bytes(other.files[0].read_bytes())
    with pytest.raises(ModelError, match="not the parts of one model"):
        load_decoder(written.file)


def test_a_part_that_was_renamed(tmp_path: Path) -> None:
    renamed = write(tmp_path / "m.gguf", parts=2).file.rename(tmp_path / "model.gguf")
    with pytest.raises(ModelError, match=r"model\.gguf is one of 2 parts"):
        load_decoder(renamed)


def test_the_fingerprint_covers_every_part(tmp_path: Path) -> None:
    written = write(tmp_path / "m.gguf", parts=2)
    before = fingerprint(written.file)
    content = bytearray(written.files[1].read_bytes())
    content[-5] ^= 1
    written.files[1].write_bytes(content)
    assert fingerprint(written.file) != before


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("model", "bert"),
        ("model", "t5"),
        ("pre", "gpt-4o"),
        ("pre", "no-such-splitter"),
        ("merges", ["a b c"]),
        ("merges", ["ab qq"]),
        ("token_type", [1, 2]),
        ("bos_token_id", 4000),
        ("add_bos_token", 1),
    ],
)
def test_a_tokenizer_that_is_not_supported(tmp_path: Path, key: str, value: object) -> None:
    file = write(
        tmp_path / "m.gguf",
        metadata={f"tokenizer.ggml.{key}": value, "tokenizer.ggml.add_bos_token": True}
        | {f"tokenizer.ggml.{key}": value},
    ).file
    with pytest.raises(ModelError) as caught:
        Tokenizer.from_checkpoint(file)
    assert f"tokenizer.ggml.{key}" in str(caught.value)


@pytest.mark.parametrize("key", ["tokens", "scores", "model"])
def test_a_tokenizer_that_lacks_a_part(tmp_path: Path, key: str) -> None:
    file = write(tmp_path / "m.gguf", "llama", sentencepiece(), without=(f"tokenizer.ggml.{key}",)).file
    with pytest.raises(ModelError, match=f"tokenizer.ggml.{key}"):
        Tokenizer.from_checkpoint(file)


def test_a_tokenizer_larger_than_the_embedding(tmp_path: Path) -> None:
    from generation.causal.generator import CausalGenerator

    vocabulary = byte_level()

    def change(tensors: dict[str, Any]) -> None:
        for name in ("token_embd.weight", "output.weight"):
            tensors[name] = tensors[name][:300]

    file = write(tmp_path / "m.gguf", vocabulary=vocabulary, change=change).file
    with pytest.raises(
        ModelError, match=rf"m\.gguf: the tokenizer has {vocabulary.size} tokens, the embedding only 300"
    ):
        CausalGenerator(file)


PARTS = (
    "{% for m in messages %}<|im_start|>{% for part in m.content %}{{ part.text }}{% endfor %}<|im_end|>{% endfor %}"
)


def test_a_template_that_loops_over_the_parts_of_a_message(tmp_path: Path) -> None:
    frame = chat_frame(write(tmp_path / "m.gguf", template=PARTS).file)
    assert (frame.before, frame.after) == ((1,), (2,))


@pytest.mark.parametrize(
    "template", ["{{ messages[0].content[0].image }}", "no message", "{% for", "{{ raise_exception('no') }}"]
)
def test_a_template_that_shows_no_message(tmp_path: Path, template: str) -> None:
    with pytest.raises(GenerationError, match=r"chat template of .*m\.gguf"):
        chat_frame(write(tmp_path / "m.gguf", template=template).file)
