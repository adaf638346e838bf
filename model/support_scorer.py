"""The embedded verifier as a PairScorer: texts to support, deduplicated, sorted by length, in batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

import torch

from model.device import bf16_pays
from model.freed_memory import keep_freed_memory
from model.packing import can_pack, pack_blocks
from model.pair_scoring import Pair
from model.support_encoder import PAD_ID
from model.support_files import LoadedSupport, load_support, shipped_verifier
from model.support_lack import lack
from model.support_tokens import SupportTokens

_TOKENS_PER_BATCH = 6000


class SupportScorer:
    """Scores pairs with a support encoder, in bf16 where that is faster.

    In bf16 scores move by 0.002 on average and up to 0.01, and nearly as much with the batch a pair is in; in fp32
    the batch moves them by about 1e-6 (measured on 50 pairs, CPU).
    """

    def __init__(self, loaded: LoadedSupport, *, bf16: bool | None = None) -> None:
        self._model, self._use, self._fingerprint = loaded.model, loaded.use, loaded.fingerprint
        self.tokens = SupportTokens(loaded.use.window_tokens)
        # Claims and questions recur, with every window. Evidence is not kept: it is long, and would fill the memory.
        self._encode = lru_cache(maxsize=4096)(self.tokens.tokenizer.encode)
        self._bf16 = bf16_pays(self._model.device) if bf16 is None else bf16
        keep_freed_memory()

    @property
    def name(self) -> str:
        """``embedded/FINGERPRINT``."""
        return f"embedded/{self._fingerprint[:16]}"

    def room(self, claim: str, question: str = "") -> int:
        """Tokens of evidence that fit beside this claim and question."""
        return self.tokens.room(self._encode(claim), self._encode(question))

    def count(self, texts: Sequence[str]) -> Sequence[int]:
        """Number of tokens of each text."""
        return [len(encoding.token_ids) for encoding in self.tokens.tokenizer.encode_many(texts)]

    def score(self, pairs: Sequence[Pair], progress: Callable[[int, int], None] | None = None) -> tuple[float, ...]:
        """Support of each pair (see ``PairScorer.score``)."""
        logits = self.logits(pairs, progress)
        return tuple(torch.sigmoid(self._use.slope * logits + self._use.intercept - self._lacks(pairs)).tolist())

    def logits(self, pairs: Sequence[Pair], progress: Callable[[int, int], None] | None = None) -> torch.Tensor:
        """The uncalibrated logits (N,), fp64, in order. Raises ModelError for an empty claim."""
        bare = [Pair(pair.evidence, pair.claim, pair.question) for pair in pairs]
        unique = list(dict.fromkeys(bare))
        texts = list(dict.fromkeys(pair.evidence for pair in unique))
        evidence = dict(zip(texts, self.tokens.tokenizer.encode_many(texts), strict=True))
        windows = [
            self.tokens.window(self._encode(pair.question), self._encode(pair.claim), evidence[pair.evidence].token_ids)
            for pair in unique
        ]
        found = self.window_logits(windows, progress)
        place = {pair: index for index, pair in enumerate(unique)}
        return found[[place[pair] for pair in bare]]

    def _lacks(self, pairs: Sequence[Pair]) -> torch.Tensor:
        """What is taken off each logit for what the evidence lacks: (N,), fp64."""
        lacks = {pair: lack(pair, self._use) for pair in dict.fromkeys(pairs)}
        return torch.tensor([lacks[pair] for pair in pairs], dtype=torch.float64)

    def window_logits(
        self, windows: Sequence[tuple[int, ...]], progress: Callable[[int, int], None] | None = None
    ) -> torch.Tensor:
        """Logits (N,), fp64, of windows given as token ids, in order."""
        # The longest first: it fits into memory, or nothing was lost when it does not.
        order = sorted(range(len(windows)), key=lambda i: -len(windows[i]))
        found = torch.zeros(len(windows), dtype=torch.float64)
        done = 0
        while done < len(order):
            size = max(1, _TOKENS_PER_BATCH // len(windows[order[done]]))
            these = order[done : done + size]
            found[these] = self._batch([windows[i] for i in these])
            done += len(these)
            if progress is not None:
                progress(done, len(order))
        return found

    @torch.inference_mode()
    def _batch(self, windows: Sequence[tuple[int, ...]]) -> torch.Tensor:
        longest = max(map(len, windows))
        ids = torch.tensor([[*window, *[PAD_ID] * (longest - len(window))] for window in windows])
        device = self._model.device
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=self._bf16):
            logits: torch.Tensor = self._model(ids.to(device)).logits
        return logits.double().cpu()


def load_support_scorer(folder: Path | None = None, *, device: str = "cpu") -> SupportScorer:
    """The scorer of a verifier's folder, the shipped one for None. Raises ModelError as load_support does."""
    loaded = load_support(folder or shipped_verifier(), device=device)
    place = loaded.model.device
    bf16 = bf16_pays(place)
    precision = torch.bfloat16 if bf16 else torch.float32
    if can_pack(place, precision):
        pack_blocks(loaded.model.blocks, precision)
    return SupportScorer(loaded, bf16=bf16)
