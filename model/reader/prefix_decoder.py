"""The embedded reader's network: a prefix decoder in which MiniLM's layers encode the prompt and decode the answer.

Its file contains all weights except the word embeddings, which are frozen and read from the pinned MiniLM package.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from model.checkpoints.files import json_bytes, sha256_of, tensor_bytes, write_json, write_together
from model.checkpoints.minilm import MINILM_LAYERS, MINILM_SHA256, minilm_prefix_decoder_state, minilm_word_embeddings
from model.decoder.config import DecoderConfig
from model.decoder.decline_head import Decline
from model.decoder.decoder import Decoder
from model.errors import ModelError

PREFIX_CONFIG = DecoderConfig(
    vocab_size=30522,
    hidden_size=384,
    num_layers=MINILM_LAYERS,
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
# Features of newly trained readers. A file without a list of features has none of them.
READER_CONFIG = replace(PREFIX_CONFIG, mark_separator=102, first_ordinary_id=104, follow=3)
_FEATURES = ("num_layers", "mark_separator", "first_ordinary_id", "follow", "decline")
_DECLINE = "head.decline."
# MiniLM's ids 0 to 103 are [PAD], [unused..], [UNK], [CLS], [SEP] and [MASK]. Text is encoded to none of them except
# [UNK], so that a document cannot contain a marker. The pointer never copies them, except NULL_ID.
FIRST_COPYABLE_ID = 104
# [CLS] is at the start of every prompt. Pointing at it means that no passage answers the question.
NULL_ID = 101
WEIGHTS, CONFIG = "reader.safetensors", "reader.json"


@dataclass(frozen=True, slots=True)
class ReaderUse:
    """Calibration of a reader's probabilities, fitted on held-out data.

    temperature: every next-token distribution is first replaced by p ** (1 / temperature), renormalised (Guo et al.
    2017, eq. 9). null_bias: nats added to the log-probability of declining as the first token, if passages are shown;
    below 0 the reader answers more often, above 0 it declines more often. Raises ModelError for an invalid value.
    """

    temperature: float = 1.0
    null_bias: float = 0.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.temperature) and self.temperature > 0 and math.isfinite(self.null_bias)):
            raise ModelError(f"{self}: a positive temperature and a finite bias are needed")


def warm_start(seed: int, *, plain: bool = False, num_layers: int = MINILM_LAYERS) -> Decoder:
    """Create a prefix decoder with MiniLM's layers, a new head initialised from ``seed``, and frozen word embeddings.

    plain: whether to leave out exact-match marks and the bias for continuing copied spans. num_layers: number of
    MiniLM's lowest layers; fewer are faster and weaker. Raises ModelError as ``minilm_prefix_decoder_state`` does.
    """
    state = minilm_prefix_decoder_state(num_layers)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Decoder(replace(PREFIX_CONFIG if plain else READER_CONFIG, num_layers=num_layers))
    missing, unexpected = model.load_state_dict(state, strict=False)
    wrong = unexpected + [name for name in missing if not name.startswith(("head.", "marks."))]
    if wrong:
        raise ModelError(f"MiniLM's tensors do not fit the prefix decoder: {', '.join(wrong[:5])}")
    model.embedding.weight.requires_grad_(False)
    return model


def continue_from(folder: Path) -> Decoder:
    """Load a trained prefix decoder for further training, with frozen word embeddings and without its decline head.

    The decline head is fitted after each training. Raises ModelError as ``load_prefix_decoder`` does.
    """
    model = without_decline(load_prefix_decoder(folder)).train().requires_grad_(True)
    model.embedding.weight.requires_grad_(False)
    return model


def with_decline(model: Decoder, decline: Decline | None) -> Decoder:
    """Return a decoder that shares the model's weights and has this decline head; None for no decline head."""
    units = decline.inner.out_features if decline is not None else 0
    with torch.random.fork_rng(devices=[]):
        other = Decoder(replace(model.config, decline=units)).to(model.device)
    state = {name: tensor for name, tensor in model.state_dict().items() if not name.startswith(_DECLINE)}
    if decline is not None:
        state |= {f"{_DECLINE}{name}": tensor for name, tensor in decline.state_dict().items()}
    other.load_state_dict(state, assign=True)
    return other.train(model.training).requires_grad_(False)


def without_decline(model: Decoder) -> Decoder:
    """Return a decoder that shares the model's weights and has no decline head."""
    return with_decline(model, None)


def correction_of(folder: Path) -> Decline | None:
    """Return the decline head of the reader in ``folder``, or None.

    Raises ModelError as ``load_prefix_decoder`` does.
    """
    found = getattr(load_prefix_decoder(folder).head, "decline", None)
    return found if isinstance(found, Decline) else None


def save_prefix_decoder(model: Decoder, folder: Path, facts: dict[str, object]) -> None:
    """Write reader.safetensors (fp16, without word embeddings) and reader.json (with ``facts``), atomically."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {name: t.half() for name, t in model.state_dict().items() if name != "embedding.weight"}
    weights = tensor_bytes(tensors)
    features = {name: getattr(model.config, name) for name in _FEATURES}
    sha256 = hashlib.sha256(weights).hexdigest()
    about = {**facts, "features": features, "weights_sha256": sha256, "minilm": MINILM_SHA256}
    write_together({folder / WEIGHTS: weights, folder / CONFIG: json_bytes(about)})


def load_prefix_decoder(folder: Path, *, device: str = "cpu") -> Decoder:
    """Load a folder that ``save_prefix_decoder`` wrote, in fp32, for generation.

    Raises ModelError, naming the file, if a file is missing, is damaged (SHA-256) or does not fit the network.
    """
    weights, config = folder / WEIGHTS, folder / CONFIG
    for path in (weights, config):
        if not path.is_file():
            raise ModelError(f"{path} is missing: train a reader or name another folder")
    try:
        facts = json.loads(config.read_text("utf-8"))
        expected = facts["weights_sha256"]
        features = _config_from(facts.get("features", {}))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, ModelError) as error:
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
        model = Decoder(features)
    try:
        model.load_state_dict(state)
    except RuntimeError as error:
        reason = " ".join(str(error).split())[:300]  # torch lists every key on separate lines
        raise ModelError(f"{weights} does not fit the prefix decoder: {reason}") from error
    return model.to(device).eval().requires_grad_(False)


def _config_from(features: object) -> DecoderConfig:
    """Return the config for the features in a file. Raises TypeError or ModelError for invalid features."""
    if not isinstance(features, dict):
        raise TypeError(f"features are {features!r}")
    for name, value in features.items():
        if name not in _FEATURES or not (type(value) is int or (value is None and name == "mark_separator")):
            raise TypeError(f"feature {name} is {value!r}")
    if not 1 <= features.get("num_layers", MINILM_LAYERS) <= MINILM_LAYERS:
        raise TypeError(f"feature num_layers is {features['num_layers']}, it must be 1 to {MINILM_LAYERS}")
    return replace(PREFIX_CONFIG, **features)


def reader_use(folder: Path) -> ReaderUse:
    """Return the calibration of the reader in a folder; the default, which changes nothing, if its file has none.

    Raises ModelError for a damaged file.
    """
    try:
        return ReaderUse(**json.loads((folder / CONFIG).read_text("utf-8")).get("use", {}))
    except (OSError, ValueError, TypeError, AttributeError, OverflowError, RecursionError, ModelError) as error:
        raise ModelError(f"{folder / CONFIG} is damaged ({error!r}): restore it or train again") from error


def change_reader_use(folder: Path, use: ReaderUse, facts: dict[str, object]) -> None:
    """Write another calibration for the same weights, and add ``facts`` to those in the file."""
    config = json.loads((folder / CONFIG).read_text("utf-8"))
    write_json(folder / CONFIG, {**config, **facts, "use": asdict(use)})


def prefix_decoder_fingerprint(folder: Path) -> str:
    """Return the SHA-256 (hex) of a reader's weights, the MiniLM weights they depend on, and their calibration."""
    use = reader_use(folder)
    suffix = "" if use == ReaderUse() else f":{use.temperature!r}:{use.null_bias!r}"
    return hashlib.sha256(f"{sha256_of(folder / WEIGHTS)}:{MINILM_SHA256}{suffix}".encode()).hexdigest()
