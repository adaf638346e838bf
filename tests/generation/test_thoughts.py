from __future__ import annotations

import pytest

from generation.thoughts import ThoughtAndAnswer, split_thought, thought_spans


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
