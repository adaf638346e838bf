"""Review questions in a terminal, with one key per decision."""

from __future__ import annotations

import sys
from collections.abc import Callable

from rich.text import Text

from app.console import Output
from app.errors import AppError
from app.labelling.terminal import key_reader, terminal_safe
from app.questions.review import QuestionReview
from data.questions import Question

HELP = "k keep · t new text · r new references · u unanswerable · d drop · s skip · b back · q quit"
_AROUND = 220  # number of characters shown before and after the evidence

Texts = Callable[[str], str | None]
"""Function that returns the text of a document by its ID, or None if the document is unknown."""


def review_in_terminal(
    review: QuestionReview,
    output: Output,
    texts: Texts,
    read_key: Callable[[], str] | None = None,
    read_line: Callable[[str], str] | None = None,
) -> dict[str, int]:
    """Show the questions that this person has not reviewed, and return the number of each decision.

    texts: function that returns the text of a document. read_key: function that returns the next key, "" at the end of
    input. read_line: function that shows a prompt and returns a line of text. Both read stdin by default.
    """
    read = read_key or key_reader(sys.stdin)
    ask = read_line or _line
    waiting = review.open_questions()
    counts: dict[str, int] = {}
    index = 0
    if waiting:
        output.out.print(HELP, markup=False)
    while index < len(waiting):
        question = waiting[index]
        output.out.print(shown_question(question, index, len(waiting), texts))
        key = read().casefold()
        if key in ("", "q"):
            break
        if key in ("b", "s"):
            index = max(0, index - 1) if key == "b" else index + 1
            continue
        try:
            decision = _decide(review, question, key, ask)
        except AppError as error:
            output.info(str(error))
            continue
        if not decision:
            output.info(f"{terminal_safe(key)!r} is not a key: {HELP}")
            continue
        counts[decision] = counts.get(decision, 0) + 1
        output.out.print(Text(f"→ {decision}", style="bold"))
        index += 1
    return counts


def _decide(review: QuestionReview, question: Question, key: str, ask: Callable[[str], str]) -> str:
    if key == "k":
        review.keep(question.id)
        return "kept"
    if key == "t":
        review.mend(question.id, ask("new text: "), None)
        return "mended"
    if key == "r":
        review.mend(question.id, None, tuple(ask("accepted answers, separated by |: ").split("|")))
        return "mended"
    if key == "u":
        review.mark_unanswerable(question.id)
        return "unanswerable"
    if key == "d":
        review.drop(question.id)
        return "dropped"
    return ""


def shown_question(question: Question, index: int, total: int, texts: Texts) -> Text:
    """Return a question as styled text, without markup and terminal commands. index: index of the question."""
    text = Text()
    text.append(f"\n── {index + 1} of {total}  {terminal_safe(question.kind)} ", style="bold")
    text.append("─" * 40 + "\n", style="dim")
    text.append("Question  ", style="bold")
    text.append(terminal_safe(question.text) + "\n")
    text.append("Accepted  ", style="bold")
    text.append((terminal_safe(" | ".join(question.references)) or "(the documents do not answer it)") + "\n")
    for span in question.evidence:
        document = texts(span.document_id)
        text.append(f"Evidence in {terminal_safe(span.document_id)}", style="bold")
        if document is None or span.end > len(document):
            text.append(f", characters {span.start} to {span.end}\n")
            continue
        text.append("\n")
        text.append(terminal_safe(document[max(0, span.start - _AROUND) : span.start]), style="dim")
        text.append(terminal_safe(document[span.start : span.end]), style="reverse")
        text.append(terminal_safe(document[span.end : span.end + _AROUND]) + "\n", style="dim")
    if not question.evidence and question.relevant_document_ids:
        text.append(f"Closest documents: {terminal_safe(', '.join(question.relevant_document_ids))}\n", style="dim")
    text.append("[k/t/r/u/d/s/b/q] ", style="bold")
    return text


def _line(prompt: str) -> str:
    sys.stdout.write(prompt)
    sys.stdout.flush()
    return sys.stdin.readline().rstrip("\n")
