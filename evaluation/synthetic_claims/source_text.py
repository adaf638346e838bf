"""Parsing of an article or passage into the sentences that claims are generated from."""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random

from evaluation.synthetic_claims.entities import KnownName, inner_names, known_names, mentions
from retrieval.chunking.sentences import sentence_spans

_OPENING = 700
_VERB_LIKE = re.compile(
    r"\b(?:is|are|was|were|has|have|had|can|could|will|would|may|might|must|should|does|do|did|\w{3,}ed|"
    r"\w{2,}[^s\W]s|wrote|"
    r"began|became|took|made|led|held|left|went|came|saw|won|lost|grew|rose|fell|found|built|met)\b"
)
_BROKEN = re.compile(r"  |\( ?\)| [,.;]|\n|[\[\]{}|<>=\\]|\?$|:$|\.\.\.|http|\b(?:following|below|above)\b:? ?\.?$")
_POINTS_BACK = re.compile(
    r"^(?:This|These|That|Those|Such|Here|There|Then|He|She|They|It|His|Her|Their|Its|Both|Another|Other|Others|"
    r"One|Some|"
    r"Also|Similarly|I|We|You|My|Our)\b"
)
_LOWER = re.compile(r"(?<![\w’'-])[a-z]+(?![\w’'-])")
_DISAMBIGUATION = re.compile(r" \([^)]*\)$")


@dataclass(frozen=True, slots=True)
class SourceText:
    """An article or a passage. group: name of the article, all of which must stay in one part of a split."""

    title: str
    text: str
    group: str


@dataclass(frozen=True, slots=True)
class Article:
    """A parsed source text.

    sentences: its sentences. claimable: indices of the sentences that make claims. names: names with their kinds.
    name: title without a disambiguation in parentheses. pronouns: pronouns for the subject ("He", "She", "It"); empty
    if uncertain.
    inner: words capitalised within sentences. plain: words in lower case.
    """

    title: str
    name: str
    group: str
    sentences: tuple[str, ...]
    claimable: tuple[int, ...]
    names: dict[str, KnownName]
    inner: frozenset[str]
    plain: frozenset[str]
    pronouns: frozenset[str]

    def resolved(self, index: int, chance: Random) -> str:
        """Return a sentence with a pronoun subject replaced by the article's name if it certainly refers to it.

        index: index of the sentence.
        """
        sentence = self.sentences[index]
        first, _, rest = sentence.partition(" ")
        before = self.sentences[index - 1] if index else ""
        if first not in self.pronouns | {"His", "Her", "Its"} or not rest:
            return sentence
        owner = first in ("His", "Her", "Its")
        if owner and {"His": "He", "Her": "She", "Its": "It"}[first] not in self.pronouns:
            return sentence
        others = [m.name for m in mentions(before, self.inner) if m.start == 0 and m.name not in self.title]
        if others or (first in ("It", "Its") and not before.startswith((self.name, "It ", "Its "))):
            return sentence
        called = self.name
        if (
            first in ("He", "She", "His", "Her")
            and " " in called
            and all(word[0].isupper() for word in called.split())
            and chance.random() < 0.5
        ):
            called = called.rsplit(" ", 1)[1]
        if owner:
            return sentence if called.endswith("s") else f"{called}'s {rest}"
        return f"{called} {rest}"


def read_article(source: SourceText, chance: Random, characters: int = 6_000) -> Article | None:
    """Parse the article: its opening and, if it is long, a random stretch of it.

    None if too few sentences make claims.
    """
    spans = [
        text
        for piece in _pieces(source.text, chance, characters)
        for span in sentence_spans(piece)
        if (text := piece[span.start : span.end])
    ]
    sentences = tuple(part.strip() for text in spans for part in text.split("\n") if part.strip())
    claimable = tuple(i for i, sentence in enumerate(sentences) if is_claimable(sentence))
    if len(claimable) < 2 or len(sentences) < 3:
        return None
    inner = frozenset(inner_names(sentences))
    name = _DISAMBIGUATION.sub("", source.title)
    pronouns = _subject_pronouns(name, sentences)
    names = known_names(sentences, set(inner))
    if pronouns & {"He", "She"}:
        names |= {called: KnownName(called, "person", False) for called in (name, name.rsplit(" ", 1)[-1])}
    return Article(
        title=source.title,
        name=name,
        group=source.group,
        sentences=sentences,
        claimable=claimable,
        names=names,
        inner=inner,
        plain=frozenset(_LOWER.findall(" ".join(sentences))),
        pronouns=pronouns,
    )


def is_claimable(sentence: str) -> bool:
    """Return whether the sentence makes a claim by itself.

    It must be complete, of usual length and with a verb, and neither a question nor a fragment.
    """
    words = sentence.split()
    return (
        6 <= len(words) <= 48
        and sentence[0].isupper()
        and sentence[-1] == "."
        and sentence.count("(") == sentence.count(")")
        and sentence.count('"') % 2 == 0
        and not _BROKEN.search(sentence)
        and _VERB_LIKE.search(sentence) is not None
        and sum(word.isalpha() or word[:-1].isalpha() for word in words) >= 0.6 * len(words)
    )


def refers_back(sentence: str) -> bool:
    """Return whether the sentence depends on the one before it ("This ...", "He ...")."""
    return _POINTS_BACK.match(sentence) is not None


def _pieces(text: str, chance: Random, characters: int) -> list[str]:
    if len(text) <= characters + _OPENING:
        return [text]
    opening_end = text.find("\n", _OPENING)
    opening_end = min(opening_end if opening_end > 0 else _OPENING, 3 * _OPENING)
    start = text.find("\n", chance.randrange(opening_end, len(text) - characters // 2)) + 1
    start = start or opening_end
    end = text.find("\n", start + characters - min(characters // 3, 1_500))
    end = min(end if end > 0 else len(text), start + characters)
    return [text[:opening_end], text[start:end]]


def _subject_pronouns(name: str, sentences: tuple[str, ...]) -> frozenset[str]:
    """Return the pronouns of the article's subject, judged by the first words of its sentences.

    "He" or "She" for an article about a person, "It" for one about a thing; empty if uncertain.
    """
    opening = sentences[0]
    if (
        not opening.removeprefix("The ").startswith(name.removeprefix("The ").split(" ")[0])
        and name not in opening[:80]
    ):
        return frozenset()
    starts = [sentence.split(" ", 1)[0] for sentence in sentences]
    he, she, it = starts.count("He"), starts.count("She"), starts.count("It")
    born = "born" in opening or " – " in opening[:120] or "died" in opening
    if max(he, she) >= 2 and min(he, she) * 5 < max(he, she) and (born or max(he, she) >= 4) and it <= max(he, she):
        return frozenset({"He" if he > she else "She"})
    if it >= 1 and he + she == 0 and name[:1].isupper() and " is " in opening[:200] and not name.endswith("s"):
        return frozenset({"It"})
    return frozenset()
