"""Create the first screen of a report: what was measured, the headline with its interval, next steps, and terms.

Terminal, Markdown, JSON and HTML share this content.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from evaluation.correction.corrected import CorrectedRun
from evaluation.reports.advice import MOST_ADVICE, Advice, advice_for
from evaluation.reports.report_data import ReportData
from evaluation.reports.report_view import percent
from evaluation.reports.terms import ARMS, OUTCOMES, counted, terms_of
from evaluation.statistics.estimates import HallucinationEstimate
from evaluation.statistics.run_summary import ArmSummary

_MAIN = "rag"
_ONLY_ARM = "answers"
"""Arm of answers that name no arm. The headline does not mention it."""


@dataclass(frozen=True, slots=True)
class FirstScreen:
    """Content of the first screen.

    measured: (name, value) of what was measured, in order.
    headline: one sentence with the result.
    comparison: one sentence on the first pair of arms; "" without a pair. If two runs are compared, the difference is
        the headline, and this is the sentence on the rate.
    next_steps: at most MOST_ADVICE suggested next steps.
    terms: (term, definition) of the arms, outcomes and changes in the report.
    """

    title: str
    measured: tuple[tuple[str, str], ...]
    headline: str
    comparison: str
    next_steps: tuple[Advice, ...]
    terms: tuple[tuple[str, str], ...]

    @property
    def outcome_terms(self) -> tuple[tuple[str, str], ...]:
        """(term, definition) of the outcomes of an answer."""
        return tuple((word, meaning) for word, meaning in self.terms if word in OUTCOMES or word == "unresponsive")

    def to_json(self) -> dict[str, Any]:
        """Return the content as JSON values."""
        return {**asdict(self), "measured": dict(self.measured), "terms": dict(self.terms)}


def first_screen(data: ReportData) -> FirstScreen:
    """Create the first screen of a report."""
    main = _main_arm(data)
    headline, comparison = _headline(data, main), _comparison(data)
    if data.comparison and comparison:  # in a comparison of two runs the difference is the result
        headline, comparison = comparison, headline
    return FirstScreen(
        data.config.title,
        tuple((name, value) for name, value in _measured(data) if value),
        headline,
        comparison,
        advice_for(data, main)[:MOST_ADVICE],
        terms_of(data),
    )


def _main_arm(data: ReportData) -> ArmSummary:
    """Return the summary of the arm with retrieval, else of the second arm of the first pair, else of the first arm."""
    arms = data.summary.arms
    main = next((arm for arm in arms if arm.arm == _MAIN), None)
    if main is None and data.summary.pairs:
        main = next((arm for arm in arms if arm.arm == data.summary.pairs[0].other), None)
    return main or arms[0]


def _measured(data: ReportData) -> list[tuple[str, str]]:
    entries = {name: value for section in data.config.sections for name, value in section.entries}
    if data.comparison:
        return [("compared", data.comparison)]
    return [
        ("measure", _measure(data)),
        ("model", entries.get("model", "")),
        ("prompt", entries.get("prompt", "")),
        ("decoding", _decoding(entries)),
        ("collection", _collection(entries)),
        ("verifier", _verifier(data, entries)),
        ("verifier checked", _checked(data)),
        ("date", data.config.created[:16].replace("T", " ")),
    ]


def _measure(data: ReportData) -> str:
    """Return what the rates of another system's answers measure, and what counts as true; "" for a run."""
    if data.scored is None:
        return ""
    sources = {"facts": "a table of facts", "labels": "people's labels"}
    by = data.scored.judged_by
    return f"{data.scored.measure}, judged by {sources.get(by, f'the {by} that came with the answers')}"


def _decoding(entries: dict[str, str]) -> str:
    temperature, samples = entries.get("temperature", ""), entries.get("samples per question and arm", "")
    if not temperature:
        return ""
    greedy = float(temperature) == 0
    parts = ["greedy" if greedy else f"temperature {temperature}"]
    if not greedy and entries.get("top_p", "1.0") != "1.0":
        parts.append(f"top-p {entries['top_p']}")
    parts.append(f"{samples} {'sample' if samples == '1' else 'samples'} per question")
    parts.append(f"at most {entries.get('max_tokens', '?')} tokens")
    return ", ".join(parts)


def _collection(entries: dict[str, str]) -> str:
    name = entries.get("collection", "")
    published = entries.get("collection published", "")
    return f"{name}, indexed {published[:10]}" if name and published else name


def _verifier(data: ReportData, entries: dict[str, str]) -> str:
    if data.scored is not None:
        return entries.get("verifier", "")
    kinds = []
    shown = [q for q in data.questions if not q.excluded]
    entailed = sum(q.by_entailment for q in shown)
    if entailed < len(shown):
        kinds.append(f"reference answers ({counted(len(shown) - entailed, 'question')})")
    if entailed:
        trusted = entries.get("trusted", "")
        kinds.append(f"the documents of {trusted or 'the trusted collection'} ({counted(entailed, 'question')})")
    excluded = len(data.questions) - len(shown)
    if excluded:
        kinds.append(f"the passages shown ({counted(excluded, 'question')})")
    return ", ".join(kinds)


def _checked(data: ReportData) -> str:
    """Return a summary of what is known about the verifier's errors."""
    if data.corrected is not None and data.corrected.run is not None:
        run = data.corrected.run
        labelled, wrong = sum(arm.labelled for arm in run.arms), sum(arm.disagreements for arm in run.arms)
        return f"people labelled {labelled} answers; the verifier was wrong on {wrong} of them"
    if data.scored is not None and data.scored.labelled:
        return f"people labelled {data.scored.labelled} of the answers"
    return "not yet: no answers of this run are labelled"


def _headline(data: ReportData, arm: ArmSummary) -> str:
    corrected = _corrected(data.corrected.run if data.corrected else None, arm.arm)
    estimate = corrected or arm.headline.default
    how = ", corrected by people's labels" if corrected else ""
    who = ARMS.get(arm.arm, "")
    name = f"{arm.arm} ({who})" if who else arm.arm
    of_arm = "" if arm.arm == _ONLY_ARM else f" of {name}"
    if estimate.rate is None:
        return f"The hallucination rate{of_arm} is undefined: none of {counted(arm.responses, 'answer')} is scored."
    if corrected or not arm.unscored.default.rate:
        answers = counted(arm.responses, "answer")
        return f"{percent(estimate.rate)} of {answers}{of_arm} are hallucinated{_limits(estimate)}{how}."
    answers = counted(estimate.responses, "scored answer")
    low, high = arm.hall_if_unscored_supported.rate, arm.hall_if_unscored_hallucinated.rate
    return (
        f"{percent(estimate.rate)} of {answers}{of_arm} are hallucinated{_limits(estimate)}; with the "
        f"{arm.responses - estimate.responses:,} unscored ones it is between {percent(low)} and {percent(high)}."
    )


def _corrected(run: CorrectedRun | None, arm: str) -> HallucinationEstimate | None:
    found = next((a.hallucinated for a in run.arms if a.arm == arm), None) if run is not None else None
    return found.estimate if found is not None and found.estimate.rate is not None else None


def _limits(estimate: HallucinationEstimate) -> str:
    if estimate.lower is None or estimate.upper is None:
        return ""
    return f" ({100 * estimate.level:g} % interval {100 * estimate.lower:.1f} to {100 * estimate.upper:.1f} %)"


def _comparison(data: ReportData) -> str:
    if not data.summary.pairs:
        return ""
    pair = data.summary.pairs[0]
    found = pair.difference.default
    if found.rate is None or found.lower is None or found.upper is None:
        return f"{pair.baseline} and {pair.other} cannot be compared: {found.reason}."
    limits = f"{100 * found.level:g} % interval {_signed(found.lower)} to {_signed(found.upper)}"
    if found.lower <= 0 <= found.upper:
        return (
            f"The run does not show which of {pair.baseline} and {pair.other} hallucinates less: the difference is "
            f"{_signed(found.rate)} points ({limits})."
        )
    less, more = (pair.other, pair.baseline) if found.rate > 0 else (pair.baseline, pair.other)
    return f"{less} hallucinates less than {more}, by {abs(100 * found.rate):.1f} points ({limits})."


def _signed(rate: float) -> str:
    return f"{100 * rate:+.1f}".replace("-", "−")
