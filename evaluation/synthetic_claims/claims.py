"""Rule-based generation of training pairs of evidence and claim from passages. Half of the claims have a known error.

A claim is drawn and styled first. A random draw then decides whether it is corrupted, so that style does not reveal the
label.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from random import Random

from data.pairs import PairExample
from evaluation.errors import EvaluationError
from evaluation.synthetic_claims.answers import answer_sentence, synthetic_question
from evaluation.synthetic_claims.claim_drawing import draw_claim
from evaluation.synthetic_claims.corruptions import CORRUPTIONS, SUITED, Contrast, Setting
from evaluation.synthetic_claims.edits import EditedClaim
from evaluation.synthetic_claims.lead_ins import with_lead
from evaluation.synthetic_claims.name_swaps import other_name
from evaluation.synthetic_claims.numbers import change_number
from evaluation.synthetic_claims.pool import Pool, make_pool
from evaluation.synthetic_claims.replies import reply, reply_window
from evaluation.synthetic_claims.seeded_random import seeded_random
from evaluation.synthetic_claims.source_text import Article, SourceText, read_article
from evaluation.synthetic_claims.structured_claims import structured_pair
from evaluation.synthetic_claims.windows import may_state, window_around, window_elsewhere

_TRIES, _ROUNDS = 6, 3


@dataclass(frozen=True, slots=True)
class ClaimMix:
    """Weights of the kinds of claims, which need not add up to 1, and shares of merged claims and of twins.

    merged: share of claims that combine two or three sentences. twins: share of claims of which both the supported and
    the corrupted version are returned. reply: weight of conversation turns (evaluation.synthetic_claims.replies); 0 by
    default, because few verifiers judge small talk.
    """

    entity: float = 0.16
    number: float = 0.14
    negation: float = 0.10
    word: float = 0.10
    relation: float = 0.09
    role: float = 0.05
    crossed: float = 0.06
    added: float = 0.10
    neighbour: float = 0.13
    removed: float = 0.09
    answer: float = 0.04
    reply: float = 0.0
    structured: float = 0.08
    merged: float = 0.3
    twins: float = 0.4

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not 0 <= value < float("inf"):
                raise EvaluationError(f"the share {field.name} is {value!r}: it must be 0 or more")
        if self.merged > 1 or self.twins > 1:
            raise EvaluationError("merged and twins are shares of all claims: they must be at most 1")
        if not any(self.kinds().values()):
            raise EvaluationError("all kinds of claims have weight 0: give at least one a positive weight")

    def kinds(self) -> dict[str, float]:
        """Return the weight of each kind of claim."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("merged", "twins")}


def make_claims(
    passages: Sequence[SourceText], *, seed: int, per_passage: int = 8, mix: ClaimMix | None = None
) -> Iterator[PairExample]:
    """Yield up to about ``per_passage`` pairs for each passage (fewer if its text yields fewer), in passage order.

    The result for a passage depends on the seed, its text and title, and the set of passages (which supplies names and
    details), not on their order. Raises EvaluationError for an invalid mix.
    """
    mix = mix or ClaimMix()
    pool = make_pool(passages, seed)
    for passage in passages:
        yield from itertools.islice(_from_passage(passage, seed, per_passage, mix, pool), per_passage)


@dataclass(frozen=True, slots=True)
class _Pair:
    """The supported and the corrupted pair for one piece of text. about: the text, which identifies duplicates."""

    about: str
    pairs: tuple[PairExample, PairExample]


def _from_passage(passage: SourceText, seed: int, per_passage: int, mix: ClaimMix, pool: Pool) -> Iterator[PairExample]:
    chance = seeded_random(seed, "claims", passage.title, passage.text)
    article = read_article(passage, chance, min(9_000, 2_500 + 400 * per_passage))
    if article is None:
        return
    weights = mix.kinds()
    used: set[tuple[str, str]] = set()
    suited: dict[str, tuple[int, ...]] = {}
    given = 0
    for _ in range(_ROUNDS * per_passage):
        if given >= per_passage:
            return
        kind = chance.choices(list(weights), list(weights.values()))[0]
        if kind == "structured":
            if (pair := structured_pair(chance)) is not None:
                given += 1
                yield pair
            continue
        if kind not in suited:
            suited[kind] = _suited(kind, article)
        result = _pair_of(kind, article, suited[kind], pool, mix, chance)
        if result is not None and (kind, result.about) not in used:
            used.add((kind, result.about))
            given += 1
            yield from result.pairs if chance.random() < mix.twins else (chance.choice(result.pairs),)


def _suited(kind: str, article: Article) -> tuple[int, ...]:
    """Return the indices of the sentences that a claim of this kind may be generated from."""
    if kind == "answer":
        return tuple(i for i in article.claimable if synthetic_question(article.resolved(i, Random(0)), Random(0)))
    if (fits := SUITED.get(kind)) is None:
        return article.claimable
    return tuple(i for i in article.claimable if fits(article.sentences[i], article))


def _pair_of(
    kind: str, article: Article, suited: Sequence[int], pool: Pool, mix: ClaimMix, chance: Random
) -> _Pair | None:
    # Word swaps are rejected in proportion to the rarity of the new word; retrying would undo that.
    for _ in range((1 if kind in ("word", "relation") else _TRIES) if suited else 0):
        if kind == "answer":
            pair = _answer(article, suited, pool, chance)
        elif kind == "reply":
            pair = _reply(article, mix, chance)
        elif kind in ("neighbour", "removed"):
            pair = _other_evidence(kind, article, mix, chance)
        else:
            pair = _contrast(kind, article, suited, pool, mix, chance)
        if pair is not None:
            return pair
    return None


def _contrast(
    kind: str, article: Article, suited: Sequence[int], pool: Pool, mix: ClaimMix, chance: Random
) -> _Pair | None:
    plain = kind in ("negation", "role", "crossed", "added")
    drawn = draw_claim(article, suited, chance, mix.merged / 4 if plain else mix.merged)
    window = window_around(article, drawn.needed, (), chance, drawn.named)
    if window is None:
        return None
    contrast: Contrast | None = CORRUPTIONS[kind](drawn, Setting(article, window, pool), chance)
    if contrast is None:
        return None
    right = _pair(kind, article, window, EditedClaim(contrast.right, ()), True, chance)
    return _Pair(drawn.used, (right, _pair(kind, article, window, contrast.wrong, False, chance)))


def _reply(article: Article, mix: ClaimMix, chance: Random) -> _Pair:
    drawn = draw_claim(article, article.claimable, chance, mix.merged / 2)
    window = reply_window(drawn, article, chance)
    contrast = reply(drawn, article, chance)
    right = _pair("reply", article, window, EditedClaim(contrast.right, ()), True, chance)
    return _Pair(drawn.used, (right, _pair("reply", article, window, contrast.wrong, False, chance)))


def _other_evidence(kind: str, article: Article, mix: ClaimMix, chance: Random) -> _Pair | None:
    """Return a true claim with evidence that contains it and with evidence that does not.

    The latter comes from another position, or has the sentence removed. None if a draw fails.
    """
    drawn = draw_claim(article, article.claimable, chance, mix.merged)
    right = window_around(article, drawn.needed, (), chance, drawn.named)
    partly = kind == "removed" and drawn.last > 0
    missing = drawn.needed[-1] if partly else drawn.needed[0]
    if kind == "neighbour":
        wrong = window_elsewhere(article, missing, drawn.used, chance, drawn.named)
    else:
        near = [i for i in (missing - 1, missing + 1) if 0 <= i < len(article.sentences)]
        kept = drawn.needed[:-1] if partly else (chance.choice(near),)
        wrong = window_around(article, kept, drawn.needed[-1:] if partly else drawn.needed, chance, drawn.named)
    part = drawn.text[drawn.last :] if partly else drawn.text
    if right is None or wrong is None or article.sentences[missing] in wrong or may_state(wrong, part):
        return None
    unsupported = EditedClaim(drawn.text, ((drawn.last, len(drawn.text)),) if partly else ())
    return _Pair(
        drawn.used,
        (
            _pair(kind, article, right, EditedClaim(drawn.text, ()), True, chance),
            _pair(kind, article, wrong, unsupported, False, chance),
        ),
    )


def _answer(article: Article, suited: Sequence[int], pool: Pool, chance: Random) -> _Pair | None:
    index = chance.choice(suited)
    question = synthetic_question(article.resolved(index, chance), chance)
    if question is None:
        return None
    sentence = article.sentences[index]
    window = window_around(article, (index,), (), chance, needs_name=True)
    if window is None:
        return None
    bare = question.answer.removeprefix("the ")
    new: str | None = None
    if question.kind in ("person", "place"):
        known = article.names.get(bare)
        if known is not None and known.kind == question.kind:
            new = other_name(bare, sentence + question.question, window, article, pool, chance)
    else:
        changed = change_number(f"in {bare} of them", chance, sentence)
        new = changed.text[3:-8] if changed else None
    if not new:
        return None
    right = answer_sentence(question.answer, question.kind, chance)
    wrong = answer_sentence(question.answer.replace(bare, new), question.kind, chance)
    start = wrong.find(new)
    return _Pair(
        question.question,
        (
            _pair("answer", article, window, EditedClaim(right, ()), True, chance, question.question),
            _pair(
                "answer",
                article,
                window,
                EditedClaim(wrong, ((start, start + len(new)),)),
                False,
                chance,
                question.question,
            ),
        ),
    )


def _pair(
    kind: str,
    article: Article,
    window: str,
    claim: EditedClaim,
    supported: bool,
    chance: Random,
    question: str = "",
) -> PairExample:
    styled = claim if question or kind == "reply" else with_lead(claim, chance, article.plain)
    return PairExample(
        evidence=window,
        claim=styled.text,
        supported=supported,
        question=question,
        source=f"made_{kind}",
        group=article.group,
        wrong=None if supported else styled.wrong or None,
    )
