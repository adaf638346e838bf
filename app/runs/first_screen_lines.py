"""The first screen of a report as terminal lines, with the command for each recommendation."""

from __future__ import annotations

from collections.abc import Iterator

from evaluation.reports.advice import Action
from evaluation.reports.first_screen import FirstScreen
from evaluation.reports.terms import CHANGES

_RUN_COMMANDS: dict[Action, str] = {
    "retry": "plumbline evaluate ... --retry-failed",
    "label": "plumbline label {run}",
    "plan": "plumbline plan {run}",
    "tune": "plumbline tune {collection} --queries FILE --save",
    "model": "plumbline evaluate ... --model NAME, or --prompt FILE",
}


def summary_lines(screen: FirstScreen) -> Iterator[str]:
    """Yield the title, the measured facts and the headline."""
    yield screen.title
    yield ""
    width = max((len(name) for name, _ in screen.measured), default=0)
    for name, value in screen.measured:
        yield f"  {name:<{width}}  {value}"
    yield ""
    yield screen.headline
    if screen.comparison:
        yield screen.comparison


def advice_lines(screen: FirstScreen, run: str = "", collection: str = "") -> Iterator[str]:
    """Yield the recommended next steps. run: the run's name in commands, "" for answers of other systems."""
    if not screen.next_steps:
        return
    yield ""
    yield "What to do next:"
    for number, advice in enumerate(screen.next_steps, start=1):
        command = advice_command(advice.action, run, collection)
        yield f"  {number}. {advice.text}" + (f" [{command}]" if command else "")


def advice_command(action: Action, run: str, collection: str) -> str:
    """Return the command for a recommendation, "" if there is none."""
    if not run:
        return ""
    return _RUN_COMMANDS.get(action, "").format(run=run, collection=collection or "COLLECTION")


def term_lines(screen: FirstScreen) -> Iterator[str]:
    """Yield definitions of the arms and outcomes. Terms that the table of differences explains are left out."""
    terms = [(word, meaning) for word, meaning in screen.terms if word not in CHANGES]
    width = max((len(word) for word, _ in terms), default=0)
    for word, meaning in terms:
        yield f"  {word:<{width}}  {meaning}"
