"""Check whether equal requests get equal answers, also under load, and whether the server uses seeds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from app.doctor.findings import Finding
from app.doctor.questions import GREEDY, OTHER_STORIES, SAMPLED, STORY
from generation.decoding.params import SamplingParams

if TYPE_CHECKING:
    from generation.remote.probe import ServerProbe

CHECK, SEEDS, LOAD = "server repeatability", "server seeds", "server repeatability under load"
_OTHERS = 3  # number of other requests at the same time


def repeatability(probe: ServerProbe) -> Iterator[Finding]:
    """Send each request twice in a row, then again together with other requests."""
    greedy = [probe.ask(STORY, GREEDY).text for _ in range(2)]
    sampled = [probe.ask(STORY, SAMPLED, seed=7).text for _ in range(2)]
    other = probe.ask(STORY, SAMPLED, seed=8).text
    same = greedy[0] == greedy[1]
    yield Finding(
        CHECK,
        "ok" if same else "warn",
        f"two greedy runs {'agree' if same else 'differ'}",
        None
        if same
        else "a repeated run gives different answers (a prefix cache is enough to change rounding). Rates and "
        "intervals stay valid for each run; compare runs on many questions, or use the server's deterministic mode",
        {"greedy_agrees": same},
    )
    yield _seeds(sampled[0] == sampled[1], other != sampled[0])
    yield _under_load(probe, greedy[1], sampled[1], same, sampled[0] == sampled[1])


def _seeds(same: bool, differs: bool) -> Finding:
    figures = {"seed_honoured": same and differs, "same_seed_agrees": same, "other_seed_differs": differs}
    if same and differs:
        return Finding(
            SEEDS, "ok", "honoured: the same seed gives the same sample, another seed another", None, figures
        )
    if same:
        return Finding(
            SEEDS,
            "warn",
            "two seeds give the same sample at temperature 1: the server ignores seeds or the temperature",
            "all samples of a question are equal: request one sample (-n 1), or use another server",
            figures,
        )
    return Finding(
        SEEDS,
        "warn",
        "not honoured: the same seed gives different samples",
        "samples cannot be reproduced. Stored runs stay valid and resume; a new run has other samples",
        figures,
    )


def _under_load(probe: ServerProbe, greedy: str, sampled: str, greedy_agrees: bool, sampled_agrees: bool) -> Finding:
    questions = (STORY, *OTHER_STORIES[:_OTHERS])

    def under_load(params: SamplingParams) -> str:
        return probe.together(questions, params, seed=7)[0].text

    same = {
        kind: under_load(params) == text
        for kind, params, text, known in (
            ("greedy", GREEDY, greedy, greedy_agrees),
            ("sampled", SAMPLED, sampled, sampled_agrees),
        )
        if known
    }
    if not same:
        return Finding(LOAD, "warn", "not measured: the answers differ without load", "see the preceding checks")
    figures = {f"{kind}_agrees_under_load": agrees for kind, agrees in same.items()}
    if all(same.values()):
        return Finding(LOAD, "ok", f"the same answers with {_OTHERS} other requests", None, figures)
    names = " and ".join(kind for kind, agrees in same.items() if not agrees)
    return Finding(
        LOAD,
        "warn",
        f"{names} answers change with {_OTHERS} other requests",
        "a repeated run may differ in single answers. Send one request at a time (PLUMBLINE_MODEL_PARALLEL=1), or "
        "start the server in its batch-invariant mode (vLLM: VLLM_BATCH_INVARIANT=1; SGLang: "
        "--enable-deterministic-inference)",
        figures,
    )
