"""Label answers in a terminal, with one key per label."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import IO

from rich.text import Text

from app.console import Output
from app.labelling.items import LabelItem
from app.labelling.sessions import Labelling
from data.label_file import label_word
from evaluation.outcomes import Outcome

KEYS: dict[str, Outcome] = {"s": "supported", "h": "hallucinated", "a": "abstained", "u": "unscored"}
HELP = "s supported · h hallucinated · a abstained · u cannot tell · b back · q quit"
_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_UNSAFE = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f{_BIDI}\ud800-\udfff]")


def terminal_safe(text: str) -> str:
    """Replace control and direction characters by U+FFFD. Tabs and line breaks remain.

    Otherwise an answer could clear the screen, change the title, or display other words than it contains.
    """
    return _UNSAFE.sub("\ufffd", text.replace("\r\n", "\n"))


def label_in_terminal(session: Labelling, output: Output, read_key: Callable[[], str] | None = None) -> int:
    """Show items from the first unlabelled one on, until the last one or q, and return the number of given labels.

    read_key: function that returns the next key, "" at the end of input; by default it reads stdin.
    """
    read = read_key or key_reader(sys.stdin)
    index = session.first_open()
    given = 0
    if index is None:
        return 0
    output.out.print(HELP, markup=False)
    while index < len(session.items):
        item = session.items[index]
        own = session.own().get(item.key)
        output.out.print(shown_item(item, index, len(session.items), own))
        key = read().casefold()
        if key in ("", "q"):
            break
        if key == "b":
            index = max(0, index - 1)
        elif key in KEYS:
            session.label(item, KEYS[key])
            output.out.print(Text(f"→ {label_word(KEYS[key])}", style="bold"))
            given += 1
            index += 1
        else:
            output.info(f"{terminal_safe(key)!r} is not a key: {HELP}")
    return given


def shown_item(item: LabelItem, index: int, total: int, own: Outcome | None) -> Text:
    """Return an item as styled text, without markup and terminal commands. own: label of this annotator, if any."""
    text = Text()
    labelled = f", labelled {label_word(own)}" if own else ""
    text.append(f"\n── {index + 1} of {total}{labelled} ", style="bold")
    text.append("─" * 40 + "\n", style="dim")
    text.append("Question  ", style="bold")
    text.append(terminal_safe(item.question) + "\n")
    if item.remark:
        text.append(f"          {item.remark}\n", style="italic")
    text.append("Answer    ", style="bold")
    text.append((terminal_safe(item.answer) or "(empty)") + "\n", style="reverse" if item.answer else "dim")
    if item.references:
        text.append("Accepted  ", style="bold")
        text.append(terminal_safe(" | ".join(item.references)) + "\n")
    for number, passage in enumerate(item.passages, start=1):
        text.append(f"Evidence {number}: {terminal_safe(passage.title)}\n", style="bold")
        text.append(terminal_safe(passage.before), style="dim")
        text.append(terminal_safe(passage.text), style="underline")
        text.append(terminal_safe(passage.after) + "\n", style="dim")
    if not item.references and not item.passages:
        text.append("No evidence was found for this answer.\n", style="italic")
    text.append("[s/h/a/u/b/q] ", style="bold")
    return text


def key_reader(stream: IO[str]) -> Callable[[], str]:
    """Return a function that reads the next key, "" at the end of input.

    On a terminal it reads single keys without Return, otherwise the first character of each non-empty line.
    """
    if stream.isatty():
        return lambda: _raw_key(stream)
    return lambda: next((line.strip()[0] for line in stream if line.strip()), "")


def _raw_key(stream: IO[str]) -> str:
    import termios
    import tty

    descriptor = stream.fileno()
    before = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor)  # Ctrl-C still interrupts
        key = stream.read(1)
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
    return "" if key == "\x04" else key  # Ctrl-D
