"""The decline head: corrects the pointer's probability of "no passage answers" with the answer's first state.

A reader learns to point at the no-answer marker along with everything else, mostly from passages unrelated to the
question. Its hidden states separate near misses better than the pointer does (a probe of hidden states: Kadavath et al.
2022, section 5, P(IK)). A small network on two states is therefore fitted after the training, with all other weights
fixed.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

_LEAST, _MOST = -60.0, -1e-6  # log-probabilities whose odds are finite in fp32


class Decline(nn.Module):
    """logit P(declines) = scale logit(p) + w gelu(W h + b) + c, with p from the pointer and h two states.

    h (2E): the state that the answer starts with, then the marker's. hidden: rows of W. The initial parameters change
    nothing.
    """

    def __init__(self, size: int, hidden: int) -> None:
        super().__init__()
        self.inner = nn.Linear(2 * size, hidden)
        self.outer = nn.Linear(hidden, 1)
        self.scale = nn.Parameter(torch.ones(1))
        with torch.no_grad():
            nn.init.zeros_(self.outer.weight)
            nn.init.zeros_(self.outer.bias)

    def log_odds(self, states: Tensor, pointed: Tensor) -> Tensor:
        """states (..., 2E), pointed (...): the pointer's log-probability of declining -> (...), in fp32."""
        logits: Tensor = self.outer(F.gelu(self.inner(states))).squeeze(-1).float()
        return self.pointed_odds(pointed) + logits

    def pointed_odds(self, pointed: Tensor) -> Tensor:
        """The pointer's part of the log-odds."""
        kept = pointed.float().clamp(_LEAST, _MOST)
        return self.scale.float() * (kept - torch.log(-torch.expm1(kept)))

    def forward(self, states: Tensor, pointed: Tensor) -> tuple[Tensor, Tensor]:
        """(log-probability of declining, correction added to all other log-probabilities), (...) each."""
        odds = self.log_odds(states, pointed)
        kept = pointed.clamp(_LEAST, _MOST)
        return F.logsigmoid(odds), F.logsigmoid(-odds) - torch.log(-torch.expm1(kept))
