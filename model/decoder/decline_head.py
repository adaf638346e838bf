"""The decline head: a small network that corrects the probability of declining to answer.

A reader declines by pointing at the no-answer marker. Its training passages are mostly unrelated to the question, so
the pointer is poor at passages that almost answer it. The hidden states separate these better (compare P(IK), Kadavath
et al. 2022, section 5). The network reads two hidden states and is fitted after training, with all other weights fixed.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

_LEAST, _MOST = -60.0, -1e-6  # range of log-probabilities with finite odds in fp32


class Decline(nn.Module):
    """The correction logit P(declines) = scale logit(p) + w gelu(W h + b) + c.

    p: the pointer's probability of declining. h (2E): the first state of the answer, then the state of the no-answer
    marker. size: E. hidden: rows of W. With the initial parameters P(declines) is p.
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
        """Return the log-odds of declining, (...) in fp32.

        states: (..., 2E). pointed: (...), the pointer's log-probability of declining.
        """
        logits: Tensor = self.outer(F.gelu(self.inner(states))).squeeze(-1).float()
        return self.pointed_odds(pointed) + logits

    def pointed_odds(self, pointed: Tensor) -> Tensor:
        """Return the pointer's part of the log-odds, (...) in fp32."""
        kept = pointed.float().clamp(_LEAST, _MOST)
        return self.scale.float() * (kept - torch.log(-torch.expm1(kept)))

    def forward(self, states: Tensor, pointed: Tensor) -> tuple[Tensor, Tensor]:
        """Return the log-probability of declining, and the term to add to all other log-probabilities: (...) each."""
        odds = self.log_odds(states, pointed)
        kept = pointed.clamp(_LEAST, _MOST)
        return F.logsigmoid(odds), F.logsigmoid(-odds) - torch.log(-torch.expm1(kept))
