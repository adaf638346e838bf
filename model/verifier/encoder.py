"""The embedded verifier's network: MiniLM's layers read claim and evidence together and predict support.

The input is [CLS] question [SEP] claim [SEP] evidence [SEP]. Two features are added to a plain cross-encoder, because
22M parameters and an uncased vocabulary are weak at names and numbers:

- marks: whether each token also occurs in the other text, alone or with an adjacent token (an exact-match feature as in
  DrQA, Chen et al. 2017, section 3.2).
- worst word: in addition to the [CLS] token, every claim token predicts how badly it fits. The worst one lowers the
  support, because a claim is as good as its weakest part. These predictions also select the words that are marked.

Several claims of one answer may follow each other in place of the claim. Each is then judged by its own worst word and
has the others as context. Word embeddings are frozen and read from the MiniLM package.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from model.checkpoints.minilm import MINILM_LAYERS, minilm_prefix_decoder_state
from model.decoder.blocks import Block
from model.decoder.config import DecoderConfig
from model.decoder.marks import CLAIM, MARKS, NOTHING, exact_marks
from model.decoder.norms import make_norm
from model.errors import ModelError
from model.reader.prefix_decoder import PREFIX_CONFIG

SUPPORT_CONFIG = replace(PREFIX_CONFIG, head="linear")
PAD_ID, CLS_ID, SEP_ID, FIRST_ORDINARY_ID = 0, 101, 102, 104


@dataclass(frozen=True, slots=True)
class SupportFeatures:
    """Features that are added to the plain cross-encoder (see the module). Each can be turned off for ablations."""

    marks: bool = True
    worst_word: bool = True


@dataclass(frozen=True, slots=True)
class SupportOutput:
    """Output of the support encoder for W windows.

    overall: (W,), support logit of the [CLS] token. words: (W, T), how badly each claim token fits; -inf for other
    tokens. worst_word: whether the worst word is subtracted from the logit.
    """

    overall: Tensor
    words: Tensor
    worst_word: bool = True

    @property
    def logits(self) -> Tensor:
        """Support logits (W,), with all claim tokens of a window treated as one claim."""
        return self._subtract_worst(self.overall, self.words.max(dim=1).values)

    def claim_logits(self, reading_index: Tensor, window: Tensor) -> Tensor:
        """Return the support logit of each of R readings, (R,). A reading is one claim in one window.

        Claims in the same window share the logit of the [CLS] token and differ by their worst words. reading_index: (W,
        T), reading to which a token belongs, -1 for none. window: (R,), window of each reading.
        """
        inside = reading_index >= 0
        worst = torch.full(window.shape, -torch.inf, device=reading_index.device, dtype=self.words.dtype)
        worst = worst.scatter_reduce(0, reading_index[inside], self.words[inside], "amax")
        return self._subtract_worst(self.overall[window], worst)

    def _subtract_worst(self, overall: Tensor, worst: Tensor) -> Tensor:
        # A claim without any ordinary token (emoji only) has no worst word.
        return overall - torch.where(worst.isfinite(), worst, 0.0) if self.worst_word else overall


def segments(token_ids: Tensor) -> Tensor:
    """Return the part of each token, (W, T): QUESTION, CLAIM or EVIDENCE, separated by [SEP].

    Special tokens and padding are NOTHING. token_ids: (W, T).
    """
    passed = (token_ids == SEP_ID).cumsum(dim=1)
    return torch.where(token_ids >= FIRST_ORDINARY_ID, passed.clamp(max=NOTHING), NOTHING)


class SupportEncoder(nn.Module):
    """A network that maps windows of question, claim and evidence to support logits."""

    def __init__(self, features: SupportFeatures | None = None, config: DecoderConfig = SUPPORT_CONFIG) -> None:
        super().__init__()
        self.features = features or SupportFeatures()
        size = config.hidden_size
        self.config = config
        self.embedding = nn.Embedding(config.vocab_size, size)
        self.positions = nn.Embedding(config.max_positions, size)
        self.marks = nn.Embedding(MARKS, size)
        self.embedding_norm = make_norm(config)
        self.blocks = nn.ModuleList(Block(config, layer) for layer in range(config.num_layers))
        self.dense = nn.Linear(size, size)
        self.support = nn.Linear(size, 1)
        self.misfit = nn.Linear(size, 1)
        with torch.no_grad():
            nn.init.zeros_(self.marks.weight)
            for layer in (self.support, self.misfit):
                nn.init.normal_(layer.weight, std=0.02)
                nn.init.zeros_(layer.bias)

    @property
    def device(self) -> torch.device:
        """Device of the weights."""
        return self.embedding.weight.device

    def forward(self, token_ids: Tensor) -> SupportOutput:
        """Return the output for token_ids (W, T), right-padded with PAD_ID. Raises ModelError for a window too long."""
        if token_ids.shape[1] > self.config.max_positions:
            raise ModelError(
                f"a window of {token_ids.shape[1]} tokens does not fit the {self.config.max_positions} positions"
            )
        parts = segments(token_ids)
        x = self.embedding(token_ids) + self.positions.weight[: token_ids.shape[1]]
        if self.features.marks:
            x = x + self.marks(exact_marks(token_ids, parts))
        x = self.embedding_norm(x)  # (W, T, E)
        mask = (token_ids != PAD_ID)[:, None, None, :]  # (W, 1, 1, T)
        for block in self.blocks:
            x = block(x, mask, None, None)
        overall = self.support(torch.tanh(self.dense(x[:, 0]))).squeeze(-1).float()
        words = self.misfit(x).squeeze(-1).float().masked_fill(parts != CLAIM, -torch.inf)  # (W, T)
        return SupportOutput(overall, words, self.features.worst_word)


def warm_start_support(
    seed: int,
    features: SupportFeatures | None = None,
    layers: Mapping[str, Tensor] | None = None,
    *,
    num_layers: int = MINILM_LAYERS,
) -> SupportEncoder:
    """Create an encoder with pretrained layers, new heads initialised from ``seed``, and frozen word embeddings.

    layers: state with the encoder's embeddings and blocks, and optionally its marks; None for those of MiniLM.
    num_layers: number of layers; for MiniLM, its lowest ones. Raises ModelError if tensors are missing, unexpected or
    of another shape, or if MiniLM does not have that number of layers.
    """
    state = minilm_prefix_decoder_state(num_layers) if layers is None else layers
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = SupportEncoder(features, replace(SUPPORT_CONFIG, num_layers=num_layers))
    fresh = ("marks.", "dense.", "support.", "misfit.")
    try:
        missing, unexpected = model.load_state_dict(state, strict=False)
    except RuntimeError as error:
        raise ModelError(f"the layers do not fit the support encoder: {' '.join(str(error).split())[:300]}") from error
    wrong = unexpected + [name for name in missing if not name.startswith(fresh)]
    if wrong:
        raise ModelError(f"the layers do not fit the support encoder: {', '.join(wrong[:5])}")
    model.embedding.weight.requires_grad_(False)
    return model
