"""Build a decoding grid from lists of temperatures, top-p and top-k values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

from app.errors import UsageError
from evaluation.runs.run_config import Decoding
from generation.errors import GenerationError

MOST = 64
"""Maximum number of settings in a grid. More are probably a mistake."""


@dataclass(frozen=True, slots=True)
class DecodingGrid:
    """The decoding settings of a run.

    headline: the setting whose rates are compared between arms. others: further settings, the greedy one first.
    """

    headline: Decoding
    others: tuple[Decoding, ...]


SEVERAL = 0.7
"""Default temperature if a question has several samples. Greedy samples would all be equal."""


def temperature_for(given: float | None, samples: int) -> float:
    """Return the given temperature. Without one, return 0 (greedy) for one sample and SEVERAL for more."""
    if given is not None:
        return given
    return SEVERAL if samples > 1 else 0.0


def decoding_grid(
    single: Decoding, temperatures: str | None, top_ps: str | None, top_ks: str | None, greedy: bool = True
) -> DecodingGrid:
    """Return the grid of all combinations of the listed values.

    single: the setting that fills in missing lists. temperatures, top_ps, top_ks: comma-separated values; None if not
    given. greedy: whether to add greedy decoding. The headline is ``single`` if the grid contains it, otherwise the
    first setting that is not greedy, otherwise the first. Greedy decoding ignores top-p and top-k, so the grid contains
    it once. Raises UsageError that names the list and the value.
    """
    if temperatures is None and top_ps is None and top_ks is None:
        return DecodingGrid(single, () if single.greedy or not greedy else (_greedy(single),))
    lists = (
        _numbers("--temperatures", temperatures, single.temperature),
        _numbers("--top-ps", top_ps, single.top_p),
        _counts("--top-ks", top_ks, single.top_k),
    )
    cells: dict[str, Decoding] = {}
    for temperature, top_p, top_k in product(*lists):
        try:
            cell = replace(single, temperature=temperature, top_p=top_p, top_k=top_k)
        except GenerationError as error:
            raise UsageError(f"the decoding grid: {error}") from error
        cell = _greedy(cell) if cell.greedy else cell
        cells.setdefault(cell.label, cell)
    if len(cells) > MOST:
        raise UsageError(f"the decoding grid has {len(cells)} settings: at most {MOST} are drawn in one run")
    drawn = [c for c in cells.values() if not c.greedy]
    headline_label = single.label if single.label in cells else drawn[0].label if drawn else next(iter(cells))
    headline = cells.pop(headline_label)
    others = [c for c in cells.values() if not c.greedy]
    if greedy and not headline.greedy:
        others.insert(0, _greedy(headline))
    return DecodingGrid(headline, tuple(others))


def _greedy(decoding: Decoding) -> Decoding:
    return replace(decoding, temperature=0.0, top_p=1.0, top_k=None, min_p=0.0)


def _parts(option: str, text: str) -> list[str]:
    parts = [part.strip() for part in text.split(",")]
    if not all(parts):
        raise UsageError(f"{option} {text!r}: give numbers separated by commas")
    return parts


def _numbers(option: str, text: str | None, single: float) -> list[float]:
    if text is None:
        return [single]
    found = []
    for part in _parts(option, text):
        try:
            found.append(float(part))
        except ValueError as error:
            raise UsageError(f"{option} {text!r}: {part!r} is not a number") from error
    return found


def _counts(option: str, text: str | None, single: int | None) -> list[int | None]:
    if text is None:
        return [single]
    found: list[int | None] = []
    for part in _parts(option, text):
        if part == "all":
            found.append(None)
        elif part.isascii() and part.isdecimal() and int(part) > 0:
            found.append(int(part))
        else:
            raise UsageError(f'{option} {text!r}: {part!r} is neither an integer from 1 on nor "all"')
    return found
