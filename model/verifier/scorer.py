"""Use the embedded verifier as a PairScorer, with deduplicated windows in batches of similar length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

import torch

from model.checkpoints.shipped import shipped_verifier
from model.checkpoints.tokenizer import Encoding
from model.decoder.packing import can_pack, pack_blocks
from model.errors import ModelError
from model.hardware.device import bf16_pays
from model.hardware.freed_memory import keep_freed_memory
from model.pairs.scoring import Pair
from model.verifier.answer_context import is_short_answer_claim
from model.verifier.encoder import PAD_ID
from model.verifier.files import LoadedSupport, load_support
from model.verifier.lexical_penalty import lexical_penalty
from model.verifier.tokens import AnswerWindow, SupportTokens

_TOKENS_PER_BATCH = 6000


class SupportScorer:
    """A PairScorer with a support encoder.

    bf16: whether to compute in bf16; None uses it if the hardware supports it. In bf16 scores change by 0.002 on
    average and by at most 0.01, and they also depend on the other pairs of the batch. In fp32 the batch changes them by
    about 1e-6 (50 pairs on a CPU).
    """

    def __init__(self, loaded: LoadedSupport, *, bf16: bool | None = None) -> None:
        self._model, self._use, self._fingerprint = loaded.model, loaded.use, loaded.fingerprint
        self.tokens = SupportTokens(loaded.use.window_tokens)
        # Claims and questions recur in every window. Evidence is not cached, because it would fill the memory.
        self._encode = lru_cache(maxsize=4096)(self.tokens.tokenizer.encode)
        self._bf16 = bf16_pays(self._model.device) if bf16 is None else bf16
        keep_freed_memory()

    @property
    def name(self) -> str:
        """Name of the form ``embedded/FINGERPRINT``."""
        return f"embedded/{self._fingerprint[:16]}"

    def room(self, claim: str, question: str = "") -> int:
        """Return the number of evidence tokens that fit with this claim and question."""
        return self.tokens.room(self._encode(claim), self._encode(question))

    def count(self, texts: Sequence[str]) -> Sequence[int]:
        """Return the number of tokens of each text."""
        return [len(encoding.token_ids) for encoding in self.tokens.tokenizer.encode_many(texts)]

    @property
    def languages(self) -> tuple[str, ...]:
        """Languages of the encoder's training data."""
        return ("English",)

    @property
    def answer_tokens(self) -> int:
        """Maximum tokens of claims that are read together; 0 if each claim is read alone."""
        return self._use.answer_tokens

    def score(self, pairs: Sequence[Pair], progress: Callable[[int, int], None] | None = None) -> tuple[float, ...]:
        """Return the support of each pair, in order. See ``PairScorer.score``. Raises ModelError as ``logits`` does."""
        use = self._use
        curves = [
            use.curve(together=self._reads_together(p), short=is_short_answer_claim(p.question, p.claim)) for p in pairs
        ]
        slope, intercept = torch.tensor(curves, dtype=torch.float64).reshape(-1, 2).unbind(dim=1)
        logits = self.logits(pairs, progress)
        return tuple(torch.sigmoid(slope * logits + intercept - self._penalties(pairs)).tolist())

    def logits(self, pairs: Sequence[Pair], progress: Callable[[int, int], None] | None = None) -> torch.Tensor:
        """Return the uncalibrated logits of the pairs, (N,) in fp64. A window is read once for all of its claims.

        Raises ModelError for an empty claim, and for a pair whose answer does not contain its claim or has more than
        ``answer_tokens`` tokens. A claim that is read alone may be longer and is truncated.
        """
        readings = [
            (pair.evidence, pair.question, pair.answer if self._reads_together(pair) else (pair.claim,))
            for pair in pairs
        ]
        unique = list(dict.fromkeys(readings))
        texts = list(dict.fromkeys(evidence for evidence, _, _ in unique))
        evidence = dict(zip(texts, self.tokens.tokenizer.encode_many(texts), strict=True))
        windows = [
            self.tokens.answer_window(self._encode(question), self._encode_claims(claims), evidence[text].token_ids)
            for text, question, claims in unique
        ]

        def scaled(done: int, total: int) -> None:
            if progress is not None:
                progress(len(pairs) * done // total, len(pairs))

        found = self.window_logits(windows, scaled)
        position = {reading: index for index, reading in enumerate(unique)}
        logits = [
            found[position[reading]][reading[2].index(pair.claim)]
            for pair, reading in zip(pairs, readings, strict=True)
        ]
        return torch.tensor(logits, dtype=torch.float64)

    def _reads_together(self, pair: Pair) -> bool:
        if not self._use.answer_tokens or len(pair.answer) < 2:  # a single claim is read alone
            return False
        if pair.claim not in pair.answer:
            raise ModelError(f"the claim {pair.claim[:80]!r} is not one of the {len(pair.answer)} claims of its answer")
        return True

    def _encode_claims(self, claims: Sequence[str]) -> list[Encoding]:
        encoded = [self._encode(claim) for claim in claims]
        taken = sum(len(encoding.token_ids) for encoding in encoded)
        if len(claims) > 1 and taken > self._use.answer_tokens:
            raise ModelError(
                f"{len(claims)} claims to read together have {taken} tokens, and this verifier reads at most "
                f"{self._use.answer_tokens} at once: pass fewer claims"
            )
        return encoded

    def _penalties(self, pairs: Sequence[Pair]) -> torch.Tensor:
        """Return the lexical penalty of each pair, (N,) in fp64."""
        penalties = {pair: lexical_penalty(pair, self._use) for pair in dict.fromkeys(pairs)}
        return torch.tensor([penalties[pair] for pair in pairs], dtype=torch.float64)

    def window_logits(
        self, windows: Sequence[AnswerWindow], progress: Callable[[int, int], None] | None = None
    ) -> list[list[float]]:
        """Return the logits of the claims of each window, in order. progress: called with (windows done, total)."""
        # The longest windows come first, so that a lack of memory shows at once.
        order = sorted(range(len(windows)), key=lambda i: -len(windows[i].token_ids))
        found: list[list[float]] = [[] for _ in windows]
        done = 0
        while done < len(order):
            size = max(1, _TOKENS_PER_BATCH // len(windows[order[done]].token_ids))
            these = order[done : done + size]
            for index, logits in zip(these, self._batch([windows[i] for i in these]), strict=True):
                found[index] = logits
            done += len(these)
            if progress is not None:
                progress(done, len(order))
        return found

    @torch.inference_mode()
    def _batch(self, windows: Sequence[AnswerWindow]) -> list[list[float]]:
        longest = max(len(window.token_ids) for window in windows)
        ids = torch.tensor([[*w.token_ids, *[PAD_ID] * (longest - len(w.token_ids))] for w in windows])
        reading_index = torch.full(ids.shape, -1)
        owner: list[int] = []
        for index, window in enumerate(windows):
            for start, end in window.spans:
                reading_index[index, start:end] = len(owner)
                owner.append(index)
        device = self._model.device
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=self._bf16):
            out = self._model(ids.to(device))
        logits = iter(out.claim_logits(reading_index.to(device), torch.tensor(owner, device=device)).double().tolist())
        return [[next(logits) for _ in window.spans] for window in windows]


def load_support_scorer(folder: Path | None = None, *, device: str = "cpu") -> SupportScorer:
    """Load the scorer of a verifier. folder: None for the shipped one. Raises ModelError as ``load_support`` does."""
    loaded = load_support(folder or shipped_verifier(), device=device)
    device_used = loaded.model.device
    bf16 = bf16_pays(device_used)
    precision = torch.bfloat16 if bf16 else torch.float32
    if can_pack(device_used, precision):
        pack_blocks(loaded.model.blocks, precision)
    return SupportScorer(loaded, bf16=bf16)
