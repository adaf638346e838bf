"""Training a support encoder: the loss is the definition's, it learns, and a killed run ends as it would have."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn

from model.errors import ModelError
from model.training.loop import TrainProgress, TrainSettings
from model.training.pair_rows import UNKNOWN, PairRow, RowClaim, collate_pairs
from model.training.pair_trainer import WORD_WEIGHT, pair_loss, train_pairs
from model.verifier.encoder import CLS_ID, SEP_ID, SupportEncoder, SupportOutput
from tests.model.training_helpers import KilledError, full_disk, same, weights

Make = Callable[..., SupportEncoder]
SETTINGS = TrainSettings(learning_rate=3e-3, tokens_per_batch=60)


class Fixed(nn.Module):
    """Says what it was told to say."""

    def __init__(self, overall: torch.Tensor, words: torch.Tensor) -> None:
        super().__init__()
        self.output = SupportOutput(overall, words)

    def forward(self, token_ids: torch.Tensor) -> SupportOutput:
        return self.output


def window(claim: tuple[int, ...], evidence: tuple[int, ...]) -> tuple[int, ...]:
    return (CLS_ID, SEP_ID, *claim, SEP_ID, *evidence, SEP_ID)


def one(
    *windows: tuple[int, ...], supported: bool, wrong: tuple[int, ...] = (), at: tuple[int, int] = (2, 4)
) -> PairRow:
    """A row of one claim; in ``window`` a claim of two tokens stands at 2."""
    return PairRow(windows, (RowClaim(*at, supported, wrong),))


def copies(count: int = 16) -> list[PairRow]:
    """Supported: the claim's two words stand in the evidence, of which some come as two windows."""
    rows = []
    for n in range(count):
        claim = (110 + n, 130 + n)
        right, other = (claim[0], 150, claim[1]), (151, 152, 153)
        if n % 2:
            rows.append(one(window(claim, other), supported=False))
        elif n % 4:
            rows.append(one(window(claim, other), window(claim, right), supported=True))
        else:
            rows.append(one(window(claim, right), supported=True))
    return rows


def cross_entropy(logit: float, target: float) -> float:
    p = 1 / (1 + math.exp(-logit))
    return -target * math.log(p) - (1 - target) * math.log(1 - p)


def test_loss_by_hand() -> None:
    """Two rows, three windows, three claims: a claim's best window counts, and of its words there those known."""
    rows = [
        PairRow(((1, 2, 3), (1, 2, 4)), (RowClaim(0, 1, True), RowClaim(1, 3, False, (UNKNOWN, 1), 3.0))),
        PairRow(((6, 7),), (RowClaim(0, 2, True, (0, 0)),)),
    ]
    off = -math.inf
    overall = torch.tensor([1.0, 2.0, 0.5], requires_grad=True)
    words = torch.tensor([[0.5, -2.0, 0.3], [4.0, 3.0, 0.1], [-0.7, off, off]], requires_grad=True)
    found = pair_loss(Fixed(overall, words), collate_pairs(rows))  # type: ignore[arg-type]
    # The first claim: 1 - 0.5 against 2 - 4. The second: 1 - 0.3 against 2 - 3. The third: 0.5 + 0.7.
    full = (cross_entropy(0.5, 1) + 3 * cross_entropy(0.7, 0) + cross_entropy(1.2, 1)) / 5
    of_words = (cross_entropy(0.3, 1) + cross_entropy(-0.7, 0)) / 2  # the last one's second token says nothing
    assert found.item() == pytest.approx(full + WORD_WEIGHT * of_words, abs=1e-6)
    found.backward()  # type: ignore[no-untyped-call]
    assert overall.grad is not None and words.grad is not None
    assert overall.grad[1] == 0  # the lesser window has no say
    assert words.grad.nonzero().tolist() == [[0, 0], [0, 2], [2, 0]]  # nor have its words


def test_claims_of_one_row_may_rest_on_different_windows() -> None:
    rows = [PairRow(((1, 2), (1, 2)), (RowClaim(0, 1, True, (0,)), RowClaim(1, 2, True, (0,))))]
    words = torch.tensor([[0.0, 3.0], [4.0, -1.0]], requires_grad=True)
    pair_loss(Fixed(torch.tensor([0.2, 0.1]), words), collate_pairs(rows)).backward()  # type: ignore[arg-type, no-untyped-call]
    assert words.grad is not None and words.grad.nonzero().tolist() == [[0, 0], [1, 1]]


def test_without_known_words_only_the_claims_count() -> None:
    words = torch.tensor([[3.0, 4.0]])
    row = one((6, 7), supported=True, at=(0, 2))
    found = pair_loss(Fixed(torch.tensor([4.2]), words), collate_pairs([row]))  # type: ignore[arg-type]
    assert float(found) == pytest.approx(cross_entropy(0.2, 1))


def test_a_small_encoder_learns_sixteen_pairs_by_heart(small_support: Make, tmp_path: Path) -> None:
    rows, model, seen = copies(), small_support(), []
    settings = TrainSettings(learning_rate=1e-2, tokens_per_batch=1000, epochs=40, weight_decay=0.0)
    result = train_pairs(model, rows, settings, tmp_path, progress=seen.append, checkpoint_seconds=1e9)
    assert result.steps == len(seen) == 40
    assert seen[0].loss > 0.5
    assert not model.training
    with torch.inference_mode():
        for row in rows:
            best = max(float(model(torch.tensor([w])).logits) for w in row.windows)
            assert (best > 0) is row.claims[0].supported
            assert abs(best) > math.log(4)


def test_words_marked_wrong_become_the_worst(small_support: Make, tmp_path: Path) -> None:
    claims = [(110, 111 + n, 112) for n in range(0, 16, 2)]
    rows = [one(window(c, (120, 121)), supported=False, wrong=(0, 1, 0), at=(2, 5)) for c in claims]
    model = small_support()
    settings = TrainSettings(learning_rate=1e-2, tokens_per_batch=1000, epochs=40, weight_decay=0.0)
    train_pairs(model, rows, settings, tmp_path, checkpoint_seconds=1e9)
    with torch.inference_mode():
        words = model(collate_pairs(rows).token_ids).words
    assert words.argmax(dim=1).tolist() == [3] * len(rows)
    assert (words[:, 3] > 0).all() and (words[:, [2, 4]] < 0).all()


def test_claims_read_together_are_told_apart(small_support: Make, tmp_path: Path) -> None:
    """Two claims in one window, of which one stands in the evidence: the same words, so only their places differ."""
    rows = []
    for n in range(0, 16, 2):
        right, wrong = (110 + n, 111 + n), (130 + n, 131 + n)
        ids = window((*right, *wrong), right)
        rows.append(PairRow((ids,), (RowClaim(2, 4, True, (0, 0)), RowClaim(4, 6, False, (1, 1)))))
        ids = window((*wrong, *right), right)
        rows.append(PairRow((ids,), (RowClaim(2, 4, False, (1, 1)), RowClaim(4, 6, True, (0, 0)))))
    model = small_support()
    settings = TrainSettings(learning_rate=1e-2, tokens_per_batch=1000, epochs=60, weight_decay=0.0)
    train_pairs(model, rows, settings, tmp_path, checkpoint_seconds=1e9)
    batch = collate_pairs(rows)
    with torch.inference_mode():
        logits = model(batch.token_ids).claim_logits(batch.reading_index, batch.window)
    assert ((logits > 0) == batch.supported.bool()).all()


@pytest.mark.parametrize("bf16", [False, True])
def test_a_run_killed_at_any_step_ends_bitwise_where_an_undisturbed_one_does(
    small_support: Make, bf16: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bitwise: the same machine, thread count and precision compute the same sums."""
    monkeypatch.setattr("model.training.loop.bf16_pays", lambda device: bf16)
    rows, full = copies(), small_support()
    result = train_pairs(full, rows, SETTINGS, tmp_path / "whole")
    assert result.steps > 3
    for kill in range(1, result.steps + 1, 2):
        folder = tmp_path / f"killed-{kill}"

        def die(progress: TrainProgress, at: int = kill) -> None:
            if progress.step == at:
                raise KilledError

        with pytest.raises(KilledError):
            train_pairs(small_support(), rows, SETTINGS, folder, progress=die, checkpoint_seconds=0.0)
        resumed = small_support()
        again = train_pairs(resumed, rows, SETTINGS, folder, checkpoint_seconds=0.0)
        assert again.resumed_at == kill - 1
        assert (again.steps, again.loss) == (result.steps, result.loss)
        assert same(weights(full), weights(resumed))
    finished = small_support()
    assert train_pairs(finished, rows, SETTINGS, tmp_path / "whole").resumed_at == result.steps
    assert same(weights(full), weights(finished))


def test_anothers_checkpoint_is_refused_by_name(small_support: Make, tmp_path: Path) -> None:
    rows = copies()
    settings = dataclasses.replace(SETTINGS, max_steps=1)
    train_pairs(small_support(), rows, settings, tmp_path)
    with pytest.raises(ModelError, match="other rows:"):
        train_pairs(small_support(), rows[::-1], settings, tmp_path)
    with pytest.raises(ModelError, match="other settings:"):
        train_pairs(small_support(), rows, dataclasses.replace(settings, seed=1), tmp_path)
    with pytest.raises(ModelError, match="other starting weights"):
        train_pairs(small_support(seed=5), rows, settings, tmp_path)


def test_a_full_disk_keeps_the_last_checkpoint(small_support: Make, tmp_path: Path) -> None:
    with (
        full_disk(3, 20_000) as fill,
        pytest.raises(ModelError, match=r"step-0000003"),
    ):
        train_pairs(small_support(), copies(), SETTINGS, tmp_path, progress=fill, checkpoint_seconds=0.0)
    assert [path.name for path in tmp_path.iterdir()] == ["step-0000002"]
    assert train_pairs(small_support(), copies(), SETTINGS, tmp_path).resumed_at == 2


def test_what_cannot_be_trained_on_is_refused(small_support: Make, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no training rows"):
        train_pairs(small_support(), [], SETTINGS, tmp_path)
    with pytest.raises(ModelError, match=r"65 tokens.* 64"):
        train_pairs(small_support(), [one((1,), (110,) * 65, supported=True, at=(0, 1))], SETTINGS, tmp_path)
    with pytest.raises(ModelError, match=r"token 160.* 160"):
        train_pairs(small_support(), [one((160,), supported=True, at=(0, 1))], SETTINGS, tmp_path)
    with pytest.raises(ModelError, match="token -1"):
        train_pairs(small_support(), [one((-1,), supported=True, at=(0, 1))], SETTINGS, tmp_path)
