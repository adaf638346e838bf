"""Synthetic tables and records of goods, people, matches and towns, and statements about them."""

from __future__ import annotations

from random import Random

from evaluation.synthetic_claims.facts import Fact, Record, others
from evaluation.synthetic_claims.record_words import (
    AWARDS,
    BRANDS,
    CITIES,
    COLORS,
    FIRST,
    GOODS,
    JOBS,
    LAST,
    MEASURES,
    TEAMS,
)


def product(chance: Random) -> Record:
    """Return one random product with its specifications."""
    kind = chance.choice(list(GOODS))
    name = f"{chance.choice(BRANDS)} {chance.choice('ABDEGKLMNPRSTVXZ')}{chance.randrange(1, 99) * 10}"
    color = chance.choice(COLORS)
    price = f"${chance.randrange(20, 1999)}.{chance.choice(('00', '50', '99'))}"
    years = str(chance.randint(1, 5))
    value: dict[str, object] = {
        "product": name,
        "type": kind,
        "color": color,
        "price": price,
        "warranty_years": int(years),
    }
    it = (f"The {name}", f"The {kind}", "It", "The product")
    facts = [
        _about(it, ("comes in {v}", "is {v}"), color, others(COLORS, color, chance)),
        _about(it, ("costs {v}", "is sold for {v}", "has a price of {v}"), price, _prices(price, chance)),
        _about(
            it,
            ("has a warranty of {v} years", "comes with a {v}-year warranty"),
            years,
            others([str(n) for n in range(1, 6)], years, chance),
        ),
    ]
    specs: dict[str, str] = {}
    for measure in GOODS[kind]:
        specs[measure] = chance.choice(MEASURES[measure])
        facts.append(
            _about(
                it,
                (f"has a {measure} of {{v}}", f"offers a {measure} of {{v}}"),
                specs[measure],
                others(MEASURES[measure], specs[measure], chance),
            )
        )
    for feature in chance.sample(
        ("bluetooth", "waterproof", "usbCharging", "foldable", "remote_control", "touchscreen"), 3
    ):
        has = chance.random() < 0.5
        value[feature] = has
        shown = {
            "bluetooth": "supports Bluetooth",
            "waterproof": "is waterproof",
            "usbCharging": "can be charged by USB",
            "foldable": "can be folded",
            "remote_control": "has a remote control",
            "touchscreen": "has a touchscreen",
        }[feature]
        deny = {
            "bluetooth": "does not support Bluetooth",
            "waterproof": "is not waterproof",
            "usbCharging": "cannot be charged by USB",
            "foldable": "cannot be folded",
            "remote_control": "has no remote control",
            "touchscreen": "has no touchscreen",
        }[feature]
        facts.append(_about(it, ("{v}",), shown if has else deny, (deny if has else shown,)))
    if chance.random() < 0.5:
        value["specs"] = specs
    else:
        value |= {key.replace(" ", "_"): v for key, v in specs.items()}
    return Record(name, value, tuple(facts))


def person(chance: Random) -> Record:
    """Return one random person's record."""
    name = f"{chance.choice(FIRST)} {chance.choice(LAST)}"
    born, city, job = chance.randrange(1890, 1995), chance.choice(CITIES), chance.choice(JOBS)
    award, year = chance.choice(AWARDS), born + chance.randrange(25, 60)
    children = chance.randint(0, 5)
    spouse = f"{chance.choice(FIRST)} {chance.choice(LAST)}" if chance.random() < 0.7 else None
    month = chance.choice(("January", "March", "April", "June", "August", "October", "December"))
    day = chance.randint(1, 28)
    value: dict[str, object] = {
        "name": name,
        "occupation": job,
        "birthDate": f"{day} {month} {born}",
        "birthPlace": city,
        "spouse": spouse,
        "children": children,
        "awards": [{"award": award, "year": year}],
    }
    it = (name, name.split()[1], name)
    facts = [
        _about(it, ("was born in {v}",), str(born), _years(born, chance)),
        _about(it, ("was born in {v}", "comes from {v}"), city, others(CITIES, city, chance)),
        _about(
            it,
            (f"was born on {{v}} {day}, {born}",),
            month,
            others(("January", "March", "April", "June", "August"), month, chance),
        ),
        _about(
            it,
            ("was a {v}" if job[0] not in "aeio" else "was an {v}", "worked as {v}"),
            job,
            tuple(j for j in others(JOBS, job, chance, 6) if (j[0] in "aeio") == (job[0] in "aeio")) or ("plumber",),
        ),
        _about(it, (f"received the {{v}} in {year}", "won the {v}"), award, others(AWARDS, award, chance)),
        _about(it, (f"received the {award} in {{v}}",), str(year), _years(year, chance)),
    ]
    facts[3] = Fact(tuple(t for t in facts[3].templates if "worked as" not in t), facts[3].true, facts[3].false)
    if spouse:
        facts.append(
            _about(
                it,
                ("was married to {v}",),
                spouse,
                (f"{chance.choice(FIRST)} {spouse.split()[1]}", name.split()[0] + " " + chance.choice(LAST)),
            )
        )
    else:
        facts.append(
            Fact(
                tuple(f"{who} was married to {{v}}." for who in it),
                {},
                {"v": (f"{chance.choice(FIRST)} {chance.choice(LAST)}",)},
                False,
            )
        )
    facts.append(
        _about(
            it,
            ("had {v} children",),
            str(children) if children != 1 else "1",
            others([str(n) for n in (0, 2, 3, 4, 5, 6)], str(children), chance),
        )
    )
    if children == 1:
        facts.pop()
    return Record(name, value, tuple(facts))


def box_score(chance: Random) -> Record:
    """Return the players of a random match, one row each."""
    players = [f"{chance.choice(FIRST)} {last}" for last in chance.sample(LAST, chance.randint(3, 8))]
    home, away = chance.sample(TEAMS, 2)
    rows = []
    for player in players:
        rows.append(
            {
                "player": player,
                "team": chance.choice((home, away)),
                "points": str(chance.randint(0, 41)),
                "rebounds": str(chance.randint(0, 17)),
                "assists": str(chance.randint(0, 14)),
                "minutes": str(chance.randint(8, 44)),
            }
        )
    facts: list[Fact] = []
    for row in rows:
        for key, template in (
            ("points", ("scored {v} points", "had {v} points", "finished with {v} points")),
            ("rebounds", ("had {v} rebounds", "grabbed {v} rebounds")),
            ("assists", ("had {v} assists", "dished out {v} assists")),
            ("minutes", ("played {v} minutes",)),
        ):
            values = [other[key] for other in rows] + [
                str(int(row[key]) + d) for d in (-2, 1, 3, 10) if int(row[key]) + d > 1
            ]
            facts.append(
                _about(
                    (row["player"], row["player"]), template, row[key], others(sorted(set(values)), row[key], chance)
                )
            )
        facts.append(
            _about(
                (row["player"],),
                ("played for the {v}", "was on the {v} side"),
                row["team"],
                (away if row["team"] == home else home,),
            )
        )
    facts += _most(
        rows,
        "player",
        (
            ("points", "scored the most points"),
            ("rebounds", "had the most rebounds"),
            ("minutes", "played the longest"),
        ),
    )
    return Record(f"{home} vs {away}", rows, tuple(facts), tuple(rows))


def towns(chance: Random) -> Record:
    """Return random towns and their figures, one row each."""
    names = chance.sample(CITIES, chance.randint(3, 8))
    rows = []
    for name in names:
        rows.append(
            {
                "City": name,
                "Population": f"{chance.randrange(2_000, 900_000):,}",
                "Area (km2)": str(chance.randrange(5, 400)),
                "Founded": str(chance.randrange(1650, 1950)),
                "Mayor": f"{chance.choice(FIRST)} {chance.choice(LAST)}",
            }
        )
    facts: list[Fact] = []
    for row in rows:
        for key, templates in (
            ("Population", ("has a population of {v}", "has {v} inhabitants", "is home to {v} people")),
            ("Area (km2)", ("covers {v} square kilometres", "has an area of {v} km2")),
            ("Founded", ("was founded in {v}",)),
            ("Mayor", ("has {v} as its mayor", "is led by Mayor {v}")),
        ):
            facts.append(
                _about(
                    (row["City"],),
                    templates,
                    row[key],
                    others(sorted({other[key] for other in rows}), row[key], chance),
                )
            )
    facts += _most(
        rows,
        "City",
        (
            ("Population", "has the largest population"),
            ("Area (km2)", "covers the largest area"),
            ("Founded", "was founded last"),
        ),
    )
    return Record("towns", rows, tuple(facts), tuple(rows))


def _most(rows: list[dict[str, str]], who: str, columns: tuple[tuple[str, str], ...]) -> list[Fact]:
    facts = []
    for key, words in columns:
        ranked = sorted(rows, key=lambda row: int(row[key].replace(",", "")), reverse=True)
        if int(ranked[0][key].replace(",", "")) > int(ranked[1][key].replace(",", "")):
            facts.append(
                Fact(
                    (f"{{v}} {words} of all those listed.", f"{{v}} {words}."),
                    {"v": ranked[0][who]},
                    {"v": tuple(row[who] for row in ranked[1:])},
                )
            )
    return facts


def _about(it: tuple[str, ...], templates: tuple[str, ...], true: str, false: tuple[str, ...]) -> Fact:
    return Fact(tuple(f"{who} {s}." for who in it for s in templates), {"v": true}, {"v": false})


def _years(year: int, chance: Random) -> tuple[str, ...]:
    return tuple(str(year + step) for step in chance.sample((-20, -10, -3, -2, -1, 1, 2, 3, 10, 20), 4))


def _prices(price: str, chance: Random) -> tuple[str, ...]:
    integer, _, cents = price[1:].partition(".")
    return tuple(
        f"${max(5, int(integer) + step)}.{cents}"
        for step in chance.sample((-100, -20, -1, 1, 10, 20, 100, 300), 3)
        if max(5, int(integer) + step) != int(integer)
    )
