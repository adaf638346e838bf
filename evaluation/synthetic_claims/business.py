"""Synthetic business records (address, categories, hours, amenities, ratings, reviews) and statements about them."""

from __future__ import annotations

from random import Random

from evaluation.synthetic_claims.facts import Fact, Record, others
from evaluation.synthetic_claims.record_words import (
    ADJECTIVES,
    ALCOHOL,
    AMBIENCE,
    AMENITIES,
    ATTIRE,
    CATEGORIES,
    CITIES,
    DAYS,
    FIRST,
    KINDS,
    NOISE,
    NOUNS,
    PARKING,
    STATES,
    STREETS,
    WIFI,
)
from evaluation.synthetic_claims.reviews import reviews_of

_STARS = tuple(f"{n / 2:.1f}" for n in range(2, 11))
_IT = ("The restaurant", "It", "The business", "This place", "The establishment")


def business(chance: Random) -> Record:
    """Return one random record in one of several key layouts."""
    name = f"{chance.choice(('The ', '', ''))}{chance.choice(ADJECTIVES)} {chance.choice(NOUNS)} {chance.choice(KINDS)}"
    if chance.random() < 0.2:
        name = f"{chance.choice(FIRST)}'s {chance.choice(KINDS)}"
    city, state, street = chance.choice(CITIES), chance.choice(STATES), chance.choice(STREETS)
    house = chance.randrange(10, 4999)
    categories = chance.sample(CATEGORIES, chance.randint(2, 5))
    stars = chance.choice(_STARS)
    it = (name, *_IT)
    record: dict[str, object] = {
        "name": name,
        "address": f"{house} {street}",
        "city": city,
        "state": state,
        "categories": ", ".join(categories),
    }
    facts = [
        _fact(
            it,
            "is located at {address} in {city}, {state}",
            {"address": f"{house} {street}", "city": city, "state": state},
            {
                "address": (
                    f"{house + chance.choice((1, 10, 100))} {street}",
                    f"{house} {chance.choice([s for s in STREETS if s != street])}",
                ),
                "city": others(CITIES, city, chance),
                "state": others(STATES, state, chance),
            },
        ),
        _fact(
            it,
            "is located in {city}, {state}",
            {"city": city, "state": state},
            {"city": others(CITIES, city, chance), "state": others(STATES, state, chance)},
        ),
        _category(it, categories, chance),
        Fact(
            tuple(
                f"{w} {r}"
                for w in it
                for r in (
                    "has a rating of {stars} stars",
                    "is rated {stars} out of 5 stars",
                    "has an overall rating of {stars} out of 5",
                    "holds a {stars}-star rating",
                )
            ),
            {"stars": stars},
            {"stars": others(_STARS, stars, chance, 4)},
        ),
    ]
    hours = _hours(chance)
    if chance.random() < 0.9:
        record["hours"] = {day: span for day, (_, _, span) in hours.items()} if hours else None
        facts += _hour_facts(it, hours, chance)
    attributes, found = _attributes(it, chance)
    record["attributes"] = attributes
    facts += found
    record[chance.choice(("business_stars", "stars", "rating"))] = float(stars) if chance.random() < 0.7 else stars
    reviews, found = reviews_of(chance)
    if reviews:
        record[chance.choice(("review_info", "reviews"))] = reviews
        facts += found
    return Record(name, record, tuple(_stopped(fact) for fact in facts))


def _stopped(fact: Fact) -> Fact:
    return Fact(tuple(t if t.endswith(".") else t + "." for t in fact.templates), fact.true, fact.false, fact.known)


def _fact(it: tuple[str, ...], template: str, true: dict[str, str], false: dict[str, tuple[str, ...]]) -> Fact:
    return Fact(tuple(f"{who} {template}" for who in it), true, false)


def _category(it: tuple[str, ...], categories: list[str], chance: Random) -> Fact:
    mine = chance.choice(categories)
    false = tuple(c for c in chance.sample(CATEGORIES, 6) if c not in categories)
    templates = ("is categorized under {category}", "falls into the category {category}", "is listed under {category}")
    return Fact(tuple(f"{who} {s}" for who in it for s in templates), {"category": mine}, {"category": false})


def clock(hour: int, minute: int, chance: Random) -> str:
    """Return a time of day as written in sentences: "5:30 PM", "11 PM", "17:30"."""
    way = chance.random()
    if way < 0.15:
        return f"{hour}:{minute:02d}"
    half = "PM" if 12 <= hour < 24 else "AM"
    shown = (hour - 1) % 12 + 1
    half = half if way < 0.8 else half.lower()[0] + ".m"
    return f"{shown} {half}" if minute == 0 and way < 0.6 else f"{shown}:{minute:02d} {half}"


def _hours(chance: Random) -> dict[str, tuple[tuple[int, int], tuple[int, int], str]]:
    opens, closes = chance.randint(6, 12), chance.randint(14, 23)
    if chance.random() < 0.3:
        opens = chance.randint(15, 18)
        closes = chance.randint(20, 23)
    hours = {}
    dash = chance.choice(("-", "-", " to ", "–"))
    padded = chance.random() < 0.3
    for day in DAYS:
        if chance.random() < 0.12:
            continue
        a = (opens, chance.choice((0, 0, 0, 30)))
        b = (
            closes + (1 if day in ("Friday", "Saturday") and closes < 23 and chance.random() < 0.5 else 0),
            chance.choice((0, 0, 0, 30)),
        )
        if chance.random() < 0.15:
            a = (min(a[0] + 1, 13 if opens < 13 else 18), a[1])
        shown = [f"{h}:{m:02d}" if padded else f"{h}:{m}" for h, m in (a, b)]
        hours[day] = (a, b, dash.join(shown))
    return hours


def _hour_facts(
    it: tuple[str, ...], hours: dict[str, tuple[tuple[int, int], tuple[int, int], str]], chance: Random
) -> list[Fact]:
    facts = []
    for day in chance.sample(list(hours), min(3, len(hours))):
        a, b, _ = hours[day]
        style = chance.randrange(10**6)
        shown = [clock(h, m, Random(style)) for h, m in (a, b)]
        early = tuple(clock(a[0] + d, a[1], Random(style)) for d in (-2, -1, 1) if (a[0] + d, a[1]) < b)
        late = tuple(
            clock(b[0] + d, b[1], Random(style)) for d in (-2, -1, 1) if a < (b[0] + d, b[1]) and b[0] + d < 24
        )
        other = tuple(d for d in hours if hours[d][0] != a and hours[d][1] != b)
        closed = tuple(d for d in DAYS if d not in hours)
        templates = (
            "is open from {open} to {close} on {day}s",
            "opens at {open} and closes at {close} on {day}s",
            "is open on {day}s from {open} until {close}",
            "operates from {open} to {close} on {day}",
        )
        facts.append(
            Fact(
                tuple(f"{who} {s}" for who in it for s in templates),
                {"open": shown[0], "close": shown[1], "day": day},
                {"open": early, "close": late, "day": other + closed},
            )
        )
        facts.append(
            Fact(
                tuple(f"{who} {s}" for who in it for s in ("opens at {open} on {day}s", "is open on {day}s")),
                {"open": shown[0], "day": day},
                {"day": closed} if closed else {"open": early},
            )
        )
    closed = tuple(d for d in DAYS if d not in hours)
    if closed and hours:
        facts.append(
            Fact(tuple(f"{who} is closed on {{day}}s" for who in it), {"day": closed[0]}, {"day": tuple(hours)})
        )
    return [fact for fact in facts if all(any("{" + slot + "}" in t for slot in fact.false) for t in fact.templates)]


def _attributes(it: tuple[str, ...], chance: Random) -> tuple[dict[str, object], list[Fact]]:
    as_text = chance.random() < 0.4
    attributes: dict[str, object] = {}
    facts: list[Fact] = []

    def shown(value: bool | None) -> object:
        return value if value is None or not as_text else str(value)

    for key in chance.sample(list(AMENITIES), chance.randint(3, 9)):
        yes, no = AMENITIES[key]
        value = chance.choices((True, False, None), (0.55, 0.33, 0.12))[0]
        attributes[key] = shown(value)
        facts.append(_stance(it, yes, no, value))
    for key in chance.sample([k for k in AMENITIES if k not in attributes], 2):
        facts.append(_stance(it, *AMENITIES[key], None))
    if chance.random() < 0.6:
        wifi = chance.choice(list(WIFI))
        attributes["WiFi"] = wifi
        facts.append(
            Fact(
                tuple(f"{who} {s}" for who in it for s in ("offers {wifi}", "has {wifi}", "provides {wifi}")),
                {"wifi": WIFI[wifi]},
                {"wifi": others(list(WIFI.values()), WIFI[wifi], chance)},
            )
        )
    if chance.random() < 0.6:
        parking = {kind: chance.random() < 0.4 for kind in PARKING}
        attributes["BusinessParking"] = {kind: shown(value) for kind, value in parking.items()}
        has, lacks = [PARKING[k] for k in parking if parking[k]], [PARKING[k] for k in parking if not parking[k]]
        for verb, mine, rest in (("has", has, lacks), ("does not have", lacks, has)):
            if mine and rest:
                facts.append(
                    Fact(
                        tuple(f"{who} {verb} {{parking}}" for who in it),
                        {"parking": chance.choice(mine)},
                        {"parking": tuple(rest)},
                    )
                )
    if chance.random() < 0.5:
        ambience = {kind: chance.random() < 0.25 for kind in AMBIENCE}
        attributes["Ambience"] = {kind: shown(value) for kind, value in ambience.items()}
        mine, rest = [k for k in AMBIENCE if ambience[k]], [k for k in AMBIENCE if not ambience[k]]
        if mine and rest:
            facts.append(
                Fact(
                    tuple(f"{who} has a {{mood}} {n}" for who in it for n in ("ambience", "atmosphere")),
                    {"mood": chance.choice(mine)},
                    {"mood": tuple(rest)},
                )
            )
    for key, values, templates in (
        ("NoiseLevel", NOISE, ("has a noise level that is {value}", "is described as {value} in terms of noise")),
        ("RestaurantsAttire", ATTIRE, ("has a {value} dress code", "asks for {value} attire")),
    ):
        if chance.random() < 0.4:
            mode = chance.choice(values)
            attributes[key] = mode
            facts.append(
                Fact(
                    tuple(f"{who} {s}" for who in it for s in templates),
                    {"value": mode},
                    {"value": others(values, mode, chance)},
                )
            )
    if chance.random() < 0.4:
        alcohol = chance.choice(list(ALCOHOL))
        attributes["Alcohol"] = alcohol
        facts.append(
            Fact(
                tuple(f"{who} {s} {{drinks}}" for who in it for s in ("serves", "offers")),
                {"drinks": ALCOHOL[alcohol]},
                {"drinks": others(list(ALCOHOL.values()), ALCOHOL[alcohol], chance)},
            )
        )
    facts = [
        f
        if f.true.get("drinks") != "a full bar"
        else Fact(tuple(t.replace("serves", "has") for t in f.templates), f.true, f.false)
        for f in facts
    ]
    pairs = list(attributes.items())
    chance.shuffle(pairs)
    return dict(pairs), facts


def _stance(it: tuple[str, ...], yes: str, no: str, value: bool | None) -> Fact:
    templates = tuple(f"{who} {{does}}" for who in it)
    if value is None:
        return Fact(templates, {}, {"does": (yes, no)}, known=False)
    return Fact(templates, {"does": yes if value else no}, {"does": (no,) if value else (yes,)})
