"""benchmarks.contrast_pairs: claims with the same words, and two halves of the words that share no name."""

from __future__ import annotations

import re

import pytest

from benchmarks.contrast_pairs import KINDS, contrast_pairs


@pytest.mark.parametrize("kind", KINDS)
def test_pairs_are_distinct_and_the_same_for_the_same_seed(kind: str) -> None:
    pairs = list(contrast_pairs([kind], 30, half=0, seed=3))

    assert pairs == list(contrast_pairs([kind], 30, half=0, seed=3))
    assert len({(p.evidence, p.right, p.wrong) for p in pairs}) == 30
    assert all(p.right != p.wrong and p.kind == kind for p in pairs)


@pytest.mark.parametrize("kind", KINDS)
def test_the_halves_share_no_name(kind: str) -> None:
    one, two = (_capitalised(kind, half) for half in (0, 1))

    assert one & two <= _FRAMES


_FRAMES = {"The", "All", "None", "Not", "Some", "Most", "Few", "There", "Every", "More", "Less"}


def _capitalised(kind: str, half: int) -> set[str]:
    pairs = contrast_pairs([kind], 30, half=half, seed=0)
    return {word for p in pairs for word in re.findall(r"\b[A-Z][a-z]+", f"{p.evidence} {p.right} {p.wrong}")}


@pytest.mark.parametrize("kind", ["passive", "converse", "direction"])
def test_neither_the_evidence_s_form_nor_the_claim_s_tells_the_label(kind: str) -> None:
    pairs = list(contrast_pairs([kind], 60, half=0, seed=1))

    literal = sum(p.right in p.evidence for p in pairs)

    assert 0 < literal < len(pairs)


def test_a_role_pair_is_made_of_the_same_names() -> None:
    for pair in contrast_pairs(["passive"], 40, half=1, seed=2):
        names = [set(re.findall(r"\b[A-Z][a-z]+", claim)) for claim in (pair.right, pair.wrong)]
        assert names[0] == names[1]
        assert names[0] <= set(re.findall(r"\b[A-Z][a-z]+", pair.evidence))


def test_an_unknown_kind_is_an_error() -> None:
    with pytest.raises(KeyError, match="irony"):
        list(contrast_pairs(["irony"], 1, half=0, seed=0))
