"""Written form and citations of answers whose tokens are copied from chosen prompt positions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generation.citations import cite_copied, find_citations
from generation.decoding.loop import CopySource, DecodedTokens
from generation.prompt import Prompt
from generation.reader.prompt import ReaderPrompter
from generation.reader.vocabulary import ReaderVocabulary
from generation.surface.surface import Surface, restore
from retrieval.chunking.chunks import RetrievedChunk

MakeChunk = Callable[..., RetrievedChunk]


class Hand:
    """A builder of answers from prompt positions, or from words of the vocabulary."""

    def __init__(self, prompt: Prompt, vocabulary: ReaderVocabulary) -> None:
        self.prompt, self.vocabulary = prompt, vocabulary
        self.tokens = [vocabulary.tokenizer.token(i) for i in prompt.token_ids]

    def run(self, text: str) -> list[int]:
        """Return the positions of the first occurrence of the tokens of ``text``."""
        wanted = self.vocabulary.tokenizer.encode(text).token_ids
        count = len(wanted)
        ids = self.prompt.token_ids
        first = next(i for i in range(len(ids) - count + 1) if ids[i : i + count] == wanted)
        return list(range(first, first + count))

    def answer(self, places: Sequence[int | str], share: float = 0.9) -> Surface:
        ids, sources = [], []
        for place in places:
            if isinstance(place, str):
                ids.append(self.vocabulary.tokenizer.id_of(place))
                sources.append(())
            else:
                ids.append(self.prompt.token_ids[place])
                sources.append((CopySource(place, share),))
        return self.restore(ids, sources)

    def restore(self, ids: Sequence[int], sources: Sequence[tuple[CopySource, ...]]) -> Surface:
        drawn = DecodedTokens(tuple(ids), (0.0,) * len(ids), tuple(sources), "stop")
        return restore(drawn, self.prompt, self.vocabulary.tokenizer)


@pytest.fixture
def hand(prompter: ReaderPrompter, vocabulary: ReaderVocabulary, chunk: MakeChunk) -> Callable[..., Hand]:
    def make(question: str, *texts: str, titles: Sequence[str] = ()) -> Hand:
        names = [*titles, *[""] * len(texts)]
        chunks = [chunk(text, names[i], i + 1) for i, text in enumerate(texts)]
        return Hand(prompter.prompt(question, chunks, 400), vocabulary)

    return make


def test_capitals_accents_and_punctuation_come_from_the_document(hand: Callable[..., Hand]) -> None:
    h = hand("where?", "We met at the Café Zürich, 1,200 m up (about $3.50/day).")
    assert h.answer(h.run("cafe zurich")).text == "Café Zürich"
    assert h.answer(h.run("1 , 200 m")).text == "1,200 m"
    assert h.answer(h.run("cafe zurich , 1 , 200 m")).text == "Café Zürich, 1,200 m"
    assert h.answer(h.run("( about $ 3 . 50 / day )")).text == "(about $3.50/day)"


def test_stretches_tell_where_each_piece_stands(hand: Callable[..., Hand]) -> None:
    h = hand("who?", "Then Ada Thorne built it.", "Ole Ås paid.")
    surface = h.answer([*h.run("ada thorne"), "and", *h.run("ole")])
    assert surface.text == "Ada Thorne and Ole"
    first, written, last = surface.spans
    assert (first.first, first.part, first.start, first.end) == (0, 1, 5, 15)
    assert first.share == pytest.approx(0.9 * (first.last + 1))
    assert (written.part, written.share) == (None, 0.0)
    assert (last.first, last.last, last.part, last.start, last.end) == (first.last + 2, first.last + 2, 2, 0, 3)


def test_a_run_does_not_go_on_into_the_next_part(hand: Callable[..., Hand]) -> None:
    # The last token of one passage and the first of the next have markers between them, and are never one span.
    h = hand("who?", "Signed by Ada", "Thorne arrived")
    surface = h.answer([*h.run("ada"), *h.run("thorne")])
    assert surface.text == "Ada Thorne"
    assert [s.part for s in surface.spans] == [1, 2]


def test_title_and_text_are_parts_of_their_own(hand: Callable[..., Hand]) -> None:
    h = hand("who?", "Thorne built it.", titles=["Ada"])
    surface = h.answer([*h.run("ada"), *h.run("thorne")])
    assert [s.part for s in surface.spans] == [-1, 1]
    assert cite_copied(surface).text == "Ada Thorne [1]"


def test_a_repeated_word_is_taken_where_the_answer_runs_on(hand: Callable[..., Hand]) -> None:
    h = hand("who?", "THE reef and the tide.", "By the Skerry light.")
    ids = [h.prompt.token_ids[i] for i in h.run("the skerry")]
    places = [i for i, token in enumerate(h.tokens) if token == "the"]
    right = h.run("the skerry")
    # The likeliest single position of "the" is wrong, but the path through "Skerry" is better.
    the = (CopySource(places[0], 0.6), CopySource(places[1], 0.3), CopySource(right[0], 0.1))
    surface = h.restore(ids, [the, *((CopySource(i, 0.9),) for i in right[1:])])
    assert surface.text == "the Skerry"
    assert [s.part for s in surface.spans] == [2]


def test_what_was_not_copied_is_written_as_the_vocabulary_has_it(hand: Callable[..., Hand]) -> None:
    h = hand("how?", "Nothing.")
    assert h.answer(["play", "##ing", ",", "or", "(", "win", "##s", ")", "."]).text == "playing, or (wins)."
    assert h.answer([]).text == ""
    # Below a share of one twentieth, a token counts as not copied.
    place = h.run("nothing")
    assert h.answer(place, share=0.04).text == "nothing"
    assert h.answer(place, share=0.06).text == "Nothing"


def test_a_word_part_is_glued_to_what_it_goes_on_from(hand: Callable[..., Hand]) -> None:
    h = hand("who?", "Old Skerry.")
    old, *parts = h.run("old skerry")
    assert len(parts) > 1
    first = h.vocabulary.tokenizer.token(h.prompt.token_ids[parts[0]])
    assert h.answer([old, first, *parts[1:]]).text == f"Old {first}{'Skerry'[len(first) :]}"
    assert h.answer([parts[0], "##s"]).text == f"{first.title()}s"


def test_markers_are_never_written(hand: Callable[..., Hand]) -> None:
    h = hand("who?", "Old Skerry.")
    old = h.run("old")
    assert h.answer(["[unused50]", *old, "[unused1]", "[CLS]", "[MASK]", "[UNK]", "[PAD]"]).text == "Old"
    assert h.answer(["[unused50]", "[unused712]"]).text == ""


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_any_contiguous_stretch_reads_as_it_stands(
    data: st.DataObject, prompter: ReaderPrompter, vocabulary: ReaderVocabulary, chunk: MakeChunk
) -> None:
    text = data.draw(st.text(alphabet="abÄé İß日12 ,.-'/\n[]", min_size=1, max_size=30).filter(str.strip))
    prompt = prompter.prompt("who?", [chunk(text)], 400)
    hand = Hand(prompt, vocabulary)
    inside = [i for i, s in enumerate(prompt.sources) if s is not None and s[0] == 1 and prompt.token_ids[i] >= 104]
    runs = [i for i in inside if i + 1 in inside]
    if not runs:
        return
    first = data.draw(st.sampled_from(runs))
    surface = hand.answer([first, first + 1])
    start, end = prompt.sources[first][1], prompt.sources[first + 1][2]  # type: ignore[index]
    assert surface.text == " ".join(text[start:end].split())


def test_each_chunk_that_gave_a_quarter_is_cited_once_in_order(hand: Callable[..., Hand]) -> None:
    h = hand("Who was Ada Thorne?", "Ada Thorne built it.", "Ole Berg paid for it all.")
    second = [i for i, s in enumerate(h.prompt.sources) if s is not None and s[0] == 2]
    first = [i for i, s in enumerate(h.prompt.sources) if s is not None and s[0] == 1]
    cited = cite_copied(h.answer([*second[:3], *first[:3]]))
    assert [c.number for c in cited.citations] == [2, 1]
    assert cited.text.endswith(" [2] [1]")
    for c in cited.citations:
        assert cited.text[c.start : c.end] == f"[{c.number}]"
    # Six of seven tokens are from the second passage, so the first has less than a quarter.
    assert [c.number for c in cite_copied(h.answer([*second[:6], first[0]])).citations] == [2]


def test_the_question_and_the_vocabulary_cite_nothing(hand: Callable[..., Hand]) -> None:
    h = hand("Who was Ada Thorne?", "Ole paid.")
    answer = h.answer(h.run("ada thorne"))
    assert answer.spans[0].part == 0
    assert cite_copied(answer).text == "Ada Thorne"
    assert cite_copied(answer).citations == ()
    assert cite_copied(h.answer(["yes"])).citations == ()
    assert cite_copied(h.answer([])).text == ""


def test_only_given_chunks_are_cited_in_a_models_own_text() -> None:
    text = "It is [1], [2][3] and [0], [4], [9], [12], [007], [01], [١], [ 1], [1 and x[1]."
    found = find_citations(text, 3)
    assert [c.number for c in found] == [1, 2, 3, 1]
    assert all(text[c.start : c.end] == f"[{c.number}]" for c in found)
    assert find_citations("[1]", 0) == ()


@given(st.text(alphabet="[]0123456789 aé١"), st.integers(0, 30))
def test_a_citation_is_always_what_stands_there(text: str, chunks: int) -> None:
    for citation in find_citations(text, chunks):
        assert text[citation.start : citation.end] == f"[{citation.number}]"
        assert 1 <= citation.number <= chunks
