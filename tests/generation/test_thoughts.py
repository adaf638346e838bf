from __future__ import annotations

import pytest

from generation.decoding.streaming import TextFilter
from generation.decoding.thoughts import ThoughtAndAnswer, opens_thought, split_thought, thought_spans


@pytest.mark.parametrize(
    ("text", "thought", "answer"),
    [
        ("<think>\nShort.\n</think>\n\nThree years.", "Short.", "Three years."),
        ("<think></think>Three years.", "", "Three years."),
        ("They ask about the Heron.</think>\nThree years.", "They ask about the Heron.", "Three years."),
        ("<think>It may be three, but", "It may be three, but", ""),
        ("<Thinking> a </Thinking> Yes. <thinking>b</thinking> No.", "a\n\nb", "Yes. No."),
        ("<reasoning>a</reasoning>b", "a", "b"),
        ("[THINK]a[/THINK]b", "a", "b"),
        ("<seed:think>a</seed:think>b", "a", "b"),
        ("◁think▷a◁/think▷b", "a", "b"),
        ("<|begin_of_thought|>a<|end_of_thought|><|begin_of_solution|>b<|end_of_solution|>", "a", "b"),
        ("<think>a <think> b</think> c", "a  b", "c"),
        ("<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b<|return|>", "a", "b"),
        ("<|channel|>analysis<|message|>a and", "a and", ""),
        ("<think>a</think>", "a", ""),
    ],
)
def test_a_thought_is_no_answer(text: str, thought: str, answer: str) -> None:
    assert split_thought(text) == ThoughtAndAnswer(thought, answer)


@pytest.mark.parametrize(
    "text",
    [
        "The tag <think> opens a block.",
        "Two lines.\nIn the second [THINK] is a word.",
        "Models write <think> and </think> around what they think.",
        "Steps:\n<think>\nis a tag, and </think> closes it.",
        "Type <reasoning> or\n<thinking>",
        "",
        "  I think so. ",
        "Write `<think>` first.",
        "```xml\n<think>a</think>\n```",
        "a < b > c",
        "<b>thinking</b>",
        "</p>",
    ],
)
def test_other_text_is_left_as_it_is(text: str) -> None:
    assert split_thought(text) == ThoughtAndAnswer("", text)


def test_spans_are_places_in_the_text() -> None:
    text = "<think>a</think> Yes <think>b"
    assert [text[start:end] for start, end in thought_spans(text)] == ["<think>a</think>", "<think>b"]


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
@pytest.mark.parametrize(
    ("text", "thought", "answer"),
    [
        ("<think>\nShort.\n</think>\n\nThree years.", "Short.", "Three years."),
        ("<think>It may be three, but", "It may be three, but", ""),
        ("[THINK]a[/THINK]b", "a", "b"),
        ("a < b and c > d [1] <b>x</b>", "", "a < b and c > d [1] <b>x</b>"),
        ("Write `<think>` first.", "", "Write `<think>` first."),
        ("ends with <thi", "", "ends with <thi"),
        ("The tag <think> opens a block.", "", "The tag <think> opens a block."),
        ("Write <think> and </think>, then answer.", "", "Write <think> and </think>, then answer."),
        ("One.\n[THINK] is a line.\n[/THINK] too.", "", "One.\n[THINK] is a line.\n[/THINK] too."),
        ("<think>a</think> Yes <think>b</think> No.", "ab", "Yes  No."),
    ],
)
def test_in_pieces(text: str, thought: str, answer: str, size: int) -> None:
    found = TextFilter(strip=True)
    pieces = [found.feed(text[start : start + size]) for start in range(0, len(text), size)]
    pieces.append(found.finish())
    assert ("".join(pieces), found.text, found.thought) == (answer, answer, thought)


def test_a_thought_that_the_prompt_opened() -> None:
    assert opens_thought("<|assistant|><think>\n") and not opens_thought("<think></think>") and not opens_thought("x")
    found = TextFilter(strip=True, thinking=True)
    assert [found.feed(piece) for piece in ("I see", "</thi", "nk> Yes")] == ["", "", "Yes"]
    assert found.thought == "I see"
    assert found.feed(" <think>b") == "" and found.thought == "I seeb"


def test_a_whole_text_whose_thought_was_opened_elsewhere() -> None:
    found = TextFilter(strip=True)
    assert found.feed("I see.</think>\nYes.") == "Yes." and found.thought == "I see."


def test_a_stop_string_in_a_thought_ends_the_text() -> None:
    found = TextFilter(("STOP",), strip=True)
    assert found.feed("<think>a STOP b</think>c") + found.finish() == "" and (found.stopped, found.thought) == (
        True,
        "a",
    )
