"""A cross-encoder from elsewhere as a PairScorer: any Hugging Face sequence classifier, its labels read by name.

Safetensors only, and no code that comes with a model is run. A folder is read from the disk alone; a name that is no
folder is a hub id, and only then may the library download.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from torch import Tensor

from model.errors import ModelError
from model.pair_scoring import Pair

_SUPPORTING = frozenset(
    (
        *("entailment", "entailed", "entails", "entail", "supported", "supports", "support", "consistent", "factual"),
        *("faithful", "grounded", "attributable", "true"),
    )
)
_MOST_TOKENS = 512
_BATCH_TOKENS = 8192
# An answer of a few words says nothing without its question; a sentence does.
_SHORT_CLAIM_WORDS = 8


class ForeignPairScorer:
    """A sequence classifier that reads evidence and claim as a pair."""

    def __init__(
        self, path_or_name: str, *, device: str = "cpu", claim_first: bool = False, label: str | None = None
    ) -> None:
        """claim_first: the order it was trained with, if that is not (evidence, claim). label: the name of the label
        that means supported, where it cannot be told. Raises ModelError when it cannot be loaded, or that is unclear.
        """
        local = Path(path_or_name).expanduser().is_dir()
        where = str(Path(path_or_name).expanduser()) if local else path_or_name
        if local and not any(Path(where).glob("*.safetensors")):
            raise ModelError(f"{where} holds no *.safetensors; weights in other formats can run code and are not read")
        self._model, self._tokenizer = _load(where, local)
        self._model.to(device).eval().requires_grad_(False)
        config = self._model.config
        self._supported = supporting_label(
            {int(i): str(name) for i, name in config.id2label.items()}, int(config.num_labels), where, label
        )
        self._sigmoid = config.num_labels == 1 or config.problem_type == "multi_label_classification"
        self._claim_first = claim_first
        self._device = device
        self._length = _longest(self._tokenizer, config)
        # At most half of it for the claim, so that there is always room for evidence.
        self._most_claim = (self._length - self._tokenizer.num_special_tokens_to_add(pair=True)) // 2
        if self._most_claim < 1:
            raise ModelError(f"{where} reads {self._length} tokens: too few for a pair of texts")
        self._fingerprint = _fingerprint(self._model, self._tokenizer, (self._supported, claim_first))
        self._name = f"{Path(where).name[-60:]}/{self._fingerprint[:12]}"

    @property
    def name(self) -> str:
        """The folder's or repository's name and the start of the fingerprint."""
        return self._name

    @property
    def fingerprint(self) -> str:
        """SHA-256 (hex) over weights, tokenizer, label and order."""
        return self._fingerprint

    def room(self, claim: str, question: str = "") -> int:
        """What the model reads, less special tokens and the claim (at most half)."""
        claim_tokens = min(self.count([_asked(claim, question)])[0], self._most_claim)
        return int(self._length - self._tokenizer.num_special_tokens_to_add(pair=True) - claim_tokens)

    def count(self, texts: Sequence[str]) -> Sequence[int]:
        """The model's tokens."""
        counts: list[int] = []
        for start in range(0, len(texts), 1000):  # a whole book's encodings at once take a hundred times its room
            batch = self._tokenizer(
                list(texts[start : start + 1000]), add_special_tokens=False, truncation=False, verbose=False
            )
            counts.extend(len(ids) for ids in batch["input_ids"])
        return counts

    def score(self, pairs: Sequence[Pair], progress: Callable[[int, int], None] | None = None) -> tuple[float, ...]:
        """See PairScorer.score. In float32; batches hold about 8,192 tokens."""
        for pair in pairs:
            if not pair.claim.strip():
                raise ModelError("the claim is empty: there is nothing to judge")
        distinct = list(dict.fromkeys(pairs))
        weights = [len(pair.evidence) + len(pair.claim) for pair in distinct]
        order = sorted(range(len(distinct)), key=lambda i: -weights[i])
        found: dict[Pair, float] = {}
        start = 0
        while start < len(order):
            longest = max(1, min(self._length, weights[order[start]] // 2))  # no tokenizer averages under 2 characters
            batch = [distinct[i] for i in order[start : start + max(1, _BATCH_TOKENS // longest)]]
            found.update(zip(batch, self._batch(batch), strict=True))
            start += len(batch)
            if progress is not None:
                progress(round(len(pairs) * start / len(order)), len(pairs))
        return tuple(found[pair] for pair in pairs)

    @torch.inference_mode()
    def _batch(self, pairs: Sequence[Pair]) -> list[float]:
        claims = [self._fitting(_asked(pair.claim, pair.question)) for pair in pairs]
        evidence = [pair.evidence for pair in pairs]
        first, second = (claims, evidence) if self._claim_first else (evidence, claims)
        encoded = self._tokenizer(
            first,
            second,
            truncation="only_second" if self._claim_first else "only_first",
            max_length=self._length,
            padding=True,
            return_tensors="pt",
        )
        logits: Tensor = self._model(**{name: part.to(self._device) for name, part in encoded.items()}).logits.float()
        chances = torch.sigmoid(logits) if self._sigmoid else torch.softmax(logits, dim=-1)  # (B, labels)
        return [float(value) for value in chances[:, self._supported].cpu()]

    def _fitting(self, claim: str) -> str:
        """The claim, cut behind the last token that fits half of what is read."""
        encoded = self._tokenizer(claim, add_special_tokens=False, truncation=False, return_offsets_mapping=True)
        offsets = encoded["offset_mapping"]
        return claim if len(offsets) <= self._most_claim else claim[: int(offsets[self._most_claim - 1][1])]


def supporting_label(names: Mapping[int, str], count: int, where: str, chosen: str | None = None) -> int:
    """The index of the label that means "the evidence supports the claim".

    One label is a single logit, read through a sigmoid. Of several, the one that is called entailment, supported,
    consistent or the like; of two without names (LABEL_0, LABEL_1) the second. chosen: a name that overrides this.
    Raises ModelError naming the labels when none or several would do.
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
        f"{where}: which label means that the evidence supports the claim? Its labels are {listed}; "
        "say which with --supported-label NAME"
    )


def _asked(claim: str, question: str) -> str:
    return f"{question} {claim}" if question.strip() and len(claim.split()) < _SHORT_CLAIM_WORDS else claim


def _load(where: str, local: bool) -> tuple[Any, Any]:
    library = importlib.import_module("transformers")  # takes seconds
    logging = importlib.import_module("transformers.utils.logging")
    bar = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        model = library.AutoModelForSequenceClassification.from_pretrained(
            where, trust_remote_code=False, local_files_only=local, use_safetensors=True, dtype=torch.float32
        )
        tokenizer = library.AutoTokenizer.from_pretrained(where, trust_remote_code=False, local_files_only=local)
    except (OSError, ValueError, RuntimeError, KeyError, ImportError, SafetensorError) as error:
        reason = " ".join(str(error).split())[:400]
        raise ModelError(f"{where} cannot be loaded as a sequence classifier: {reason}") from error
    finally:
        if bar:
            logging.enable_progress_bar()
    if getattr(tokenizer, "backend_tokenizer", None) is None:
        raise ModelError(f"{where} has no fast tokenizer (tokenizer.json): add one")
    # A document that contains "[SEP]" must not be able to end the evidence.
    tokenizer.split_special_tokens = True
    if tokenizer.pad_token_id is None:
        raise ModelError(f"{where}: its tokenizer has no padding token, so pairs cannot be scored in batches")
    return model, tokenizer


def _longest(tokenizer: Any, config: Any) -> int:
    """Tokens the model reads, at most 512: what pair classifiers are trained with, and what a window is meant to be."""
    lengths = [_MOST_TOKENS, int(tokenizer.model_max_length)]
    positions = getattr(config, "max_position_embeddings", None)
    if isinstance(positions, int) and positions > 0:
        # RoBERTa and its kin count positions from behind the padding token's.
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
