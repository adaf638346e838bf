"""The embedded prefix decoder: MiniLM's layers as an encoder of the prompt and decoder of the answer.

Its file holds everything but the word embeddings, which are frozen and read from the pinned MiniLM package.
"""

from __future__ import annotations

import hashlib
import json
from importlib import resources
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from model.config import DecoderConfig
from model.decoder import Decoder
from model.errors import ModelError
from model.files import sha256_of, write_json, write_tensors
from model.minilm import MINILM_SHA256, minilm_prefix_decoder_state, minilm_word_embeddings

PREFIX_CONFIG = DecoderConfig(
    vocab_size=30522,
    hidden_size=384,
    num_layers=6,
    num_heads=12,
    num_kv_heads=12,
    head_dim=32,
    intermediate_size=1536,
    max_positions=512,
    norm="layer",
    norm_position="post",
    norm_eps=1e-12,
    positions="learned",
    activation="gelu",
    attention_bias=True,
    output_bias=True,
    mlp_bias=True,
    tied_head=True,
    embedding_norm=True,
    prefix=True,
    head="pointer",
)
# MiniLM's vocabulary keeps ids 0..103 for [PAD], [unused..], [UNK], [CLS], [SEP], [MASK]: no text is encoded to them
# but [UNK], so a document cannot write a marker, and the pointer never copies one.
FIRST_COPYABLE_ID = 104
# [CLS], at the beginning of every prompt: pointing at it means that nothing shown answers.
NULL_ID = 101
WEIGHTS, CONFIG = "reader.safetensors", "reader.json"


def shipped_reader() -> Path:
    """Folder of the reader that the project ships."""
    return Path(str(resources.files("model"))) / "pretrained" / "reader"


def warm_start(seed: int) -> Decoder:
    """A prefix decoder with MiniLM's layers and a fresh head drawn from ``seed``; word embeddings frozen."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Decoder(PREFIX_CONFIG)
    missing, unexpected = model.load_state_dict(minilm_prefix_decoder_state(), strict=False)
    wrong = unexpected + [name for name in missing if not name.startswith("head.")]
    if wrong:
        raise ModelError(f"MiniLM's tensors do not fit the prefix decoder: {', '.join(wrong[:5])}")
    model.embedding.weight.requires_grad_(False)
    return model


def continue_from(folder: Path) -> Decoder:
    """A trained prefix decoder, ready to be trained further; word embeddings frozen. Raises as load_prefix_decoder."""
    model = load_prefix_decoder(folder).train().requires_grad_(True)
    model.embedding.weight.requires_grad_(False)
    return model


def save_prefix_decoder(model: Decoder, folder: Path, facts: dict[str, object]) -> None:
    """Write reader.safetensors (fp16, without word embeddings) and reader.json (facts for the model card)."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {name: t.half() for name, t in model.state_dict().items() if name != "embedding.weight"}
    write_tensors(folder / WEIGHTS, tensors)
    write_json(folder / CONFIG, {**facts, "weights_sha256": sha256_of(folder / WEIGHTS), "minilm": MINILM_SHA256})


def load_prefix_decoder(folder: Path, *, device: str = "cpu") -> Decoder:
    """The prefix decoder of a folder written by ``save_prefix_decoder``, in fp32, ready to generate.

    Raises ModelError naming the file when one is missing, damaged (SHA-256) or does not fit.
    """
    weights, config = folder / WEIGHTS, folder / CONFIG
    for path in (weights, config):
        if not path.is_file():
            raise ModelError(f"{path} is missing: train a reader (plumbline train reader) or name another folder")
    try:
        facts = json.loads(config.read_text("utf-8"))
        expected = facts["weights_sha256"]
    except (ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{config} is damaged ({error!r}): restore it or train again") from error
    if (found := sha256_of(weights)) != expected:
        raise ModelError(f"{weights} has SHA-256 {found}, {CONFIG} says {expected}: the file is damaged, restore it")
    try:
        state = load_file(weights)
    except SafetensorError as error:
        raise ModelError(f"{weights} is not a readable safetensors file: {error}") from error
    state = {name: tensor.float() for name, tensor in state.items()}
    state["embedding.weight"] = minilm_word_embeddings()
    with torch.random.fork_rng(devices=[]):
        model = Decoder(PREFIX_CONFIG)
    try:
        model.load_state_dict(state)
    except RuntimeError as error:
        reason = " ".join(str(error).split())[:300]  # torch lists every key on lines of their own
        raise ModelError(f"{weights} does not fit the prefix decoder: {reason}") from error
    return model.to(device).eval().requires_grad_(False)


def prefix_decoder_fingerprint(folder: Path) -> str:
    """SHA-256 (hex) over the weights and the MiniLM they stand on."""
    return hashlib.sha256(f"{sha256_of(folder / WEIGHTS)}:{MINILM_SHA256}".encode()).hexdigest()
