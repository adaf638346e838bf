"""Contrast pairs by rule: one short evidence, a claim that it supports and one of the same words that it does not.

The kinds follow the heuristics that networks are known to fall for (McCoy et al. 2019, "Right for the Wrong Reasons",
HANS). The evidence is drawn in either of its forms, and so is the supported claim, so that neither word order nor a
denial alone tells the label. About half of the items have other sentences around, some of which deny something.
Names and words are split in two halves: a draw from one shares no name with a draw from the other, and no verb or
adjective but the frames of bounds, quantifiers and directions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random


@dataclass(frozen=True, slots=True)
class ContrastPair:
    """right follows from the evidence, wrong does not. kind: one of KINDS."""

    kind: str
    evidence: str
    right: str
    wrong: str


@dataclass(frozen=True, slots=True)
class _Item:
    evidence: str
    right: str
    wrong: str


_PEOPLE = "Anna Belov|Tariq|Mrs Oduya|Henrik|Paula Reyes|Ingrid|Dr Okafor|Milan|Rosa Lind|Jonas|Amara|Captain Brandt"
_PEOPLE_2 = "Leona|Viktor Hale|Mr Sato|Fatima|Oskar Dahl|Nadia|Professor Quill|Bruno|Selma Voss|Idris|Carmen"
_PEOPLE_2 += "|Judge Ahlberg"
_FIRMS = "Norwick Steel|Alto Foods|Bellhaven|Corvus Air|Delmar Paper|Estrella Energy|Finlay and Sons|Garnet Labs"
_FIRMS_2 = "Hollis Rail|Ivory Coast Tea|Juniper Soft|Kestrel Bank|Lumen Glass|Marlow Shipping|Nimbus Post|Orchard Toys"
_THINGS = "red cabinet|old mill|west tower|blue ferry|garden wall|copper kettle|main hall|oak table"
_THINGS_2 = "stone bridge|new stadium|east wing|night train|iron fence|silver lamp|chapel|glass dome"
_PLACES = "Orford|Velden|Castel Nuovo|Marrow Bay|Tindal|Queensferry|Lauterbach|Sorano"
_PLACES_2 = "Hexham|Port Amsel|Grindel|Santa Vera|Ostby|Kilbride|Rovigno|Amberley"
_TRANSITIVE = "praised:praised|defeated:defeated|interviewed:interviewed|followed:followed|accused:accused"
_TRANSITIVE += "|trained:trained"
_TRANSITIVE += "|rescued:rescued|chose:chosen|sued:sued|visited:visited"
_TRANSITIVE_2 = "thanked:thanked|warned:warned|questioned:questioned|hired:hired|betrayed:betrayed"
_TRANSITIVE_2 += "|photographed:photographed"
_TRANSITIVE_2 += "|nominated:nominated|mocked:mocked|replaced:replaced|drew:drawn"
_COMPARED = "taller:shorter|heavier:lighter|cheaper:more expensive|older:younger|faster:slower|brighter:darker"
_COMPARED_2 = "larger:smaller|deeper:shallower|louder:quieter|warmer:colder|thicker:thinner|stronger:weaker"
_MEASURES = "weighs {} kilograms|is {} metres high|opened in 19{}|sold {} tickets"
_MEASURES_2 = "holds {} litres|is {} kilometres away|lies {} metres deep|employs {} cooks"
_DENIED = "was repaired:repaired|was sold:sold|has a lock:lock|was painted in spring:painted|is insured:insured"
_DENIED_2 = "was cleaned:cleaned|was moved:moved|has a roof:roof|was found in autumn:found|is heated:heated"
_CONVERSE = "bought the {t} from:sold the {t} to|borrowed the {t} from:lent the {t} to"
_CONVERSE += "|received the {t} from:gave the {t} to"
_CONVERSE += "|inherited the {t} from:left the {t} to|rented the {t} from:let the {t} to"
_CONVERSE_2 = "learned the trade from:taught the trade to|works for:employs|arrived before:arrived after"
_CONVERSE_2 += "|is a pupil of:is a teacher of|sat in front of:sat behind"
_GROUPS = "pilots|nurses|farmers|sailors|students"
_GROUPS_2 = "judges|painters|drivers|tenants|singers"
_DEEDS = "signed the letter|attended the hearing|own a boat|speak Dutch|accepted the offer"
_DEEDS_2 = "joined the strike|passed the exam|live in the city|ride a bicycle|supported the reform"
_SPANS = "pass|ticket|permit|contract|discount"
_SPANS_2 = "visa|lease|licence|coupon|order"
_MONTHS = "2 March|14 May|30 July|9 October|1 December"
_MONTHS_2 = "5 January|18 February|11 April|23 August|27 November"


@dataclass(frozen=True, slots=True)
class _Words:
    """One half of the words."""

    half: int

    def some(self, one: str, two: str, chance: Random, count: int) -> list[str]:
        return chance.sample((one, two)[self.half].split("|"), count)

    def one(self, one: str, two: str, chance: Random) -> str:
        return self.some(one, two, chance, 1)[0]

    def couple(self, one: str, two: str, chance: Random) -> tuple[str, str]:
        first, _, second = self.one(one, two, chance).partition(":")
        return first, second

    def parties(self, chance: Random) -> list[str]:
        return (
            self.some(_PEOPLE, _PEOPLE_2, chance, 2)
            if chance.random() < 0.7
            else self.some(_FIRMS, _FIRMS_2, chance, 2)
        )


def _passive(words: _Words, chance: Random) -> _Item:
    a, b = words.parties(chance)
    past, participle = words.couple(_TRANSITIVE, _TRANSITIVE_2, chance)
    when = chance.choice(["", f" in {chance.randint(1960, 2020)}", " last week"])
    right = [f"{a} {past} {b}{when}.", f"{b} was {participle} by {a}{when}."]
    wrong = [f"{b} {past} {a}{when}.", f"{a} was {participle} by {b}{when}."]
    return _Item(chance.choice(right), chance.choice(right), chance.choice(wrong))


def _comparative(words: _Words, chance: Random) -> _Item:
    a, b = (f"the {thing}" for thing in words.some(_THINGS, _THINGS_2, chance, 2))
    up, down = words.couple(_COMPARED, _COMPARED_2, chance)
    right = [f"{a} is {up} than {b}.", f"{b} is {down} than {a}.", f"{b} is not as {_base(up)} as {a}."]
    wrong = [f"{b} is {up} than {a}.", f"{a} is {down} than {b}.", f"{a} is not as {_base(up)} as {b}."]
    return _Item(*(_sentence(chance.choice(forms)) for forms in (right, right, wrong)))


def _base(comparative: str) -> str:
    special = {"heavier": "heavy", "larger": "large"}
    return special.get(comparative) or comparative.removesuffix("er")


def _values(words: _Words, chance: Random) -> _Item:
    a, b = (f"the {thing}" for thing in words.some(_THINGS, _THINGS_2, chance, 2))
    measure = words.one(_MEASURES, _MEASURES_2, chance)
    x, y = chance.sample(range(11, 98), 2)
    ax, by, ay, bx = (f"{p} {measure.format(v)}" for p, v in ((a, x), (b, y), (a, y), (b, x)))
    right = [f"{ax} and {by}.", f"{by} and {ax}.", f"{ax}.", f"{by}."]
    wrong = [f"{ay} and {bx}.", f"{bx} and {ay}.", f"{ay}.", f"{bx}."]
    joined = chance.choice([f"{ax} and {by}.", f"{by}, while {ax}.", f"{ax}. {_sentence(by)}."])
    number = chance.randrange(4)
    return _Item(_sentence(joined), _sentence(right[number]), _sentence(wrong[number]))


def _negation(words: _Words, chance: Random) -> _Item:
    a, b = (f"the {thing}" for thing in words.some(_THINGS, _THINGS_2, chance, 2))
    affirmed, _ = words.couple(_DENIED, _DENIED_2, chance)
    other, _ = words.couple(_DENIED, _DENIED_2, chance)
    denied, other_denied = _not(affirmed), _not(other)
    facts = [(f"{a} {affirmed}", f"{a} {denied}"), (f"{b} {other_denied}", f"{b} {other}")]
    chosen = chance.randrange(2)
    true_facts = [true for true, _ in facts]
    if chance.random() < 0.5:
        true_facts.reverse()
    text = chance.choice([f"{true_facts[0]}. {_sentence(true_facts[1])}.", f"{true_facts[0]}, but {true_facts[1]}."])
    return _Item(_sentence(text), *(_sentence(f"{claim}.") for claim in facts[chosen]))


def _not(phrase: str) -> str:
    verb, rest = phrase.split(" ", 1)
    return f"does not have {rest}" if verb == "has" else f"{verb} not {rest}"


def _converse(words: _Words, chance: Random) -> _Item:
    a, b = words.some(_PEOPLE, _PEOPLE_2, chance, 2)
    forth, back = words.couple(_CONVERSE, _CONVERSE_2, chance)
    thing = words.one(_THINGS, _THINGS_2, chance)
    forth, back = forth.format(t=thing), back.format(t=thing)
    right, wrong = [f"{a} {forth} {b}.", f"{b} {back} {a}."], [f"{b} {forth} {a}.", f"{a} {back} {b}."]
    return _Item(chance.choice(right), chance.choice(right), chance.choice(wrong))


def _bounds(words: _Words, chance: Random) -> _Item:
    thing, day = words.one(_SPANS, _SPANS_2, chance), words.one(_MONTHS, _MONTHS_2, chance)
    number = chance.randint(3, 60)
    ways = [
        (f"The {thing} is valid until {day}.", f"The {thing} is valid from {day}."),
        (f"The {thing} costs at most {number} euros.", f"The {thing} costs at least {number} euros."),
        (f"The {thing} must be signed before {day}.", f"The {thing} must be signed after {day}."),
        (f"The {thing} needs more than {number} signatures.", f"The {thing} needs fewer than {number} signatures."),
    ]
    mine, other = chance.choice(ways)
    if chance.random() < 0.5:
        mine, other = other, mine
    reworded = {
        "is valid until": "ends on", "is valid from": "begins on", "costs at most": "costs no more than",
        "costs at least": "costs no less than",
    }  # fmt: skip
    right, wrong = mine, other
    if chance.random() < 0.5:
        for old, new in reworded.items():
            right, wrong = right.replace(old, new), wrong.replace(old, new)
    return _Item(mine, right, wrong)


def _quantifier(words: _Words, chance: Random) -> _Item:
    group, deed = words.one(_GROUPS, _GROUPS_2, chance), words.one(_DEEDS, _DEEDS_2, chance)
    every, none = f"All {group} {deed}.", f"None of the {group} {deed}."
    some = f"Some {group} {deed}, others do not."
    most, few = f"Most {group} {deed}.", f"Few {group} {deed}."
    return _Item(
        *chance.choice(
            [
                (every, f"Every one of the {group} belongs to those who {deed}.", none),
                (none, f"Not one of the {group} is among those who {deed}.", every),
                (some, f"Not all {group} {deed}.", every),
                (some, f"There are {group} who {deed}.", none),
                (most, f"More than half of the {group} {deed}.", few),
                (few, f"Less than half of the {group} {deed}.", most),
            ]
        )
    )


def _direction(words: _Words, chance: Random) -> _Item:
    a, b = words.some(_PLACES, _PLACES_2, chance, 2)
    who = words.one(_PEOPLE, _PEOPLE_2, chance)
    verb = chance.choice(["moved", "sailed", "drove", "walked", "flew"])
    right = [f"{who} {verb} from {a} to {b}.", f"{who} {verb} to {b} from {a}.", f"{who} left {a} for {b}."]
    wrong = [f"{who} {verb} from {b} to {a}.", f"{who} {verb} to {a} from {b}.", f"{who} left {b} for {a}."]
    return _Item(chance.choice(right[:2]), chance.choice(right), chance.choice(wrong))


_MAKERS: dict[str, Callable[[_Words, Random], _Item]] = {
    "passive": _passive,
    "comparative": _comparative,
    "values": _values,
    "negation": _negation,
    "converse": _converse,
    "bounds": _bounds,
    "quantifier": _quantifier,
    "direction": _direction,
}
KINDS = tuple(_MAKERS)


def contrast_pairs(kinds: Sequence[str], count: int, *, half: int, seed: int) -> Iterator[ContrastPair]:
    """``count`` distinct pairs of each kind, from one half of the words (0 or 1). Raises KeyError for another kind."""
    words = _Words(half)
    for kind in kinds:
        chance = Random(f"{seed}:{kind}:{half}")
        seen: set[_Item] = set()
        while len(seen) < count:
            item = _MAKERS[kind](words, chance)
            if item in seen or item.right == item.wrong:
                continue
            seen.add(item)
            yield ContrastPair(kind, _surrounded(item.evidence, words, chance, kinds), item.right, item.wrong)


def _surrounded(evidence: str, words: _Words, chance: Random, kinds: Sequence[str]) -> str:
    """The evidence with no, one or two other sentences, of other names or things."""
    sentences = [evidence]
    for _ in range(chance.choice([0, 0, 1, 2])):
        other = _MAKERS[chance.choice(list(kinds))](words, chance).evidence
        names = [name for name in _NAMES[words.half] if name in evidence]
        if not any(name in other for name in names):
            sentences.insert(chance.randrange(len(sentences) + 1), other)
    return " ".join(sentences)


def _named(*groups: str) -> tuple[str, ...]:
    return tuple(name for group in groups for name in group.split("|"))


_NAMES = (
    _named(_PEOPLE, _FIRMS, _THINGS, _SPANS, _GROUPS, _PLACES),
    _named(_PEOPLE_2, _FIRMS_2, _THINGS_2, _SPANS_2, _GROUPS_2, _PLACES_2),
)


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]
