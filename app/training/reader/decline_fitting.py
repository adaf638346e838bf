"""Fit the decline correction of a trained reader, which decides when the reader declines to answer."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from generation.reader.vocabulary import ReaderVocabulary
from model.decoder.decline_head import Decline
from model.decoder.decoder import Decoder
from model.hardware.device import bf16_pays
from model.reader.prefix_decoder import FIRST_COPYABLE_ID, NULL_ID, with_decline
from model.training.decline_fitting import DeclineFit, first_states, fit_decline
from model.training.rows import TokenRow

_KEPT = {"fitted": "", "begun": ", which is kept", "none": ", so the fit is skipped"}
LEAST_ROWS, LEAST_HELD_OUT = 400, 100
"""Minimum number of rows to fit on, and of rows of other articles. A tenth of them must be of the rarer kind."""


@dataclass(frozen=True, slots=True)
class DeclineSettings:
    """Settings of the fit.

    max_rows: maximum number of rows to fit on. seed: seed of the sample. tokens_per_batch: number of tokens per batch.
    initial: correction of the reader that training started from; None if it has none.
    """

    max_rows: int
    seed: int
    tokens_per_batch: int
    initial: Decline | None = None


def fit_declining(
    model: Decoder,
    rows: Sequence[TokenRow],
    held_out_rows: Sequence[TokenRow],
    vocabulary: ReaderVocabulary,
    settings: DeclineSettings,
    *,
    notify: Callable[[str], None],
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Decoder, DeclineFit | None]:
    """Fit the reader's decline correction on a random sample of ``rows``, and return the corrected reader and the fit.

    Of the new fit, the initial correction and no correction, the one with the lowest loss on ``held_out_rows`` is kept.
    held_out_rows: rows of articles that are excluded from training. progress: called with the processed and total rows.
    If there are too few rows, the model is returned unchanged, with None, and ``say`` gets the reason.
    """
    shown = [row for row in rows if vocabulary.chunks[0] in row.prompt]
    shown = random.Random(settings.seed).sample(shown, min(settings.max_rows, len(shown)))
    with_passages = [row for row in held_out_rows if vocabulary.chunks[0] in row.prompt]
    held_out = "of other articles (--development)"
    for kind, found, least in (("to fit on", shown, LEAST_ROWS), (held_out, with_passages, LEAST_HELD_OUT)):
        fewest = min(sum((row.answer[0] == NULL_ID) == declines for row in found) for declines in (False, True))
        if fewest < least // 10 or len(found) < least:
            notify(
                f"the decline correction is not fitted: of {len(found)} rows {kind} {fewest} "
                f"are of the rarer kind, but {least} rows with {least // 10} of each are needed"
            )
            return model, None
    model.eval()
    total = len(shown) + len(with_passages)
    states = []
    for found, before in ((shown, 0), (with_passages, len(shown))):

        def count(done: int, _: int, before: int = before) -> None:
            if progress is not None:
                progress(before + done, total)

        states.append(
            first_states(
                model,
                found,
                null_id=NULL_ID,
                first_copyable_id=FIRST_COPYABLE_ID,
                tokens_per_batch=settings.tokens_per_batch,
                bf16=bf16_pays(model.device),
                progress=count,
            )
        )
    decline, fit = fit_decline(states[0], states[1], seed=settings.seed, begun=settings.initial)
    notify(
        f"decline correction fitted on {fit.rows} rows: loss on {fit.held} rows of other "
        f"articles {fit.loss_before:.4f} without it, {fit.loss_after:.4f} with it"
        + (f", {fit.loss_begun:.4f} with the initial correction" if fit.loss_begun is not None else "")
        + _KEPT[fit.used]
    )
    chosen = {"fitted": decline, "begun": settings.initial, "none": None}[fit.used]
    return (with_decline(model, chosen) if chosen is not None else model), fit
