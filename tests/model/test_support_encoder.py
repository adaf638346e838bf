"""The support encoder: company and padding do not matter, and each feature does what it says."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from model.checkpoints.minilm import minilm_word_embeddings
from model.decoder.marks import CLAIM, EVIDENCE, NOTHING, QUESTION
from model.errors import ModelError
from model.verifier.encoder import CLS_ID, PAD_ID, SEP_ID, SupportEncoder, SupportFeatures, segments, warm_start_support

Make = Callable[..., SupportEncoder]
NEAR = {"atol": 1e-5, "rtol": 1e-5}
UNKNOWN_WORD = 100


def window(question: tuple[int, ...], claim: tuple[int, ...], evidence: tuple[int, ...]) -> tuple[int, ...]:
    return (CLS_ID, *question, SEP_ID, *claim, SEP_ID, *evidence, SEP_ID)


WINDOWS = (
    window((), (110, 111), (110, 111, 112, 113)),
    window((120,), (121, 122, 123), (130, 121, 122)),
    window((), (140,), ()),
    window((105, 106, 107), (108,) * 9, tuple(range(110, 150))),
)


def pad(windows: tuple[tuple[int, ...], ...], more: int = 0) -> torch.Tensor:
    longest = max(map(len, windows)) + more
    return torch.tensor([[*w, *[PAD_ID] * (longest - len(w))] for w in windows])


def logits(model: SupportEncoder, *windows: tuple[int, ...]) -> torch.Tensor:
    with torch.inference_mode():
        found: torch.Tensor = model(pad(windows)).logits
    return found


@pytest.mark.parametrize("features", [None, SupportFeatures(False, False), SupportFeatures(True, False)])
def test_a_padded_batch_equals_each_window_alone(small_support: Make, features: SupportFeatures | None) -> None:
    model = small_support(features).eval()
    together = logits(model, *WINDOWS)
    alone = torch.cat([logits(model, w) for w in WINDOWS])
    torch.testing.assert_close(together, alone, **NEAR)
    assert together.std() > 0.05  # they do differ
    with torch.inference_mode():
        torch.testing.assert_close(model(pad(WINDOWS, more=7)).logits, together, **NEAR)


def test_order_and_duplicates_do_not_matter(small_support: Make) -> None:
    model = small_support().eval()
    order = (3, 1, 1, 0, 2, 3)
    torch.testing.assert_close(
        logits(model, *(WINDOWS[i] for i in order)), logits(model, *WINDOWS)[list(order)], **NEAR
    )


def test_segments_by_hand() -> None:
    ids = pad((window((110,), (111, UNKNOWN_WORD), (112, 113)), window((), (114,), ())))
    q, c, e, n = QUESTION, CLAIM, EVIDENCE, NOTHING
    assert segments(ids).tolist() == [[n, q, n, c, n, n, e, e, n], [n, n, c, n, n, n, n, n, n]]


def test_the_worst_word_is_taken_off(small_support: Make) -> None:
    full, without = small_support(), small_support(SupportFeatures(worst_word=False))
    without.load_state_dict(full.state_dict())
    with torch.inference_mode():
        out, plain = full.eval()(pad(WINDOWS)), without.eval()(pad(WINDOWS))
    claim = segments(pad(WINDOWS)) == CLAIM
    assert torch.equal(out.words.isfinite(), claim)
    worst = out.words.max(dim=1).values
    torch.testing.assert_close(out.logits, plain.logits - worst, **NEAR)
    assert torch.equal(out.words, plain.words)


def test_marks_count_only_where_they_are_a_feature(small_support: Make) -> None:
    for features, matters in ((SupportFeatures(), True), (SupportFeatures(marks=False), False)):
        model = small_support(features).eval()
        before = logits(model, *WINDOWS)
        with torch.no_grad():
            model.marks.weight.neg_()
        assert torch.allclose(logits(model, *WINDOWS), before, atol=1e-4) is not matters


def test_a_claim_without_any_ordinary_token_has_no_worst_word(small_support: Make) -> None:
    model = small_support()
    emoji = window((110,), (UNKNOWN_WORD, UNKNOWN_WORD), (111, 112))
    out = model(pad((emoji, WINDOWS[0])))
    assert not out.words[0].isfinite().any()
    assert out.logits.isfinite().all()
    out.logits.sum().backward()
    assert all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())
    torch.testing.assert_close(logits(model, emoji), out.logits[:1].detach(), **NEAR)


def test_a_window_too_long_is_refused(small_support: Make) -> None:
    model = small_support()
    assert model(torch.full((1, 64), 110)).logits.shape == (1,)
    with pytest.raises(ModelError, match=r"65 tokens.* 64"):
        model(torch.full((1, 65), 110))


def test_the_warm_start_is_minilm_with_heads_by_seed() -> None:
    torch.manual_seed(1)
    expected = torch.rand(3)
    torch.manual_seed(1)
    one, again, other = (warm_start_support(seed, num_layers=1).state_dict() for seed in (3, 3, 4))
    assert torch.equal(torch.rand(3), expected)  # nobody else's random numbers are disturbed
    assert all(torch.equal(one[name], again[name]) for name in one)
    differ = {name.split(".")[0] for name in one if not torch.equal(one[name], other[name])}
    assert differ == {"dense", "support", "misfit"}
    assert torch.equal(one["embedding.weight"], minilm_word_embeddings())
    assert not one["marks.weight"].any()
