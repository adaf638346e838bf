"""A decoder-only language model as a cross-encoder, with low-rank adapters on its upper layers and one logit of
support.

The prompt contains evidence, question and claim in this order. The logit is the product of the last token's hidden
state with a vector. The vector starts as the difference of the embeddings of " Yes" and " No", or at zero if upper
layers are left out. The lower layers are frozen and keep no activations. The upper ones get a low-rank update of every
linear layer (Hu et al. 2021, "LoRA", eq. 3).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from safetensors.torch import load_file
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from torch import Tensor, nn
from torch.nn import functional as F

from model.checkpoints.files import write_tensors
from model.checkpoints.loading import load_decoder
from model.checkpoints.tokenizer import Tokenizer
from model.decoder.attention import step_mask
from model.decoder.decoder import Decoder
from model.decoder.packing import can_pack, pack_blocks
from model.errors import ModelError
from model.hardware.device import bf16_pays
from model.hardware.freed_memory import keep_freed_memory
from model.pairs.scoring import Pair

_TOKENS_PER_BATCH = 3000
_LENGTH_STEP = 8
_PROBE_C, _PROBED_AT_ONCE = 0.003, 24


class LowRank(nn.Module):
    """A linear layer W x + b + (scale / rank) B A x, with W and b frozen (Hu et al. 2021, eq. 3). B starts at zero."""

    def __init__(self, frozen: nn.Linear, rank: int, scale: float) -> None:
        super().__init__()
        # Hidden from nn.Module: neither saved, trained nor moved with the adapter.
        self._frozen = (frozen,)
        self.down = nn.Parameter(torch.empty(rank, frozen.in_features))
        self.up = nn.Parameter(torch.zeros(frozen.out_features, rank))
        self.factor = scale / rank
        nn.init.kaiming_uniform_(self.down, a=math.sqrt(5))

    def forward(self, x: Tensor) -> Tensor:
        """Map (..., I) to (..., O)."""
        dtype = x.dtype
        low = F.linear(x, self.down.to(dtype))
        out: Tensor = self._frozen[0](x) + F.linear(low, (self.up * self.factor).to(dtype))
        return out


class DecoderVerifier(nn.Module):
    """A network that maps prompts to logits of support. Its parameters are the adapters and the head, without the
    decoder.
    """

    def __init__(self, decoder: Decoder, direction: Tensor, *, first_layer: int, rank: int, scale: float) -> None:
        """Add adapters to the decoder's layers.

        direction: initial value of the head, (E).
        first_layer: the lowest layer that is adapted.

        Raises ModelError for a decoder of another family than Llama's, and for a first layer that it does not have.
        """
        super().__init__()
        if decoder.rotary is None or decoder.final_norm is None:
            raise ModelError("only decoders with rotary positions and a final norm can be adapted")
        if not 0 <= first_layer < len(decoder.blocks):
            raise ModelError(f"the first layer is {first_layer}, there are {len(decoder.blocks)}: give a lower one")
        self._decoder = (decoder,)
        self.first_layer = first_layer
        self.adapters = nn.ModuleDict()
        for layer in range(first_layer, len(decoder.blocks)):
            block = decoder.blocks[layer]
            for parent, name in _linears(block):
                adapter = LowRank(getattr(parent, name), rank, scale)
                self.adapters[f"{layer}_{name}"] = adapter
                setattr(parent, name, adapter)
        self.head = nn.Parameter(direction.detach().float().clone())
        self.bias = nn.Parameter(torch.zeros(1))

    @property
    def decoder(self) -> Decoder:
        """The language model."""
        return self._decoder[0]

    def forward(self, token_ids: Tensor, lengths: Tensor) -> Tensor:
        """Return the logits (B), fp32. token_ids: (B, T), right-padded. lengths: (B)."""
        return self.last_states(token_ids, lengths) @ self.head + self.bias

    def last_states(self, token_ids: Tensor, lengths: Tensor) -> Tensor:
        """Return the normalised hidden state of each prompt's last token: (B, E), fp32."""
        decoder, steps = self.decoder, token_ids.shape[1]
        assert decoder.rotary is not None and decoder.final_norm is not None  # refused above
        mask = step_mask(0, steps, token_ids.device)
        with torch.no_grad():
            x = decoder.embedding(token_ids)  # (B, T, E)
            rotation = decoder.rotary(torch.arange(steps)[None])
            for block in decoder.blocks[: self.first_layer]:
                x = block(x, mask, rotation, None)
        for block in decoder.blocks[self.first_layer :]:
            x = block(x, mask, rotation, None)
        last = x[torch.arange(len(lengths)), lengths - 1]  # (B, E)
        out: Tensor = decoder.final_norm(last).float()
        return out


def _linears(block: nn.Module) -> list[tuple[nn.Module, str]]:
    return [
        (parent, name)
        for parent in list(block.modules())
        for name, child in list(parent.named_children())
        if isinstance(child, nn.Linear)
    ]


def open_decoder_verifier(
    path: Path, *, first_layer: int, rank: int, scale: float, layers: int | None = None, seed: int = 0
) -> tuple[DecoderVerifier, PromptTokens]:
    """Open a GGUF file or checkpoint folder with new adapters, in bf16 where that is faster. Raises ModelError.

    layers: number of layers to keep, from the bottom; None for all.
    """
    keep_freed_memory()
    dtype = torch.bfloat16 if bf16_pays(torch.device("cpu")) else torch.float32
    decoder = load_decoder(path, dtype=dtype)
    del decoder.blocks[decoder.config.num_layers if layers is None else layers :]
    prompts = PromptTokens(Tokenizer.from_checkpoint(path))
    if can_pack(decoder.device, dtype):
        pack_blocks(decoder.blocks[:first_layer])
    yes, no = (prompts.tokenizer.encode(word).token_ids[0] for word in (" Yes", " No"))
    weights = decoder.embedding.weight.float()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        direction = weights[yes] - weights[no]
        if len(decoder.blocks) < decoder.config.num_layers:  # intermediate layers do not predict the next token
            direction = torch.zeros_like(direction)
        model = DecoderVerifier(decoder, direction, first_layer=first_layer, rank=rank, scale=scale)
    return model, prompts


class PromptTokens:
    """An encoder of pairs as token ids. Evidence beyond the window is cut off. window: maximum tokens of the evidence
    and its label.
    """

    def __init__(self, tokenizer: Tokenizer, window: int = 420) -> None:
        self.tokenizer = tokenizer
        self.window = window

    @property
    def room(self) -> int:
        """Number of evidence tokens that fit."""
        return self.window - len(self.tokenizer.encode("Text: ").token_ids)

    def encode(self, pairs: Sequence[Pair]) -> list[tuple[int, ...]]:
        """Return the prompt of each pair."""
        tokenizer = self.tokenizer
        heads = tokenizer.encode_many([f"Text: {pair.evidence}" for pair in pairs])
        tails = tokenizer.encode_many([_tail(pair) for pair in pairs])
        return [(*h.token_ids[: self.window], *t.token_ids) for h, t in zip(heads, tails, strict=True)]


def _tail(pair: Pair) -> str:
    question = f"\nQuestion: {pair.question}" if pair.question.strip() else ""
    return f"{question}\nClaim: {pair.claim}\nTrue?"


def padded(prompts: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Return token ids (B, T), right-padded to a multiple of 8, and lengths (B)."""
    lengths = torch.tensor([len(prompt) for prompt in prompts])
    longest = -(-int(lengths.max()) // _LENGTH_STEP) * _LENGTH_STEP
    ids = torch.tensor([[*prompt, *[0] * (longest - len(prompt))] for prompt in prompts])
    return ids, lengths


@torch.no_grad()
def start_from_probe(model: DecoderVerifier, prompts: Sequence[Sequence[int]], supported: Sequence[bool]) -> None:
    """Set the head to a logistic regression on the states of the untrained model, in place.

    Fine-tuning that starts from a fitted head changes the layers less (Kumar et al. 2022, "LP-FT").
    """
    order = sorted(range(len(prompts)), key=lambda i: len(prompts[i]))
    parts = [order[i : i + _PROBED_AT_ONCE] for i in range(0, len(order), _PROBED_AT_ONCE)]
    states = torch.cat([model.last_states(*padded([prompts[i] for i in part])) for part in parts]).numpy()
    scaler = StandardScaler().fit(states)
    fitted = LogisticRegression(C=_PROBE_C, max_iter=1000).fit(scaler.transform(states), [supported[i] for i in order])
    head = fitted.coef_[0] / scaler.scale_
    model.head.copy_(torch.tensor(head))
    model.bias.copy_(torch.tensor(fitted.intercept_ - head @ scaler.mean_))


class DecoderScorer:
    """A PairScorer with a decoder verifier. Support is the logistic function of the logit, without calibration."""

    def __init__(self, model: DecoderVerifier, tokens: PromptTokens, name: str) -> None:
        self._model, self._tokens, self._name = model, tokens, name

    @property
    def name(self) -> str:
        """The name given at creation."""
        return self._name

    def room(self, claim: str, question: str = "") -> int:
        """Return the number of evidence tokens in a prompt, which is the same for all claims."""
        return self._tokens.room

    def count(self, texts: Sequence[str]) -> Sequence[int]:
        """Return the number of tokens of each text."""
        return [len(encoding.token_ids) for encoding in self._tokens.tokenizer.encode_many(texts)]

    @torch.no_grad()
    def score(self, pairs: Sequence[Pair], progress: Callable[[int, int], None] | None = None) -> tuple[float, ...]:
        """Return the support of each pair, in order. Equal pairs are scored once; the longest are scored first."""
        unique = list(dict.fromkeys(Pair(p.evidence, p.claim, p.question) for p in pairs))
        prompts = self._tokens.encode(unique)
        order = sorted(range(len(prompts)), key=lambda i: -len(prompts[i]))
        supports: dict[Pair, float] = {}
        self._model.decoder.eval()
        done = 0
        while done < len(order):
            size = max(1, _TOKENS_PER_BATCH // len(prompts[order[done]]))
            these = order[done : done + size]
            support = torch.sigmoid(self._model(*padded([prompts[i] for i in these])).double())
            supports.update({unique[i]: float(value) for i, value in zip(these, support, strict=True)})
            done += len(these)
            if progress is not None:
                progress(done, len(order))
        return tuple(supports[Pair(p.evidence, p.claim, p.question)] for p in pairs)


def save_adapter(model: DecoderVerifier, path: Path) -> None:
    """Write the adapters and the head in fp16."""
    write_tensors(path, {name: p.detach().to(torch.float16) for name, p in model.named_parameters()})


def load_adapter(model: DecoderVerifier, path: Path) -> None:
    """Load the adapters and the head from a file, in place. Raises RuntimeError if their shapes differ."""
    model.load_state_dict({name: tensor.float() for name, tensor in load_file(path).items()})
