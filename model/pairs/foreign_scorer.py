"""Use a Hugging Face sequence classifier as a PairScorer. Its supporting label is identified by name.

Only safetensors are read, and no code of a checkpoint is run. A folder is read from disk without downloads. Any other
name is an id of the Hugging Face Hub, from which the library may download.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors import SafetensorError
from torch import Tensor

from model.checkpoints.foreign_limits import refuse_huge_numbers, refuse_more_than_is_stored
from model.errors import ModelError
from model.hardware.freed_memory import keep_freed_memory
from model.pairs.encoding import encode_texts, padded, read_frame
from model.pairs.packing import pack_classifier
from model.pairs.presets import preset_from_name, read_preset
from model.pairs.scoring import Pair

_SUPPORTING = frozenset(
    (
        *("entailment", "entailed", "entails", "entail", "supported", "supports", "support", "consistent", "factual"),
        *("faithful", "grounded", "attributable", "true", "aligned"),
    )
)
Precision = Literal["float32", "bfloat16"]
_MOST_TOKENS = 512
_BATCH_TOKENS = 8192
# Shorter claims are joined to their question, without which a short answer has no meaning.
_SHORT_CLAIM_WORDS = 8
_PROBES = ("a", "b c d e")


class ForeignPairScorer:
    """A sequence classifier that reads evidence and claim as a pair."""

    def __init__(
        self,
        path_or_name: str,
        *,
        device: str = "cpu",
        claim_first: bool = False,
        label: str | None = None,
        precision: Precision = "float32",
    ) -> None:
        """Load a classifier. ``packed`` is then True if its weights are packed (model.decoder.packing).

        path_or_name: a folder or a hub id, optionally with a preset prefix (``minicheck:FOLDER``, see
        model.pairs.presets). claim_first: whether the model was trained on (claim, evidence) instead of (evidence,
        claim). label: name of the label that means "supported"; None infers it. precision: dtype of the weights; in
        bfloat16 scores differ in the third digit. Raises ModelError if the model cannot be loaded or its label cannot
        be inferred.
        """
        named = read_preset(path_or_name)
        path_or_name = named.checkpoint
        local = Path(path_or_name).expanduser().is_dir()
        where = str(Path(path_or_name).expanduser()) if local else path_or_name
        if local:
            _check_folder(Path(where))
        self._model, self._tokenizer = _load(where, local)
        self._model.to(device=device, dtype=getattr(torch, precision)).eval().requires_grad_(False)
        config = self._model.config
        count = int(config.num_labels)
        preset = named.preset or preset_from_name(where, count)
        preset.check(count, where)
        names = {int(i): str(name) for i, name in config.id2label.items()}
        self._supported = (
            preset.supported
            if preset.supported is not None and label is None
            else supporting_label(names, count, where, label)
        )
        self._sigmoid = count == 1 or config.problem_type == "multi_label_classification"
        self._claim_first = claim_first
        self._device = device
        self._frame = read_frame(self._tokenizer, preset.layout, where)
        self._length = _max_tokens(self._tokenizer, config)
        # A claim gets at most half of the length, so that evidence always fits too.
        self._max_claim_tokens = (self._length - self._frame.tokens) // 2
        if self._max_claim_tokens < 1:
            raise ModelError(f"{where} reads {self._length} tokens: too few for a pair of texts")
        options: tuple[object, ...] = (self._supported, claim_first)
        if preset.layout != "pair" or precision != "float32":
            options = (*options, preset.layout, precision)
        self._fingerprint = _fingerprint(self._model, self._tokenizer, options)
        self._name = f"{Path(where).name[-60:]}/{self._fingerprint[:12]}"
        # Cached, because a claim is counted again for every window of evidence.
        self._tokens = lru_cache(maxsize=4096)(lambda text: len(encode_texts(self._tokenizer, [text])[text]))
        keep_freed_memory()
        short, longer = encode_texts(self._tokenizer, _PROBES).values()
        probe = self._inputs([self._sides(longer, short), self._sides(longer, longer)])
        self.packed = pack_classifier(self._model, probe)

    @property
    def name(self) -> str:
        """Name of the folder or repository, with the start of the fingerprint."""
        return self._name

    @property
    def fingerprint(self) -> str:
        """SHA-256 (hex) of the weights, tokenizer, label, order, layout and precision."""
        return self._fingerprint

    def room(self, claim: str, question: str = "") -> int:
        """Return the number of evidence tokens that fit with this claim, which takes at most half of the length."""
        claim_tokens = min(self._tokens(_claim_with_question(claim, question)), self._max_claim_tokens)
        return self._length - self._frame.tokens - claim_tokens

    def count(self, texts: Sequence[str]) -> Sequence[int]:
        """Return the number of tokens of each text."""
        encoded = encode_texts(self._tokenizer, texts)
        return [len(encoded[text]) for text in texts]

    def score(self, pairs: Sequence[Pair], progress: Callable[[int, int], None] | None = None) -> tuple[float, ...]:
        """Return the support of each pair, in order. See ``PairScorer.score``.

        Each text is encoded once, and batches have at most about 8,192 tokens.
        """
        for pair in pairs:
            if not pair.claim.strip():
                raise ModelError("the claim is empty: there is nothing to judge")
        distinct = list(dict.fromkeys(pairs))
        pairs_of_text = [_claim_with_question(pair.claim, pair.question) for pair in distinct]
        encoded = encode_texts(self._tokenizer, (*(pair.evidence for pair in distinct), *pairs_of_text))
        sides = [
            self._sides(encoded[p.evidence], encoded[claim]) for p, claim in zip(distinct, pairs_of_text, strict=True)
        ]
        sizes = [len(first) + len(second) for first, second in sides]
        order = sorted(range(len(distinct)), key=lambda i: -sizes[i])
        found: dict[Pair, float] = {}
        start = 0
        while start < len(order):
            at_once = max(1, _BATCH_TOKENS // (sizes[order[start]] + self._frame.tokens))
            batch = order[start : start + at_once]
            found.update(zip((distinct[i] for i in batch), self._batch([sides[i] for i in batch]), strict=True))
            start += len(batch)
            if progress is not None:
                progress(round(len(pairs) * start / len(order)), len(pairs))
        return tuple(found[pair] for pair in pairs)

    def _sides(self, evidence: list[int], claim: list[int]) -> tuple[list[int], list[int]]:
        """Return the first and the second text in the model's order, each truncated to the tokens that fit."""
        claim = claim[: self._max_claim_tokens]
        evidence = evidence[: self._length - self._frame.tokens - len(claim)]
        return (claim, evidence) if self._claim_first else (evidence, claim)

    def _inputs(self, sides: Sequence[tuple[list[int], list[int]]]) -> dict[str, Tensor]:
        """Return the model's inputs for these pairs: tensors (B, T) on its device."""
        rows = [self._frame.ids(first, second) for first, second in sides]
        inputs = {"input_ids": padded(rows, int(self._tokenizer.pad_token_id))}
        if self._frame.types is not None:
            inputs["token_type_ids"] = padded([self._frame.type_ids(len(a), len(b)) for a, b in sides], 0)
        if len({len(row) for row in rows}) > 1:  # no mask needed if all have the same length
            inputs["attention_mask"] = padded([[1] * len(row) for row in rows], 0)
        return {name: part.to(self._device) for name, part in inputs.items()}

    @torch.inference_mode()
    def _batch(self, sides: Sequence[tuple[list[int], list[int]]]) -> list[float]:
        logits: Tensor = self._model(**self._inputs(sides)).logits.float()
        probabilities = torch.sigmoid(logits) if self._sigmoid else torch.softmax(logits, dim=-1)  # (B, labels)
        return [float(value) for value in probabilities[:, self._supported].cpu()]


def supporting_label(names: Mapping[int, str], count: int, where: str, chosen: str | None = None) -> int:
    """Return the index of the label that means "the evidence supports the claim".

    This is the only label, or the one that is named entailment, supported, consistent or similar, or the second of two
    without names (LABEL_0, LABEL_1). chosen: name of a label that overrides this; None infers it. Raises ModelError,
    naming the labels, if none or several match.
    """
    listed = ", ".join(names[i] for i in sorted(names))
    if chosen is not None:
        found = [i for i, name in names.items() if name.lower() == chosen.lower()]
        if len(found) != 1:
            raise ModelError(f"{where} has no label {chosen!r}: its labels are {listed}")
        return found[0]
    if count == 1:
        return 0
    plain = {i: re.sub(r"[^a-z]+", "_", name.lower()).strip("_") for i, name in names.items()}
    found = [i for i, name in plain.items() if name in _SUPPORTING]
    if len(found) == 1:
        return found[0]
    if count == 2 and [names.get(i, "").upper() for i in (0, 1)] == ["LABEL_0", "LABEL_1"]:
        return 1
    raise ModelError(
        f'{where}: the label that means "supported" is unclear. Its labels are {listed}: name one',
        parameter="supported_label",
    )


def _claim_with_question(claim: str, question: str) -> str:
    return f"{question} {claim}" if question.strip() and len(claim.split()) < _SHORT_CLAIM_WORDS else claim


_OWN_CODE = (
    "it needs its own code (auto_map), and code that comes with a model is never run. Use a checkpoint of an "
    "architecture that transformers supports (for HHEM: version 1.0)"
)


def _check_folder(folder: Path) -> None:
    """Raise ModelError if a folder has no safetensors, needs its own code, or has an invalid config.json."""
    if not any(folder.glob("*.safetensors")):
        raise ModelError(f"{folder} holds no *.safetensors; weights in other formats can run code and are not read")
    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(f"{folder} cannot be loaded as a sequence classifier: its config.json: {error}") from error
    if not isinstance(config, dict):
        raise ModelError(f"{folder} cannot be loaded as a sequence classifier: its config.json is not an object")
    own = config.get("auto_map")
    if isinstance(own, dict) and "AutoModelForSequenceClassification" in own:
        raise ModelError(f"{folder} cannot be loaded: {_OWN_CODE}")
    refuse_huge_numbers(config, str(folder / "config.json"))


def _load(where: str, local: bool) -> tuple[Any, Any]:
    library = importlib.import_module("transformers")  # slow import
    logging = importlib.import_module("transformers.utils.logging")
    bar, verbosity = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()  # missing files are reported below, in one line
    kind = library.AutoModelForSequenceClassification
    try:
        if local:
            config = library.AutoConfig.from_pretrained(where, trust_remote_code=False, local_files_only=True)
            refuse_more_than_is_stored(lambda: kind.from_config(config), Path(where), torch.float32, "cpu")
        model, loading = kind.from_pretrained(
            where,
            trust_remote_code=False,
            local_files_only=local,
            use_safetensors=True,
            dtype=torch.float32,
            output_loading_info=True,
        )
        tokenizer = library.AutoTokenizer.from_pretrained(where, trust_remote_code=False, local_files_only=local)
    except (OSError, ValueError, RuntimeError, KeyError, ImportError, SafetensorError) as error:
        reason = " ".join(str(error).split())[:400]
        if "trust_remote_code" in reason:
            raise ModelError(f"{where} cannot be loaded: {_OWN_CODE}") from error
        raise ModelError(f"{where} cannot be loaded as a sequence classifier: {reason}") from error
    finally:
        logging.set_verbosity(verbosity)
        if bar:
            logging.enable_progress_bar()
    if missing := sorted(loading["missing_keys"]):
        raise ModelError(f"{where} is not a trained sequence classifier: it lacks {', '.join(missing[:3])}")
    if getattr(tokenizer, "backend_tokenizer", None) is None:
        raise ModelError(f"{where} has no fast tokenizer (tokenizer.json): add one")
    # A document that contains "[SEP]" must not be able to end the evidence.
    tokenizer.split_special_tokens = True
    if tokenizer.pad_token_id is None:
        raise ModelError(f"{where}: its tokenizer has no padding token, so pairs cannot be scored in batches")
    return model, tokenizer


def _max_tokens(tokenizer: Any, config: Any) -> int:
    """Return the maximum number of tokens of a pair: at most 512, the length that pair classifiers are trained on."""
    lengths = [_MOST_TOKENS, int(tokenizer.model_max_length)]
    positions = getattr(config, "max_position_embeddings", None)
    if isinstance(positions, int) and positions > 0:
        # Models like RoBERTa count positions from the padding token's index plus one.
        offset = 2 if config.model_type in ("roberta", "xlm-roberta", "camembert", "longformer", "mpnet") else 0
        lengths.append(positions - offset)
    return min(lengths)


def _fingerprint(model: Any, tokenizer: Any, options: tuple[object, ...]) -> str:
    digest = hashlib.sha256()
    for key, tensor in sorted(model.state_dict().items()):
        digest.update(f"{key}:{tensor.dtype}:{tuple(tensor.shape)};".encode())
        digest.update(memoryview(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy()))
    rest = (hashlib.sha256(tokenizer.backend_tokenizer.to_str().encode()).hexdigest(), options)
    digest.update(json.dumps(rest).encode())
    return digest.hexdigest()
