"""List word pairs that reverse the meaning of a sentence: converse verbs, comparatives, bounds, directions.

Converse verbs keep the meaning if their arguments are exchanged: "A bought B" and "B was bought by A", or "A sold to B"
and "B bought from A" (Cruse 1986, "Lexical Semantics", chapter 10). So do comparatives: "A is longer than B" and "B is
shorter than A". The other pairs change the meaning in every position.
"""

from __future__ import annotations

_COMPARED = (
    "larger bigger greater|smaller littler",
    "longer|shorter",
    "taller higher|lower shorter",
    "heavier|lighter",
    "wider broader|narrower",
    "deeper|shallower",
    "thicker|thinner",
    "faster quicker swifter|slower",
    "older|younger newer",
    "earlier sooner|later",
    "cheaper|dearer costlier pricier",
    "hotter warmer|colder cooler",
    "brighter|darker dimmer",
    "stronger|weaker",
    "harder|softer easier",
    "louder|quieter",
    "richer wealthier|poorer",
    "better|worse",
    "more|less fewer",
    "safer|riskier",
    "nearer closer|farther further",
    "busier|quieter",
    "wetter|drier",
    "cleaner|dirtier",
    "sharper|blunter",
    "rougher|smoother",
    "simpler|trickier",
    "largest biggest greatest|smallest",
    "longest|shortest",
    "tallest highest|lowest",
    "heaviest|lightest",
    "oldest|youngest newest",
    "fastest|slowest",
    "earliest first|latest last",
    "most|least fewest",
    "best|worst",
    "cheapest|dearest priciest",
)
_TURNED = (
    "until till|from",
    "before|after",
    "on|off",
    "minimum|maximum",
    "least|most",
    "clockwise|counterclockwise anticlockwise",
    "lock locks locked locking|unlock unlocks unlocked unlocking",
    "open opens opened opening|close closes closed closing shut shuts",
    "include includes included including|exclude excludes excluded excluding",
    "increase increases increased increasing rise rises rose risen rising grow grows grew grown|"
    "decrease decreases decreased decreasing fall falls fell fallen falling drop drops dropped shrink shrinks shrank",
    "accept accepts accepted accepting|reject rejects rejected rejecting refuse refuses refused decline declines "
    "declined",
    "allow allows allowed permit permits permitted|forbid forbids forbidden forbade prohibit prohibits prohibited "
    "ban bans "
    "banned",
    "above over|below under beneath",
    "inside indoors|outside outdoors",
    "north northern|south southern",
    "east eastern|west western",
    "northeast|southwest",
    "northwest|southeast",
    "left|right",
    "up upward upwards upstairs uphill|down downward downwards downstairs downhill",
    "upper top|lower bottom",
    "front|back rear",
    "start starts started begin begins began begun|end ends ended finish finishes finished stop stops stopped",
    "win wins won|lose loses lost",
    "pass passes passed|fail fails failed",
    "enter enters entered|leave leaves left exit exits exited",
    "arrive arrives arrived|depart departs departed",
    "import imports imported|export exports exported",
    "enable enables enabled activate activates activated|disable disables disabled deactivate deactivates deactivated",
    "insert inserts inserted|remove removes removed",
    "attach attaches attached|detach detaches detached",
    "mandatory compulsory required obligatory|optional voluntary",
    "always|never",
    "even|odd",
    "morning|evening",
    "day daytime|night",
    "summer|winter",
    "male|female",
    "internal|external",
    "public|private",
    "positive|negative",
    "input|output",
    "buyer|seller",
    "tenant|landlord",
    "true|false",
    "hot|cold",
    "wet|dry",
    "full|empty",
    "legal|illegal",
    "possible|impossible",
    "safe|dangerous unsafe",
    "present|absent",
    "alive|dead",
    "first|last",
    "early|late",
    "horizontal horizontally|vertical vertically",
    "gain gains gained|lose loses lost",
    "support supports supported back backs backed|oppose opposes opposed",
    "for|against",
    "agree agrees agreed|disagree disagrees disagreed",
    "confirm confirms confirmed|deny denies denied",
    "strengthen strengthens strengthened|weaken weakens weakened",
    "expand expands expanded|contract contracts contracted",
    "raise raises raised|lower lowers lowered",
    "tighten tightens tightened|loosen loosens loosened",
    "hire hires hired|fire fires fired dismiss dismisses dismissed",
    "heat heats heated warm warms warmed|cool cools cooled",
    "fill fills filled|drain drains drained",
)
_CONVERSE = (
    "buy buys bought purchase purchases purchased acquire acquires acquired|sell sells sold",
    "lend lends lent|borrow borrows borrowed",
    "give gives gave given|receive receives received get gets got",
    "teach teaches taught|learn learns learned learnt",
    "send sends sent|receive receives received",
    "employ employs employed|work works worked",
    "precede precedes preceded|follow follows followed succeed succeeds succeeded",
    "own owns owned|belong belongs belonged",
    "lease leases leased let lets|rent rents rented",
    "export exports exported|import imports imported",
    "lead leads led|follow follows followed",
    "beat beats beaten defeat defeats defeated|lose loses lost",
)


def _table(rows: tuple[str, ...]) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for row in rows:
        one, other = (frozenset(side.split()) for side in row.split("|"))
        for words, against in ((one, other), (other, one)):
            for word in words:
                found[word] = found.get(word, frozenset()) | against
    return found


COMPARATIVES = _table(_COMPARED)
TURNED = _table(_TURNED)
CONVERSES = _table(_CONVERSE)
_SIDES: dict[str, frozenset[tuple[int, int]]] = {}
for _row, _line in enumerate(_COMPARED):
    for _side, _words in enumerate(_line.split("|")):
        for _word in _words.split():
            if _word.endswith("er") or _word == "worse":
                _SIDES[_word] = _SIDES.get(_word, frozenset()) | {(_row, _side)}


def opposite_comparatives(one: str, other: str) -> bool:
    """Return whether two comparatives are opposites: "larger" and "smaller"."""
    return other in COMPARATIVES.get(one, ())


def same_scale(one: str, other: str) -> int:
    """Return 1 for two comparatives with the same meaning ("dearer", "pricier"), -1 for opposites, else 0."""
    if _SIDES.get(one, frozenset()) & _SIDES.get(other, frozenset()):
        return 1
    return -1 if opposite_comparatives(one, other) else 0


def converse(one: str, other: str) -> bool:
    """Return whether two verbs are converses: "bought" and "sold"."""
    return other in CONVERSES.get(one, ())


def opposite_of_statement(one: str, other: str) -> bool:
    """Return whether replacing one word by the other changes a statement: "until" and "from"."""
    return other in TURNED.get(one, ()) or other in COMPARATIVES.get(one, ())
