"""Generate synthetic training data of a verifier: claims by rule, and short answers to questions."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

from app.training.texts import training_documents
from data.pairs import PairExample
from data.reading_examples import ReadingExample
from data.reading_files import load_reading_files
from data.source_splits import PairSplit
from evaluation.synthetic_claims.claims import ClaimMix, make_claims
from evaluation.synthetic_claims.short_answers import short_answer_claims
from evaluation.synthetic_claims.source_text import SourceText
from generation.synthetic_questions.reading_examples import SourceArticle, generate_reading_examples

_SHORTEST_PASSAGE = 60  # words; shorter passages give no useful claims
_CLAIMS_A_TEXT = 3
_REPLIES = ClaimMix(**{kind: float(kind == "reply") for kind in ClaimMix().kinds()})


def claim_sources(split: PairSplit, texts: Sequence[Path]) -> list[SourceText]:
    """Return the texts from which claims are generated: the documents of ``texts`` and the evidence of training rows.

    Raises the DataError of training_documents.
    """
    sources = [SourceText(document.title, document.text, document.id) for document in training_documents(texts)]
    passages = {e.evidence for e in split.train if len(e.evidence.split()) >= _SHORTEST_PASSAGE}
    sources += [SourceText("", text, hashlib.sha256(text.encode()).hexdigest()) for text in sorted(passages)]
    return sources


def claims_by_rule(
    sources: Sequence[SourceText], most: int, seed: int, notify: Callable[[str], None], *, replies: bool = False
) -> list[PairExample]:
    """Generate at most ``most`` claims from a sample of the sources.

    replies: whether to generate conversation turns only, or claims of all other kinds.
    """
    chosen = list(sources)
    random.Random(seed).shuffle(chosen)
    chosen = chosen[: most // 2]
    notify(f"generating {'replies' if replies else 'claims'} from {len(chosen)} texts")
    claims = list(make_claims(chosen, seed=seed, per_passage=_CLAIMS_A_TEXT, mix=_REPLIES if replies else None))
    random.Random(seed).shuffle(claims)
    return claims[:most]


def short_answers(
    split: PairSplit,
    reading: Sequence[Path],
    texts: Sequence[Path],
    most: int,
    seed: int,
    *,
    limit: int | None = None,
    skip_bad: bool = False,
) -> list[PairExample]:
    """Generate at most ``most`` short answers, right and wrong, with their questions.

    If there are ``texts``, at most half of the answers belong to questions of ``reading``; the others belong to
    synthetic questions on the texts. limit: maximum number of questions per file of ``reading``. Questions of
    ``reading`` on held-out evidence are left out. Raises the DataErrors of load_reading and training_documents.
    """
    evidence = {example.evidence for example in (*split.development, *split.unseen)}
    chance = random.Random(seed)
    questions: list[ReadingExample] = []
    if reading:
        questions = list(load_reading_files(reading, skip_bad=skip_bad, limit=limit, texts=texts).examples)
    known = list(short_answer_claims([e for e in questions if e.context not in evidence], seed=seed))
    chance.shuffle(known)
    if not texts:
        return known[:most]
    known = known[: most // 2]
    articles = [SourceArticle(document.title, document.text) for document in training_documents(texts)]
    chance.shuffle(articles)
    wanted = most - len(known)
    examples = generate_reading_examples(articles, seed=seed, per_article=max(1, -(-wanted // max(1, len(articles)))))
    return known + list(islice(short_answer_claims(list(islice(examples, wanted)), seed=seed), wanted))
