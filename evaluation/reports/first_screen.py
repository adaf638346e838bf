"""First screen of a report: what was measured, the headline with its interval, next steps, and terms.

Terminal, Markdown, JSON and HTML share this content. Pure: a function of the report's data.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any, Literal

from evaluation.correction.corrected import CorrectedRun
from evaluation.policy_names import is_policy
from evaluation.reports.report_data import ReportData
from evaluation.reports.report_view import percent
from evaluation.statistics.estimates import HallucinationEstimate
from evaluation.statistics.summary import ArmSummary
from evaluation.verifiers.verifier import FAILED

Action = Literal["retry", "label", "plan", "tune", "model", "read"]
"""Kinds of advice: draw failed samples again, label answers, plan a larger run, tune the search, choose another
model or prompt, read the answers. Each front end adds its command or link.
"""

MOST_ADVICE = 3
_WIDE = 0.05
_GAP = 0.05
_UNSCORED = 0.05
_MAIN = "rag"
_ONLY_ARM = "answers"
"""Arm of scored answers that name none: not worth a mention in a sentence."""

ARMS = {
    "closed_book": "the model alone, without any passage",
    "rag": "the model with the passages that the search found",
    "oracle": "the model with the passages that hold the answer, as the question set names them",
}
"""The base arms; docs/arms.md describes the others."""

OUTCOMES = {
    "hallucinated": "some claim of the answer is not supported",
    "supported": "every claim of the answer is supported",
    "abstained": "the answer declines to answer and makes no claim",
    "unscored": "the answer could not be judged; the reason is shown with it",
}
UNRESPONSIVE_MEANING = "supported, but not an answer to the question; counted with the supported"
CHANGES = {
    "fixed": "hallucinated in the first arm and not in the second",
    "broken": "hallucinated in the second arm and not in the first",
}


@dataclass(frozen=True, slots=True)
class Advice:
    """One next step. action: its kind."""

    text: str
    action: Action


@dataclass(frozen=True, slots=True)
class FirstScreen:
    """measured: named facts, in order. headline: one sentence; comparison: one on the first pair of arms, or "".

    If two runs are compared, the difference is the headline, followed by a rate. next_steps: at most MOST_ADVICE.
    terms: (term, definition) of the arms and outcomes in the report.
    """

    title: str
    measured: tuple[tuple[str, str], ...]
    headline: str
    comparison: str
    next_steps: tuple[Advice, ...]
    terms: tuple[tuple[str, str], ...]

    @property
    def outcome_terms(self) -> tuple[tuple[str, str], ...]:
        """The terms that are outcomes of an answer."""
        return tuple((word, meaning) for word, meaning in self.terms if word in OUTCOMES or word == "unresponsive")

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
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
        _advice(data, main)[:MOST_ADVICE],
        _terms(data),
    )


def _main_arm(data: ReportData) -> ArmSummary:
    """The arm with retrieval, else the second of the first pair, else the first."""
    arms = data.summary.arms
    wanted = next((arm for arm in arms if arm.arm == _MAIN), None)
    if wanted is None and data.summary.pairs:
        wanted = next((arm for arm in arms if arm.arm == data.summary.pairs[0].other), None)
    return wanted or arms[0]


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
    """Of answers from elsewhere: what the rates are rates of, and what counts as true."""
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
    parts.append(f"{samples} {'sample' if samples == '1' else 'samples'} a question")
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
    shown = [q for q in data.questions if not q.apart]
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
    """Summary of what is known about the verifier's errors."""
    if data.corrected is not None and data.corrected.run is not None:
        run = data.corrected.run
        wrong = sum(arm.disagreements for arm in run.arms)
        return f"people labelled {sum(arm.labelled for arm in run.arms)} answers; it was wrong on {wrong} of them"
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


def _advice(data: ReportData, main: ArmSummary) -> tuple[Advice, ...]:
    """Next steps for what limits the report most, most important first."""
    return tuple(
        found for found in (_unscored(data), _search(data), _model(data), _width(data, main), _labels(data)) if found
    )


def _unscored(data: ReportData) -> Advice | None:
    arms = [arm for arm in data.summary.arms if (arm.unscored.default.rate or 0.0) > _UNSCORED]
    if not arms:
        return None
    names = {arm.arm for arm in arms}
    reasons = Counter(
        s.reason for q in data.questions for a in q.arms if a.arm in names for s in a.samples if s.outcome == "unscored"
    )
    count = sum(reasons.values())
    reason = reasons.most_common(1)[0][0] if reasons else ""
    why = f", most of them because: {reason}" if reason and count > 1 else f", because: {reason}" if reason else ""
    text = f"{counted(count, 'answer')} of {', '.join(sorted(names))} {'is' if count == 1 else 'are'} unscored{why}."
    return Advice(text, "retry" if FAILED in reason else "read")


def _search(data: ReportData) -> Advice | None:
    """Advice if the run shows that other passages would help."""
    pair = next((p for p in data.summary.pairs if (p.baseline, p.other) == ("rag", "oracle")), None)
    found = pair.difference.default if pair else None
    if found is None or found.rate is None or found.lower is None or found.lower <= 0 or found.rate <= _GAP:
        return None
    return Advice(
        f"With the passages that hold the answer the model hallucinates {100 * found.rate:.1f} points less: better "
        "search would lower the rate.",
        "tune",
    )


def _model(data: ReportData) -> Advice | None:
    """Where the run shows that passages alone do not help."""
    oracle = next((arm.headline.default for arm in data.summary.arms if arm.arm == "oracle"), None)
    if oracle is None or oracle.lower is None or oracle.lower <= _GAP:
        return None
    return Advice(
        f"Even with the passages that hold the answer {percent(oracle.rate)} of the answers are hallucinated: another "
        "model or prompt is needed, search alone will not do.",
        "model",
    )


def _width(data: ReportData, main: ArmSummary) -> Advice | None:
    estimate = main.headline.default
    if estimate.lower is None or estimate.upper is None or (estimate.upper - estimate.lower) / 2 <= _WIDE:
        return None
    half = 100 * (estimate.upper - estimate.lower) / 2
    return Advice(f"{counted(main.questions, 'question')} leave ±{half:.0f} points of doubt: ask more.", "plan")


def _labels(data: ReportData) -> Advice | None:
    if data.corrected is not None and data.corrected.run is not None:
        return None
    if data.scored is not None:
        return None if data.scored.labelled else Advice("The verifier's own errors are unknown: label answers.", "read")
    return Advice("The verifier's own errors are unknown: label a random part of the answers.", "label")


def _terms(data: ReportData) -> tuple[tuple[str, str], ...]:
    arms = [(arm.arm, meaning) for arm in data.summary.arms if (meaning := arm_meaning(arm.arm))]
    changes = list(CHANGES.items()) if data.summary.pairs else []
    return (*arms, *OUTCOMES.items(), *_unresponsive(data), *changes)


def _unresponsive(data: ReportData) -> list[tuple[str, str]]:
    """The word is explained only where the report uses it."""
    if not any(found.unresponsive for found in data.abstentions):
        return []
    return [("unresponsive", UNRESPONSIVE_MEANING)]


def counted(number: int, what: str) -> str:
    """ "1 question", "6 questions"."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def arm_meaning(name: str) -> str:
    """Definition of an arm; "" for the name of an external system."""
    plain, _, run = name.partition(" @")
    base, plus, modifiers = plain.partition("+")
    meaning = ARMS.get(base, "")
    if not meaning:
        return ""
    policies = all(is_policy(part) for part in modifiers.split("+"))
    meaning += f", {'under the policy' if policies else 'changed by'} {modifiers}" if plus else ""
    return meaning + (f", in the run {run}" if run else "")
