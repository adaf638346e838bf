"""Generate questions about definition, birth, location and creator, which an article's first sentences answer."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from generation.english import words
from generation.synthetic_questions.cloze import ClozeQuestion, good_answer
from generation.synthetic_questions.passages import Passage, SourceArticle, lead_passage

_DATE: Final = r"(?:\d{1,2} [A-Z][a-z]+ \d{3,4}|[A-Z][a-z]+ \d{1,2}, \d{4}|\d{4})"
_LIFE: Final = re.compile(rf"\(\s*(?:born |[^()]{{0,40}}?[;,] )?({_DATE})(?:\s*[–-]\s*(?:died )?({_DATE}))?[^()]*\)")
_DEFINED: Final = re.compile(
    r"\b(is|was|are|were) (an?|the|one of the) ((?:[\w’'-]+,? )*?[\w’'-]+)"
    r"(?=,? (?:who|which|that|of|in|from|for|to|on|with|by|at|whose|where|used|located|founded|based|known|and|about|"
    r"involving|featuring|containing|using|including|having|made|found|played|held|directed|starring|set|born|"
    r"between|during|under|near|when|as|or|consisting|written|designed|"
    r"developed|created|published|released|formed|within)\b|[.,;(])"
)
_NAME: Final = (
    r"((?:the )?[A-Z][\w.’'-]+(?: (?:[A-Z][\w.’'-]+|of|de|von|van|the(?= [A-Z])))* ?(?<! of)(?<! the)(?<! de))"
)
_OTHER_NAME: Final = re.compile(
    r"\b(?:also|sometimes|commonly|better) (?:known|called|referred to) (?:simply )?(?:as )?(?:the |an? )?"
    r"\"?([\w’' -]{3,40}?)\"?(?=[,.;)(]| (?:is|was|and|or|in)\b)"
)
_PLACE: Final = re.compile(rf"\b(?:located|situated|lies|lie) (?:in|on|at|near|within) {_NAME}")
_MADE_BY: Final = re.compile(
    rf"\b(written|directed|developed|designed|created|founded|published|invented|discovered|composed|"
    rf"produced|painted|recorded) by (?:[a-z]+ ){{0,3}}?{_NAME}"
)
_WHEN: Final = re.compile(
    rf"\b(founded|established|published|released|built|completed|formed|introduced|created|"
    rf"incorporated|opened|invented|discovered)(?: by [\w ]+?)? (?:in|on) ({_DATE})"
)
_BORN: Final = re.compile(rf"\bwas born (?:(?:on|in) {_DATE},? )?(?:in|at) {_NAME}")
_AGENT_FORMS: Final = {
    "written": "wrote",
    "directed": "directed",
    "developed": "developed",
    "designed": "designed",
    "created": "created",
    "founded": "founded",
    "published": "published",
    "invented": "invented",
    "discovered": "discovered",
    "composed": "composed",
    "produced": "produced",
    "painted": "painted",
    "recorded": "recorded",
}


@dataclass(frozen=True, slots=True)
class _Paraphrases:
    questions: tuple[str, ...]
    answer: str
    kind: str
    at: int


def definition_questions(article: SourceArticle, rng: random.Random) -> Iterator[ClozeQuestion]:
    """Yield questions about what the first paragraphs say about the title, in random order, each in one wording."""
    passage = lead_passage(article)
    name = re.sub(r"\s*\(.*?\)$", "", article.title)
    if passage is None or name.lower() not in passage.low or "list of" in name.lower():
        return
    questions: list[ClozeQuestion] = []
    for question in (*_first_sentence(name, passage), *_attributes(name, passage)):
        answer = question.answer.strip(" ,")
        if (
            good_answer(answer, passage.low)
            and answer.lower() not in name.lower()
            and name.lower() not in answer.lower()
        ):
            sentence = next((i for i, (_, end) in enumerate(passage.spans) if question.at < end), 0)
            questions.append(ClozeQuestion(rng.choice(question.questions), answer, question.kind, passage, sentence))
    rng.shuffle(questions)
    yield from questions


def _first_sentence(name: str, passage: Passage) -> Iterator[_Paraphrases]:
    first = passage.text[: passage.spans[0][1]]
    match = _DEFINED.search(first)
    if match is None or len(match[3].split()) > 7 or match[2] == "one of the":
        return
    verb, phrase, at = match[1], match[3], match.start(3)
    while phrase.split()[-1:] and phrase.split()[-1].endswith(("ed", "ly", ",")):
        phrase = " ".join(phrase.split()[:-1])
    longer = re.match(
        r" (?:of|for) (?:[\w’'-]+ ){0,5}?[\w’'-]+(?=[.,;(]| (?:that|which|who|in|from|by|to|with|on|and|used|at)\b)",
        first[match.end() :],
    )
    definition = phrase + longer[0] if longer and first[match.start(3) :].startswith(phrase + longer[0]) else phrase
    parts = phrase.split()
    after = first[match.start(3) + len(definition) :]
    if (
        not parts
        or re.match(r" (?:of|for|and|or|to)\b", after)
        or (len(parts) == 1 and parts[0].lower() in words.VAGUE)
    ):
        return  # the definition would be incomplete
    definition = re.sub(r"(?: \w+(?:ed|ly))+$", "", definition)
    person = any(part.strip(",").lower() in words.PERSON_NOUNS for part in parts[-2:])
    life = _LIFE.search(first, 0, match.start() + 1)
    if person or (life and life[2]):
        if definition:
            yield _Paraphrases(
                (f"Who {verb} {name}?", f"What was {name}?", f"What did {name} do?", f"What was {name} by profession?"),
                definition,
                "phrase",
                at,
            )
        if parts[0].lower() in words.NATIONALITIES and len(parts) > 1:
            yield _Paraphrases(
                (
                    f"What nationality {verb} {name}?",
                    f"What was {name}'s nationality?",
                    f"What was the nationality of {name}?",
                ),
                parts[0],
                "adjective",
                at,
            )
            yield _Paraphrases(
                (f"What was the occupation of {name}?", f"What was {name}'s profession?", f"What was {name} known as?"),
                " ".join(parts[1:]),
                "phrase",
                at,
            )
    else:
        yield _Paraphrases(
            (
                f"What {verb} {name}?",
                f"What kind of thing {verb} {name}?",
                f"What {verb} meant by {name}?",
                f"How would you define {name}?",
                f"What {verb} {name}?",
            ),
            definition,
            "phrase",
            at,
        )
        location = re.match(rf" (?:in|of|on) (?:the )?{_NAME}", first[match.end() :])
        if location and parts[-1].lower() in words.PLACE_HEADS | {
            "town",
            "village",
            "municipality",
            "capital",
            "district",
            "region",
            "state",
        }:
            yield _Paraphrases(
                (f"Where {verb} {name}?", f"Where is {name} located?", f"In what place is {name}?"),
                location[1],
                "place",
                match.end() + 2,
            )
            yield _Paraphrases((f"What is {name} in {location[1].strip()}?",), phrase, "phrase", at)
    if life:
        yield _Paraphrases(
            (f"When was {name} born?", f"What is {name}'s date of birth?", f"On what date was {name} born?"),
            life[1],
            "date",
            life.start(),
        )
        if life[2]:
            yield _Paraphrases(
                (f"When did {name} die?", f"What was the date of {name}'s death?", f"When was the death of {name}?"),
                life[2],
                "date",
                life.start(),
            )


def _attributes(name: str, passage: Passage) -> Iterator[_Paraphrases]:
    """Yield questions about attributes, from the first sentence and those that start with the title or a pronoun."""
    for number, (start, end) in enumerate(passage.spans):
        sentence = passage.text[start:end]
        if number and not re.match(rf"(?:(?:the )?{re.escape(name)}|it|he|she)\b", sentence, re.IGNORECASE):
            continue
        if match := _OTHER_NAME.search(sentence):
            yield _Paraphrases(
                (f"What is another name for {name}?", f"What is {name} also called?", f"What is {name} also known as?"),
                match[1],
                "name",
                start,
            )
        if match := _PLACE.search(sentence):
            yield _Paraphrases(
                (f"Where is {name}?", f"Where is {name} located?", f"What is the location of {name}?"),
                match[1],
                "place",
                start,
            )
        if match := _MADE_BY.search(sentence):
            verb = _AGENT_FORMS[match[1]]
            yield _Paraphrases(
                (f"Who {verb} {name}?", f"By whom was {name} {match[1]}?", f"Who was {name} {match[1]} by?"),
                match[2],
                "person",
                start,
            )
        if match := _WHEN.search(sentence):
            yield _Paraphrases(
                (
                    f"When was {name} {match[1]}?",
                    f"What year was {name} {match[1]}?",
                    f"In what year was {name} {match[1]}?",
                ),
                match[2],
                "date",
                start,
            )
        if match := _BORN.search(sentence):
            yield _Paraphrases(
                (f"Where was {name} born?", f"What was {name}'s place of birth?", f"What is the birthplace of {name}?"),
                match[1],
                "place",
                start,
            )
