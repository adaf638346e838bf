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
from model.support_encoder import CLS_ID, SEP_ID, SupportEncoder, SupportOutput
from model.training.loop import TrainProgress, TrainSettings
from model.training.pair_rows import UNKNOWN, PairRow, collate_pairs
from model.training.pair_trainer import WORD_WEIGHT, pair_loss, train_pairs
from tests.model.training_helpers import KilledError, full_disk, same, weights

Make = Callable[..., SupportEncoder]
SETTINGS = TrainSettings(learning_rate=3e-3, tokens_per_batch=60)


class Fixed(nn.Module):
    """Says what it was told to say."""

    def __init__(self, logits: torch.Tensor, words: torch.Tensor) -> None:
        super().__init__()
        self.said = SupportOutput(logits, words)

    def forward(self, token_ids: torch.Tensor) -> SupportOutput:
        return self.said


def window(claim: tuple[int, ...], evidence: tuple[int, ...]) -> tuple[int, ...]:
    return (CLS_ID, SEP_ID, *claim, SEP_ID, *evidence, SEP_ID)


def copies(count: int = 16) -> list[PairRow]:
    """Supported: the claim's two words stand in the evidence, of which some come as two windows."""
    rows = []
    for n in range(count):
        claim = (110 + n, 130 + n)
        right, other = (claim[0], 150, claim[1]), (151, 152, 153)
        if n % 2:
            rows.append(PairRow((window(claim, other),), False))
        elif n % 4:
            rows.append(PairRow((window(claim, other), window(claim, right)), True))
        else:
            rows.append(PairRow((window(claim, right),), True))
    return rows


def cross_entropy(logit: float, target: float) -> float:
    p = 1 / (1 + math.exp(-logit))
    return -target * math.log(p) - (1 - target) * math.log(1 - p)


def test_loss_by_hand() -> None:
    """Two rows, three windows: the best window of a row counts, and of its words those known and of the claim."""
    rows = [
        PairRow(((1, 2, 3), (1, 2, 4)), True, wrong=(UNKNOWN, 0, 1)),
        PairRow(((6, 7),), False, wrong=(1, UNKNOWN), weight=3.0),
    ]
    off = -math.inf
    logits = torch.tensor([-1.0, 2.0, 0.5], requires_grad=True)
    words = torch.tensor([[9.0, 4.0, off], [8.0, 0.3, off], [-0.7, 5.0, off]], requires_grad=True)
    found = pair_loss(Fixed(logits, words), collate_pairs(rows))  # type: ignore[arg-type]
    whole = (cross_entropy(2.0, 1) + 3 * cross_entropy(0.5, 0)) / 4
    of_words = (cross_entropy(0.3, 0) + cross_entropy(-0.7, 1)) / 2  # the wrong third word is no claim token here
    assert found.item() == pytest.approx(whole + WORD_WEIGHT * of_words, abs=1e-6)
    found.backward()  # type: ignore[no-untyped-call]
    assert logits.grad is not None and words.grad is not None
    assert logits.grad[0] == 0  # the lesser window has no say
    assert words.grad.nonzero().tolist() == [[1, 1], [2, 0]]  # nor have its words


def test_without_known_words_only_the_rows_count() -> None:
    words = torch.tensor([[3.0, 4.0]])
    row = PairRow(((6, 7),), True)
    found = pair_loss(Fixed(torch.tensor([0.2]), words), collate_pairs([row]))  # type: ignore[arg-type]
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
            assert (best > 0) is row.supported
            assert abs(best) > math.log(4)


def test_words_marked_wrong_become_the_worst(small_support: Make, tmp_path: Path) -> None:
    claims = [(110, 111 + n, 112) for n in range(0, 16, 2)]
    rows = [PairRow((window(c, (120, 121)),), False, wrong=(-1, -1, 0, 1, 0, -1, -1, -1, -1)) for c in claims]
    model = small_support()
    settings = TrainSettings(learning_rate=1e-2, tokens_per_batch=1000, epochs=40, weight_decay=0.0)
    train_pairs(model, rows, settings, tmp_path, checkpoint_seconds=1e9)
    with torch.inference_mode():
        words = model(collate_pairs(rows).token_ids).words
    assert words.argmax(dim=1).tolist() == [3] * len(rows)
    assert (words[:, 3] > 0).all() and (words[:, [2, 4]] < 0).all()


@pytest.mark.parametrize("bf16", [False, True])
def test_a_run_killed_at_any_step_ends_bitwise_where_an_undisturbed_one_does(
    small_support: Make, bf16: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bitwise: the same machine, thread count and precision compute the same sums."""
    monkeypatch.setattr("model.training.loop.bf16_pays", lambda device: bf16)
    rows, whole = copies(), small_support()
    result = train_pairs(whole, rows, SETTINGS, tmp_path / "whole")
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
        assert same(weights(whole), weights(resumed))
    finished = small_support()
    assert train_pairs(finished, rows, SETTINGS, tmp_path / "whole").resumed_at == result.steps
    assert same(weights(whole), weights(finished))


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
        pytest.raises(ModelError, match=r"step-0000003 could not be written .*the one before it is kept"),
    ):
        train_pairs(small_support(), copies(), SETTINGS, tmp_path, progress=fill, checkpoint_seconds=0.0)
    assert [path.name for path in tmp_path.iterdir()] == ["step-0000002"]
    assert train_pairs(small_support(), copies(), SETTINGS, tmp_path).resumed_at == 2


def test_what_cannot_be_trained_on_is_refused(small_support: Make, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no training rows"):
        train_pairs(small_support(), [], SETTINGS, tmp_path)
    with pytest.raises(ModelError, match="window of 65 tokens does not fit the 64 positions"):
        train_pairs(small_support(), [PairRow(((1,), (110,) * 65), True)], SETTINGS, tmp_path)
    with pytest.raises(ModelError, match="a row holds token 160, the model has 160"):
        train_pairs(small_support(), [PairRow(((160,),), True)], SETTINGS, tmp_path)
