"""Terminal lines with the reasons for a run's unscored answers."""

from __future__ import annotations

import re
from collections import Counter

from evaluation.reports.report_data import ReportData

_SHOWN = 3
_NAMED = re.compile(r"'[^']*'|\([^)]*\)|\d+")


def unscored_lines(data: ReportData) -> list[str]:
    """Return the number of unscored responses of each arm and the most common reasons.

    Reasons that differ only in numbers, quoted names or bracketed text are grouped. The first one of a group is shown.
    """
    responses: Counter[str] = Counter()
    kinds: dict[str, Counter[str]] = {}
    first: dict[tuple[str, str], str] = {}
    for question in data.questions:
        for arm in question.arms:
            responses[arm.arm] += len(arm.samples)
            for sample in arm.samples:
                if sample.outcome == "unscored":
                    kind = _NAMED.sub("", sample.reason)
                    kinds.setdefault(arm.arm, Counter())[kind] += 1
                    first.setdefault((arm.arm, kind), sample.reason)
    lines = []
    for name, reasons in kinds.items():
        lines.append(f"{name}: {reasons.total()} of {responses[name]} responses are unscored")
        for kind, count in reasons.most_common(_SHOWN):
            lines.append(f"  {count}: {first[name, kind] or 'no reason was recorded'}")
        if len(reasons) > _SHOWN:
            lines.append(f"  and {len(reasons) - _SHOWN} more reasons, by answer in the report")
    return lines
