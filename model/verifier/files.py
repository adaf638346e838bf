"""Read and write the embedded verifier's files: verifier.safetensors (fp16, no word embeddings) and verifier.json."""

from __future__ import annotations

import copy
import hashlib
import json
import math
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from model.checkpoints.files import json_bytes, sha256_of, tensor_bytes, write_together
from model.checkpoints.minilm import MINILM_LAYERS, MINILM_SHA256, minilm_word_embeddings
from model.errors import ModelError
from model.verifier.encoder import SUPPORT_CONFIG, SupportEncoder, SupportFeatures
from model.verifier.tokens import MAX_CLAIM_TOKENS

WEIGHTS, CONFIG = "verifier.safetensors", "verifier.json"
MOST_LACK = 20
LACK_RULES = 3
"""Version of the lexical rules (extrinsic, content_words, answer_context). It is part of a verifier's fingerprint."""


@dataclass(frozen=True, slots=True)
class SupportUse:
    """Calibration of a verifier: support = sigmoid(slope * logit + intercept - penalty) (Platt 1999, eq. 2).

    window_tokens: maximum evidence tokens in a window, as in training.

    The lexical penalty is the sum of: number_lack if a number of the claim is missing from all of its
    evidence, name_lack if a name is (model/verifier/extrinsic.py), word_lack times the share of its content words that
    are missing (model/verifier/content_words.py), and for a short answer question_lack times the share of its question
    that is not around it (model/verifier/answer_context.py).

    answer_tokens: maximum tokens of the claims of an answer that are read together, as in training; 0 reads each claim
    alone. Claims that are read together are calibrated by answer_slope and answer_intercept. Short answers that are
    read alone are calibrated by short_slope and short_intercept, because a passage may contain the words without
    answering the question; if short_slope is None, by slope and intercept.

    Raises ModelError for an invalid value.
    """

    window_tokens: int = 300
    slope: float = 1.0
    intercept: float = 0.0
    number_lack: float = 0.0
    name_lack: float = 0.0
    word_lack: float = 0.0
    question_lack: float = 0.0
    answer_tokens: int = 0
    answer_slope: float = 1.0
    answer_intercept: float = 0.0
    short_slope: float | None = None
    short_intercept: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.window_tokens, int) or not 16 <= self.window_tokens <= 500:
            raise ModelError(f"window_tokens is {self.window_tokens!r}: it must be an integer, 16 to 500")
        if not isinstance(self.answer_tokens, int) or not 0 <= self.answer_tokens <= MAX_CLAIM_TOKENS:
            raise ModelError(f"answer_tokens is {self.answer_tokens!r}: it must be an integer, 0 to {MAX_CLAIM_TOKENS}")
        curves = [(self.slope, self.intercept), (self.answer_slope, self.answer_intercept)]
        if self.short_slope is not None:
            curves.append((self.short_slope, self.short_intercept))
        for slope, intercept in curves:
            if not (math.isfinite(slope) and slope > 0 and math.isfinite(intercept)):
                raise ModelError(
                    f"calibration {slope}, {intercept}: a positive slope and a finite intercept are needed"
                )
        for name in ("number_lack", "name_lack", "word_lack", "question_lack"):
            weight = getattr(self, name)
            if not (math.isfinite(weight) and 0 <= weight <= MOST_LACK):
                raise ModelError(f"{name} is {weight}: it must be a number from 0 to {MOST_LACK}")

    def curve(self, *, together: bool, short: bool) -> tuple[float, float]:
        """Return the slope and the intercept for a claim.

        together: whether it is read with other claims of its answer. short: whether it is a short answer.
        """
        if together:
            return self.answer_slope, self.answer_intercept
        if short and self.short_slope is not None:
            return self.short_slope, self.short_intercept
        return self.slope, self.intercept


@dataclass(frozen=True, slots=True)
class LoadedSupport:
    """A verifier's network and calibration. fingerprint: SHA-256 (hex) of everything that determines its scores."""

    model: SupportEncoder
    use: SupportUse
    fingerprint: str


def save_support(model: SupportEncoder, folder: Path, use: SupportUse, facts: dict[str, object]) -> None:
    """Write the weights, their calibration and the facts for the model card to a folder, atomically."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {name: t.half() for name, t in model.state_dict().items() if name != "embedding.weight"}
    weights = tensor_bytes(tensors)
    about = {
        **facts,
        "features": asdict(model.features),
        "num_layers": model.config.num_layers,
        "use": asdict(use),
        "weights_sha256": hashlib.sha256(weights).hexdigest(),
        "minilm": MINILM_SHA256,
    }
    write_together({folder / WEIGHTS: weights, folder / CONFIG: json_bytes(about)})


def rounded_as_saved(model: SupportEncoder) -> SupportEncoder:
    """Return a copy with weights rounded as ``save_support`` writes them, to predict the results of the saved files."""
    copied = copy.deepcopy(model).requires_grad_(False).eval()
    with torch.no_grad():
        for name, tensor in copied.state_dict().items():
            if name != "embedding.weight":
                tensor.copy_(tensor.half())
    return copied


def load_support(folder: Path, *, device: str = "cpu") -> LoadedSupport:
    """Load a folder that ``save_support`` wrote, in fp32, for scoring.

    Raises ModelError, naming the file, if a file is missing, is damaged (SHA-256) or does not fit the network.
    """
    weights, config = folder / WEIGHTS, folder / CONFIG
    facts = support_facts(folder)
    if not weights.is_file():
        raise ModelError(f"{weights} is missing: train a verifier or name another folder")
    try:
        expected = facts["weights_sha256"]
        features, use = SupportFeatures(**facts["features"]), SupportUse(**facts["use"])
        if not all(isinstance(value, bool) for value in asdict(features).values()):
            raise TypeError(f"features {asdict(features)}: each must be true or false")
        num_layers = facts.get("num_layers", MINILM_LAYERS)
        if type(num_layers) is not int or not 1 <= num_layers <= MINILM_LAYERS:
            raise TypeError(f"num_layers is {num_layers!r}, it must be 1 to {MINILM_LAYERS}")
        if use.answer_tokens and not features.worst_word:
            raise TypeError("answer_tokens without worst_word: claims of one window could not be distinguished")
    except (KeyError, TypeError, OverflowError, ModelError) as error:
        raise ModelError(f"{config} is damaged ({error!r}): restore it or train again") from error
    if (found := sha256_of(weights)) != expected:
        raise ModelError(f"{weights} has SHA-256 {found}, {CONFIG} says {expected}: the file is damaged, restore it")
    try:
        state = {name: tensor.float() for name, tensor in load_file(weights).items()}
    except SafetensorError as error:
        raise ModelError(f"{weights} is not a readable safetensors file: {error}") from error
    state["embedding.weight"] = minilm_word_embeddings()
    with torch.random.fork_rng(devices=[]):
        model = SupportEncoder(features, replace(SUPPORT_CONFIG, num_layers=num_layers))
    try:
        model.load_state_dict(state)
    except RuntimeError as error:
        reason = " ".join(str(error).split())[:300]  # torch lists every key on separate lines
        raise ModelError(f"{weights} does not fit the support encoder: {reason}") from error
    settings = json.dumps([found, MINILM_SHA256, asdict(features), _fingerprinted(use), LACK_RULES], sort_keys=True)
    return LoadedSupport(
        model.to(device).eval().requires_grad_(False), use, hashlib.sha256(settings.encode()).hexdigest()
    )


def _fingerprinted(use: SupportUse) -> dict[str, Any]:
    """Return the settings that determine a verifier's scores, and therefore its fingerprint."""
    unused = ("answer_",) * (not use.answer_tokens) + ("short_",) * (use.short_slope is None)
    return {key: value for key, value in asdict(use).items() if not key.startswith(unused)}


def support_facts(folder: Path) -> dict[str, Any]:
    """Return the contents of verifier.json. Raises ModelError if it is missing or damaged."""
    config = folder / CONFIG
    if not config.is_file():
        raise ModelError(f"{config} is missing: train a verifier or name another folder")
    try:
        facts = json.loads(config.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(f"{config} is damaged ({error!r}): restore it or train again") from error
    if not isinstance(facts, dict):
        raise ModelError(f"{config} is damaged (not an object): restore it or train again")
    return facts
