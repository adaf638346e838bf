"""Verb inflection: a table of irregular verbs, a list of common regular ones, and spelling rules."""

from __future__ import annotations

from typing import Final

from model.english import word_set

_IRREGULAR: Final = """
arise arose arisen; awake awoke awoken; bear bore born; beat beat beaten; become became become; begin began begun;
bend bent bent; bind bound bound; bite bit bitten; bleed bled bled; blow blew blown; break broke broken; breed bred
bred; bring brought brought; build built built; burst burst burst; buy bought bought; catch caught caught; choose
chose chosen; cling clung clung; come came come; cost cost cost; creep crept crept; deal dealt dealt; dig dug dug;
draw drew drawn; drink drank drunk; drive drove driven; eat ate eaten; fall fell fallen; feed fed fed; feel felt
felt; fight fought fought; find found found; flee fled fled; fly flew flown; forbid forbade forbidden; forget forgot
forgotten; freeze froze frozen; get got got; give gave given; go went gone; grow grew grown; hang hung hung; hear
heard heard; hide hid hidden; hit hit hit; hold held held; hurt hurt hurt; keep kept kept; know knew known; lay laid
laid; lead led led; leave left left; lend lent lent; let let let; lie lay lain; lose lost lost; make made made; mean
meant meant; meet met met; overcome overcame overcome; overthrow overthrew overthrown; pay paid paid; put put put;
quit quit quit; read read read; ride rode ridden; ring rang rung; rise rose risen; run ran run; say said said; see
saw seen; seek sought sought; sell sold sold; send sent sent; set set set; shake shook shaken; shine shone shone;
shoot shot shot; show showed shown; shrink shrank shrunk; shut shut shut; sing sang sung; sink sank sunk; sit sat
sat; sleep slept slept; slide slid slid; speak spoke spoken; spend spent spent; spin spun spun; split split split;
spread spread spread; spring sprang sprung; stand stood stood; steal stole stolen; stick stuck stuck; strike struck
struck; swear swore sworn; sweep swept swept; swim swam swum; swing swung swung; take took taken; teach taught
taught; tear tore torn; tell told told; think thought thought; throw threw thrown; undergo underwent undergone;
understand understood understood; undertake undertook undertaken; wake woke woken; wear wore worn; weave wove woven;
win won won; withdraw withdrew withdrawn; write wrote written; rebuild rebuilt rebuilt; foresee foresaw foreseen;
uphold upheld upheld; withstand withstood withstood; oversee oversaw overseen; outgrow outgrew outgrown; cast cast
cast
"""
_REGULAR: Final = (
    "abandon abolish absorb accept accompany accuse achieve acquire act adapt add address adjust admit adopt advance "
    "advise advocate affect agree aim allow alter amend analyse announce annex appeal appear apply appoint approach "
    "approve argue arrange arrest arrive ask assert assign assist associate assume attach attack attain attempt "
    "attend attract attribute award avoid ban base believe belong benefit blame block borrow branch broadcast burn "
    "calculate call cancel capture carry cause celebrate change characterize charge circulate cite claim classify "
    "close coin collaborate collapse collect combine comment commission commit compare compete compile complete "
    "compose comprise conclude conduct confirm connect conquer consider consist constitute construct consult consume "
    "contain continue contract contrast contribute control convert convince cooperate copy correspond count cover "
    "create criticize cross crown cultivate cut damage date debut decide declare decline dedicate defeat defend "
    "define deliver demand demonstrate deny depend depict deploy derive descend describe design destroy detect "
    "determine develop devise devote die differ diminish direct disagree disappear discontinue discover discuss "
    "display disrupt dissolve distinguish distribute divide document dominate donate drop earn edit educate elect "
    "eliminate embrace emerge emigrate emphasize employ enable enact encounter encourage end endorse enforce engage "
    "enjoy enter entitle equal escape establish estimate evaluate evolve examine exceed exclude execute exercise "
    "exert exhibit exist expand expect experience explain exploit explore export express extend face fail favor "
    "favour feature file fill film finance finish focus follow force form formulate found function gain gather "
    "generate govern graduate grant guarantee guide happen head help host identify ignore illustrate imagine "
    "implement imply import impose imprison improve incorporate increase indicate induce inherit influence inform "
    "initiate injure insist inspire install intend interact interpret introduce invade invent invest investigate "
    "invite involve isolate issue join judge justify kill label lack land last launch learn legalize like limit link "
    "list live locate look love maintain manage manufacture mark marry match measure mention merge migrate modify "
    "motivate mount move murder name need negotiate nominate note notice obey observe obtain occupy occur offer open "
    "operate oppose order organize originate own paint participate pass perceive perform permit persuade place plan "
    "play point possess practice praise predict prefer prepare present preserve prevent print proceed proclaim "
    "produce progress prohibit project promise promote propose protect protest prove provide provoke publish pull "
    "purchase pursue push question raise range rank reach realize rebel receive recognize recommend record recover "
    "recruit reduce refer reflect refuse regard reign reject relate release rely remain remember remove rename render "
    "renew replace reply report represent reproduce request require rescue resemble reside resign resist resolve "
    "respond restore restrict result resume retain retire retreat return reveal revise revive rule satisfy save "
    "search secure seem separate serve settle shape share shift sign signify solve sort sound spell sponsor stage "
    "start state stay stem stop store strengthen stress stretch struggle study submit succeed suffer suggest suit "
    "supply support suppress surrender surround survive suspect sustain symbolize talk target tend terminate test "
    "threaten trace trade train transfer transform translate transmit transport travel treat trigger try turn unify "
    "unite update urge use utilize value vary view violate visit vote walk want warn watch weaken welcome withdraw "
    "witness work worship yield"
)
_DOUBLING: Final = word_set(
    "admit ban commit compel control cut drop permit plan prefer refer rebel stop submit transfer transmit stem occur"
)
_SILENT_E: Final = tuple(sorted(word_set("at iz is v c u dg rg ng bl tl gl pl cl os us as ur ir ut")))
"""Endings of stems whose base form ends in e ("us" in "used")."""
_VOWELS: Final = "aeiou"


def _past_of(base: str) -> str:
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2] not in _VOWELS:
        return base[:-1] + "ied"
    return base + base[-1] + "ed" if base in _DOUBLING else base + "ed"


def third_of(base: str) -> str:
    """Return the third person singular of a lower-case base form ("carry" -> "carries")."""
    if base == "have":
        return "has"
    if base.endswith(("s", "x", "z", "ch", "sh", "o")):
        return base + "es"
    return base[:-1] + "ies" if base.endswith("y") and base[-2] not in _VOWELS else base + "s"


def _gerund_of(base: str) -> str:
    if base.endswith("ie"):
        return base[:-2] + "ying"
    if base.endswith("e") and not base.endswith(("ee", "ye")):
        return base[:-1] + "ing"
    return base + base[-1] + "ing" if base in _DOUBLING else base + "ing"


_FORMS: Final = [entry.split() for entry in _IRREGULAR.split(";")]
BASES: Final = frozenset((*(form[0] for form in _FORMS), *_REGULAR.split()))
PAST: Final[dict[str, str]] = {_past_of(base): base for base in _REGULAR.split()} | {
    form[1]: form[0] for form in _FORMS
}
"""Simple past form -> base form."""
PARTICIPLES: Final[dict[str, str]] = {_past_of(base): base for base in _REGULAR.split()} | {
    form[2]: form[0] for form in _FORMS
}
THIRD: Final[dict[str, str]] = {third_of(base): base for base in BASES}
"""Third person singular -> base form."""
GERUNDS: Final = frozenset(_gerund_of(base) for base in BASES)
# Forms that are nouns far more often than verbs.
NOUNY: Final = word_set(
    "acts aims attacks attempts benefits calls causes changes charges claims comments contracts controls covers cuts "
    "demands designs documents drops ends estimates exercises experiences exports faces features files films forces "
    "forms functions grants heads hosts imports influences issues judges lands limits links lists looks marks matches "
    "measures names needs notes offers orders parts places plans plays points practices presents progress projects "
    "protests purchases questions ranks records reforms reports requests results rules sets shares shifts signs "
    "sounds stages states studies supplies supports systems talks targets tests trades trains transfers turns uses "
    "values views visits votes walks works spring saw found lay left felt set cost lead thought cast read cut spread "
    "hit put hurt let split quit burst shut leaves rings sinks swings"
)


def base_of_past(word: str) -> str | None:
    """Return the base of a simple past form ("founded" -> "found"); None if ``word`` does not look like one."""
    if word in PAST:
        return PAST[word]
    if not word.endswith("ed") or len(word) < 5 or word.endswith("eed"):
        return None
    stem = word[:-2]
    if stem.endswith("i"):
        return stem[:-1] + "y"
    if len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "lszf":
        return stem[:-1]
    if stem.endswith(("our", "air", "oat", "eat")):
        return stem
    if stem.endswith(_SILENT_E):
        return stem + "e"
    return stem


def base_of_third(word: str) -> str | None:
    """Return the base of a third person singular that is in the lexicon and rarely a noun; None for other words."""
    return THIRD.get(word) if word not in NOUNY else None


def past_of(base: str) -> str:
    """Return the simple past of a base form, from the lexicon ("write" -> "wrote") or by rule."""
    return next((form[1] for form in _FORMS if form[0] == base), None) or ("had" if base == "have" else _past_of(base))
