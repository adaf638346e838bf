"""Sets of words and phrases that can replace each other and change the meaning, one set per line."""

from __future__ import annotations

# Each word of a line can replace the others and changes the meaning. "_" is a space.
_QUALITIES = """
increase decrease
increased decreased
increases decreases
increasing decreasing
rise fall
rose fell
rising falling
higher lower
highest lowest
high low
more_than less_than
greater smaller
larger smaller
largest smallest
large small
long short
longer shorter
longest shortest
older younger
oldest youngest
old new
older newer
early late
earlier later
earliest latest
first last
before after
northern southern eastern western
north south east west
northeast southwest northwest southeast
northeastern southwestern northwestern southeastern
upper lower
left right
male female
men women
man woman
boys girls
husband wife
father mother
son daughter
brother sister
brothers sisters
uncle aunt
nephew niece
actor actress
king queen
rich poor
richest poorest
strong weak
stronger weaker
public private
urban rural
ancient modern
common rare
commonly rarely
often rarely
usually never
always never
frequently seldom
major minor
majority minority
positive negative
positively negatively
active inactive
successful unsuccessful
popular unpopular
legal illegal
formal informal
direct indirect
directly indirectly
internal external
domestic foreign
hot cold
warm cool
wet dry
winter summer
spring autumn
morning evening
black white
light dark
hard soft
fast slow
faster slower
rapidly slowly
quickly slowly
simple complex
cheap expensive
best worst
better worse
good bad
strongest weakest
temporary permanent
voluntary compulsory
complete incomplete
possible impossible
known unknown
similar different
same different
single married
inside outside
above below
near far_from
maximum minimum
advantage disadvantage
advantages disadvantages
success failure
victory defeat
win loss
birth death
beginning end
import export
imports exports
imported exported
all some none
most few
many few
several no
always sometimes
exclusively partly
entirely partly
completely partially
conservative liberal
democratic authoritarian
military civilian
religious secular
natural artificial
physical mental
solid liquid
acidic alkaline
vertical horizontal
minority majority
professional amateur
current former
independent dependent
"""
_RELATIONS = """
won lost
wins loses
bought sold
built destroyed
opened closed
began ended
begins ends
started stopped
supported opposed
supports opposes
support oppose
accepted rejected
accepts rejects
entered left
joined left
attacked defended
allowed forbade
permitted prohibited
allows prevents
includes excludes
including excluding
praised criticised
praised criticized
increased reduced
increases reduces
gained lost
arrived_in departed_from
moved_to left
was_founded was_dissolved
were_founded were_dissolved
was_established was_abolished
was_born died
was_elected was_defeated
was_appointed was_dismissed
was_built was_demolished
was_released was_cancelled
was_created was_destroyed
was_discovered was_invented
succeeded preceded
was_succeeded was_preceded
followed preceded
follows precedes
followed_by preceded_by
written_by edited_by translated_by published_by
directed_by produced_by written_by edited_by
composed_by performed_by arranged_by
wrote edited translated reviewed
directed produced edited
discovered rejected
invented improved
founded left
taught studied
confirmed denied
agreed refused
approved vetoed
passed rejected
adopted abandoned
strengthened weakened
expanded shrank
improved worsened
succeeded failed
lives_in comes_from
caused_by prevented_by
causes prevents
contains lacks
requires forbids
encourages discourages
encouraged discouraged
defeated lost_to
conquered lost
captured released
appeared disappeared
hired dismissed
graduated_from taught_at
"""


def _table(lines: str) -> dict[str, tuple[str, ...]]:
    table: dict[str, list[str]] = {}
    for line in lines.split("\n"):
        words = [word.replace("_", " ") for word in line.split()]
        for word in words:
            table.setdefault(word, []).extend(w for w in words if w != word and w not in table.get(word, ()))
    return {word: tuple(others) for word, others in table.items()}


QUALITIES = _table(_QUALITIES)
RELATIONS = _table(_RELATIONS)
