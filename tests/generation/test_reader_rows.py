"""Training rows of the reader: an answer that the shown text contains, or a refusal."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest

from data.reading_examples import ReadingExample
from generation.reader.row_writing import ReaderRowWriter
from generation.reader.rows import ChunkPool, ReaderRows, RowMix, Search, chunk_contexts
from generation.reader.vocabulary import ReaderVocabulary
from model.training.rows import TokenRow
from retrieval.chunking.chunker import ChunkingParams

NAMES = ("Skerry", "Hallow", "Brenn", "Tarn", "Osk", "Vell")
PEOPLE = ("Ada Thorne", "Ole Berg", "Ines Café", "Tom Hart", "Uma Rao", "Kit Lowe")


def example(n: int, **changes: object) -> ReadingExample:
    name, person = NAMES[n % 6], PEOPLE[n % 6]
    filler = " ".join(f"Sentence number {k} says nothing of use about the coast." for k in range(14))
    values: dict[str, object] = {
        "question": f"Who drew the light of {name}?",
        "answers": (person,),
        "context": f"The light of {name} was drawn by {person}. {filler} It stands {30 + n} metres high.",
        "title": f"{name} light",
        "source": "own",
    }
    return ReadingExample(**{**values, **changes})  # type: ignore[arg-type]


EXAMPLES = (
    *(example(n) for n in range(6)),
    *(example(n, question="Who paid for it?", answers=(), answerable=False) for n in range(3)),
    # Found only inside a word ("no" in "number"), not found, and without a passage.
    example(1, answers=("no",)),
    example(2, answers=("Nobody Known",)),
    example(3, context="", title="", question="Capital of Norway?", answers=("Oslo", "Christiania")),
    example(4, answers=("  ", "Uma Rao."), title=""),
    example(5, answers=(" ".join(["word"] * 40),), context=" ".join(["word"] * 60)),
)


def words_search(pool: ChunkPool) -> Search:
    def search(query: str, k: int) -> Sequence[int]:
        words = set(query.lower().split())
        return sorted(range(len(pool.chunks)), key=lambda i: -len(words & set(pool.chunks[i].text.lower().split())))[:k]

    return search


def writer(vocabulary: ReaderVocabulary, positions: int) -> ReaderRowWriter:
    return ReaderRowWriter(vocabulary, max_positions=positions)


def build(vocabulary: ReaderVocabulary, seed: int = 0, positions: int = 512, **mix: float) -> list[TokenRow]:
    pool = chunk_contexts(EXAMPLES, vocabulary.tokenizer, ChunkingParams())
    settings = RowMix(**{"repeats": 6, **mix})  # type: ignore[arg-type]
    rows = ReaderRows(writer(vocabulary, positions), pool, words_search(pool), settings, seed=seed)
    return list(rows.rows(EXAMPLES))


def holds(ids: Sequence[int], inside: Sequence[int]) -> bool:
    return any(tuple(inside[i : i + len(ids)]) == tuple(ids) for i in range(len(inside)))


@pytest.mark.parametrize("positions", [512, 256, 140])
def test_an_answer_stands_in_what_is_shown_or_is_a_refusal(vocabulary: ReaderVocabulary, positions: int) -> None:
    rows = build(vocabulary, positions=positions, without_gold=0.3)
    refused = copied = unaided = 0
    for row in rows:
        assert row.length <= positions
        assert row.answer[-1] == vocabulary.separator
        answer = row.answer[:-1]
        assert len(answer) <= 24
        passages = row.prompt[row.prompt.index(vocabulary.separator) + 1 :]
        if answer == (vocabulary.no_answer,):
            refused += 1
        elif not passages:
            unaided += 1
            assert vocabulary.tokenizer.decode(answer) == "oslo"
        else:
            copied += 1
            assert holds(answer, passages)
    assert refused and copied and unaided
    assert unaided == 1


def test_unanswerable_and_withheld_questions_are_refused(vocabulary: ReaderVocabulary) -> None:
    paid = vocabulary.tokenizer.encode("Who paid for it?").token_ids
    rows = build(vocabulary)
    unanswerable = [row for row in rows if holds(paid, row.prompt)]
    assert len(unanswerable) == 3  # never repeated
    assert {row.answer[:-1] for row in unanswerable} == {(vocabulary.no_answer,)}
    people = [vocabulary.tokenizer.encode(person).token_ids for person in PEOPLE]
    for row in build(vocabulary, without_gold=1.0):
        if row.answer[0] == vocabulary.no_answer and not holds(paid, row.prompt):
            name = next(
                n for n in range(6) if holds(vocabulary.tokenizer.encode(f"of {NAMES[n]}?").token_ids, row.prompt)
            )
            assert not holds(people[name], row.prompt)  # the withheld answer does not occur


def test_distractors_never_hold_the_answer(vocabulary: ReaderVocabulary) -> None:
    for row in build(vocabulary, alone=0.0, without_gold=0.0):
        if row.answer[0] == vocabulary.no_answer:
            continue
        marks = [i for i, token in enumerate(row.prompt) if token in vocabulary.chunks]
        chunks = [row.prompt[a:b] for a, b in pairwise([*marks, len(row.prompt)])]
        if chunks:
            assert sum(holds(row.answer[:-1], part) for part in chunks) == 1
            assert len(chunks) <= 4
            assert [row.prompt[i] for i in marks] == list(vocabulary.chunks[: len(marks)])


def test_rows_depend_on_the_seed_alone(vocabulary: ReaderVocabulary) -> None:
    assert build(vocabulary, 1) == build(vocabulary, 1)
    assert build(vocabulary, 1) != build(vocabulary, 2)


def test_what_cannot_teach_is_left_out(vocabulary: ReaderVocabulary) -> None:
    decoded = {vocabulary.tokenizer.decode(row.answer[:-1]) for row in build(vocabulary)}
    assert decoded == {*(p.lower().replace("é", "e") for p in PEOPLE), "oslo", ""}


def test_examples_share_the_chunks_of_one_context(vocabulary: ReaderVocabulary) -> None:
    pool = chunk_contexts([EXAMPLES[0], EXAMPLES[6], EXAMPLES[1]], vocabulary.tokenizer, ChunkingParams())
    assert pool.of_example[0] == pool.of_example[1] == tuple(range(len(pool.of_example[0])))
    assert pool.of_example[2][0] == len(pool.of_example[0])
    assert len(pool.of_example[0]) > 1


def test_nothing_is_searched_for_that_is_not_shown(vocabulary: ReaderVocabulary) -> None:
    """A search takes most of the time, so it runs only for strangers and withheld passages."""
    words: list[str] = []
    pool = chunk_contexts(EXAMPLES, vocabulary.tokenizer, ChunkingParams())

    def search(query: str, k: int) -> Sequence[int]:
        words.append(query)
        return words_search(pool)(query, k)

    def rows(**mix: float) -> list[TokenRow]:
        words.clear()
        settings = RowMix(**{"repeats": 6, **mix})  # type: ignore[arg-type]
        return list(ReaderRows(writer(vocabulary, 512), pool, search, settings, seed=0).rows(EXAMPLES))

    paid = "Who paid for it?"
    assert rows(strangers=0.0, without_gold=0.0)
    assert words == []
    rows(strangers=0.0, without_gold=1.0, alone=1.0)
    assert words and paid not in words  # other passages replace the gold one
    assert rows(alone=1.0, without_gold=0.0)
    assert words == []
    assert rows(strangers=1.0, alone=0.0)
    counts = {query: words.count(query) for query in words}
    assert len(counts) > 3
    # One search per example, for any number of repeats: examples 0 and 9 to 13 have different questions.
    assert counts["Who drew the light of Skerry?"] == 1


def test_neighbours_stand_beside_the_gold_chunk_where_strangers_do_not(vocabulary: ReaderVocabulary) -> None:
    def shown(row: TokenRow) -> int:
        return sum(token in vocabulary.chunks for token in row.prompt)

    found = [row for row in build(vocabulary, strangers=0.0, without_gold=0.0, alone=0.0) if row.answer[0] > 103]
    assert {shown(row) for row in found} >= {1, 2}
    assert max(map(shown, found)) <= 3  # the gold chunk and two neighbours


@pytest.mark.parametrize("whole", [0.0, 1.0])
def test_how_many_chunks_are_shown_does_not_tell_whether_they_answer(
    vocabulary: ReaderVocabulary, whole: float
) -> None:
    """Two questions about one passage are shown equally many chunks if only one of them is answerable."""
    pair = (example(0), example(0, question="Who paid for Skerry?", answers=(), answerable=False))
    pool = chunk_contexts(pair, vocabulary.tokenizer, ChunkingParams())
    count = len(pool.of_example[0])
    assert 1 < count <= 4

    def shown(mix: RowMix) -> list[tuple[bool, int]]:
        rows = ReaderRows(writer(vocabulary, 512), pool, words_search(pool), mix, seed=0).rows(pair)
        return [
            (row.answer[0] == vocabulary.no_answer, sum(token in vocabulary.chunks for token in row.prompt))
            for row in rows
        ]

    alone = shown(RowMix(repeats=1, alone=1.0, whole=whole, without_gold=0.0))
    assert alone == [(False, count if whole else 1), (True, count if whole else 1)]
    many = [
        found
        for seed in range(40)
        for found in ReaderRows(
            writer(vocabulary, 512), pool, words_search(pool), RowMix(1, alone=0.0, without_gold=0.0), seed=seed
        ).rows(pair)
    ]
    refused = [row for row in many if row.answer[0] == vocabulary.no_answer]
    least = [
        min(sum(token in vocabulary.chunks for token in row.prompt) for row in rows)
        for rows in (refused, [row for row in many if row not in refused])
    ]
    assert least == [1, 1]


def test_an_unanswerable_question_is_put_to_the_chunk_that_is_most_about_it(vocabulary: ReaderVocabulary) -> None:
    words = example(0, question="How high did the light of Skerry stand", answers=(), answerable=False)
    pool = chunk_contexts([words], vocabulary.tokenizer, ChunkingParams())
    mix = RowMix(alone=1.0, whole=0.0)
    for seed in range(5):
        (row,) = ReaderRows(writer(vocabulary, 512), pool, words_search(pool), mix, seed=seed).rows([words])
        assert holds(vocabulary.tokenizer.encode("drawn by Ada Thorne").token_ids, row.prompt)
