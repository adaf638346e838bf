"""English small talk that no passage can support: likes, memories, guesses, questions to the other speaker."""

from __future__ import annotations

import re
from random import Random

from evaluation.synthetic_claims.edits import capitalised

_SLOT = re.compile(r"\{(?!topic\})(\w+)\}")


def _list(text: str) -> tuple[str, ...]:
    return tuple(" ".join(item.split()) for item in text.split("|"))


_PARTS: dict[str, tuple[str, ...]] = {
    "feel": _list(
        """
        love | like | really like | enjoy | hate | don't like | adore | prefer | am fond of | can't stand | miss
        """
    ),
    "person": _list(
        """
        brother | sister | mom | dad | grandmother | uncle | best friend | wife | husband | son | daughter |
        neighbor | boss | teacher | roommate | cousin
        """
    ),
    "when": _list(
        """
        last year | when I was a kid | a few years ago | last summer | every weekend | all the time | in college
        | growing up | last night | once | before I moved | on vacation
        """
    ),
    "thing": _list(
        """
        it | that | them | those | {topic} | {topic} | the whole thing | this stuff
        """
    ),
    "quality": _list(
        """
        amazing | pretty cool | so interesting | boring | overrated | beautiful | kind of scary | very important
        | underrated | too expensive | hilarious | sad | a bit strange | so good | awesome | wonderful
        """
    ),
    "best": _list(
        """
        the best | one of the greatest | my favorite | the most popular | the worst | the most famous | one of
        my favorites | the biggest | the most beautiful
        """
    ),
    "sort": _list(
        """
        in the world | of all time | ever | out there | these days | in my opinion | in my town | I know of | I
        have ever seen | right now
        """
    ),
    "guess": _list(
        """
        I think | I guess | I bet | Maybe | I heard that | I'm pretty sure | I feel like | It seems to me that |
        I would say | Probably
        """
    ),
    "past": _list(
        """
        it started a long time ago | they were around even before that | it was invented by accident | people
        used to do it at home | it came out in the nineties | it all began in a small town | it used to be a lot
        more popular | they made a movie of it | it won a lot of awards | somebody wrote a book on that
        """
    ),
    "now": _list(
        """
        it is getting more popular | most people don't know that | they do it everywhere now | it costs a lot of
        money | it will change a lot | they will never stop | there are better ones | you can buy it online | it
        is the same everywhere | kids love it | they should bring it back | it takes years to learn | everybody
        has one | it depends on the person
        """
    ),
    "because": _list(
        """
        because it reminds me of home | because I grew up with it | because my {person} showed me | because it
        makes me happy | since I was little | because it is so relaxing | but I don't know why | because of the
        colors | and it never gets old | even though I am not good at it | because it tastes so good | because
        it is good for you
        """
    ),
    "try": _list(
        """
        tried | seen | heard of | been to | read about | thought about | played | made | owned | watched |
        wondered about | gone to see
        """
    ),
    "hobby": _list(
        """
        cook | travel | paint | read | go hiking | play guitar | watch movies | garden | go fishing | run |
        collect stamps | work on cars | listen to music | bake
        """
    ),
    "wonder": _list(
        """
        how they do that | what it was like | why that is | who came up with that | how long that took | what
        happened next | if they still do it | what people think about it | how much that costs | if it is worth
        it
        """
    ),
    "agree": _list(
        """
        I agree | That is true | You are right | Same here | Me too | I know, right | Not really | I don't think
        so | No way | Good point | Of course | I hope so | Exactly | That makes sense
        """
    ),
}
_SAID = (
    "I {feel} {thing}",
    "I {feel} {thing} {because}",
    "I {feel} {thing}, it is {quality}",
    "I have never {try} {thing}",
    "I have {try} {thing} {when}",
    "I've {try} {thing} but I {feel} it now",
    "my {person} {try} {thing} {when}",
    "my {person} and I {try} {thing} {when}",
    "my {person} is a big fan of {thing}",
    "my {person} used to work there {when}",
    "{guess} {past}",
    "{guess} {now}",
    "{guess} {thing} would be {quality}",
    "{guess} that is {best} {sort}",
    "it is {best} {sort}",
    "it's so {quality}, I wonder {wonder}",
    "they are {best} {sort}, {guess} {now}",
    "{topic} is {best} {sort}",
    "{topic} is {quality}, I {feel} it",
    "I'm not sure {wonder}",
    "I don't know much about {thing}",
    "I don't know {wonder}, but {now}",
    "I wonder {wonder}",
    "I would love to {hobby} there {when}",
    "I like to {hobby} and {hobby}",
    "I usually {hobby} {when}",
    "{agree}, {now}",
    "{agree}, I {feel} {thing} too",
    "{agree}! {guess} {past}",
    "that is {quality}, I had no idea",
    "haha that is {quality}",
    "it must be {quality} to see {thing} up close",
    "there are so many of {thing} where I live",
    "I can't imagine {wonder}",
    "you should try {thing} some day, it is {quality}",
    "I saw {thing} {when} and it was {quality}",
    "people say {thing} is {quality}, but {now}",
)
_IDLE = (
    "do you {hobby}?",
    "do you like {thing}?",
    "do you know {wonder}?",
    "do you know much about {topic}?",
    "have you ever {try} {thing}?",
    "have you {try} {topic} before?",
    "what do you think about {thing}?",
    "what is your favorite part of {thing}?",
    "how do you feel about {topic}?",
    "how about you, are you a fan of {topic}?",
    "are you interested in {thing}?",
    "did your {person} like {thing} too?",
    "would you like to hear more about {topic}?",
    "{agree}",
    "{agree}, have you {try} {thing}?",
    "not really, I don't know much about {topic}, do you?",
    "{guess} so, what about you?",
    "that sounds {quality}, do you {hobby} too?",
)
_OPENERS = (
    "well,", "yes,", "yeah,", "oh yes,", "actually,", "so,", "sure,", "right,", "hmm,", "oh,", "ok,", "indeed,", "yep,",
    "well, it turns out that", "I read that", "I think", "I believe", "I know that", "I heard that", "it says that",
    "from what I know,", "as far as I know,", "fun fact:", "yes, I think", "yes, and", "I do know that", "it's true,",
    "no, but", "did you know that", "interesting!", "that's right,", "well, I know that",
)  # fmt: skip
_ASKED = 0.5
_SPEAKERS = (
    "I",
    "We",
    "My {person}",
    "My {person}",
    "My {person}'s {person}",
)  # "he" may be the passage's subject
_JOINTS = (". ", ". ", ", and ", ", but ", "! ", ", so ")


def small_talk(topic: str, chance: Random, *, idle: bool) -> str:
    """Return one or two sentences of likes, memories and guesses; ``topic`` may be mentioned.

    idle: whether questions to the other speaker and words of assent may be among them, which make no claim.
    """
    lines = _IDLE if idle and chance.random() < _ASKED else _SAID
    sentences = [_filled(chance.choice(lines), topic, chance) for _ in range(1 if chance.random() < 0.65 else 2)]
    return " ".join(capitalised(line) + ("" if line.endswith("?") else ".") for line in sentences)


def opener(chance: Random) -> str:
    """Return an opener without a claim, for a statement from the passage."""
    return capitalised(chance.choice(_OPENERS))


def someone(chance: Random) -> str:
    """Return a person of the conversation, as the subject of a sentence."""
    return _filled(chance.choice(_SPEAKERS), "", chance)


def joint(chance: Random) -> str:
    """Return a text that connects a sentence without its full stop to the next one."""
    return chance.choice(_JOINTS)


def _filled(line: str, topic: str, chance: Random) -> str:
    while match := _SLOT.search(line):
        line = line[: match.start()] + chance.choice(_PARTS[match[1]]) + line[match.end() :]
    return line.replace("{topic}", topic)  # last, because a document's title may contain braces
