"""Formats of a gate's result: Markdown for a pull request, JUnit XML and JSON."""

from __future__ import annotations

import dataclasses
import re
import xml.etree.ElementTree as ET
from typing import Any

from evaluation.gating.regression import Compared, GateReport

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_json(report: GateReport) -> dict[str, Any]:
    """Return nested dicts and lists."""
    return {**dataclasses.asdict(report), "failed": report.failed}


def to_markdown(report: GateReport) -> str:
    """Return a comment for a pull request."""
    verdict = "failed" if report.failed else "passed"
    lines = [f"### Plumbline gate {verdict}", ""]
    lines += [f"- **broken premise** {_cell(text)}" for text in report.broken]
    lines += [f"- **condition met** {_cell(text)}" for text in report.conditions]
    if report.compared:
        lines += ["", "| arm | share | baseline | run | change | |", "|---|---|---|---|---|---|"]
        lines += [_row(one) for one in report.compared]
        lines += [
            "",
            f"Run `{report.run}` against baseline `{report.baseline}`, paired by question. One-sided tests, "
            f"{report.level:.1%} for all of them together; a change for the worse of up to {report.margin:.1%} passes.",
        ]
    lines += [
        f"- {_cell(one.arm)}: {one.unscored} questions without a scored response in both are left out of hallucinated"
        for one in report.compared
        if one.unscored
    ]
    worst = {one.arm: one.worst for one in report.compared if one.regressed and one.worst}
    lines += [f"- questions that got worse ({_cell(arm)}): {_cell(', '.join(ids))}" for arm, ids in worst.items()]
    if report.changed:
        lines += ["", "Changed since the baseline: " + "; ".join(_cell(text) for text in report.changed) + "."]
    return "\n".join(lines) + "\n"


def to_junit(report: GateReport) -> str:
    """Return JUnit XML with one test case for the premises, one for each comparison and one for the conditions."""
    cases: list[tuple[str, str]] = [("premises", "\n".join(report.broken))]
    cases += [(f"{one.arm}: {one.quantity}", _sentence(one) if one.regressed else "") for one in report.compared]
    if report.conditions:
        cases.append(("conditions", "\n".join(report.conditions)))
    failures = sum(bool(message) for _, message in cases)
    suite = ET.Element("testsuite", name="plumbline gate", tests=str(len(cases)), failures=str(failures), errors="0")
    for name, message in cases:
        case = ET.SubElement(suite, "testcase", classname="plumbline.gate", name=_xml(name))
        if message:
            ET.SubElement(case, "failure", message=_xml(message.split("\n")[0])).text = _xml(message)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(suite, encoding="unicode") + "\n"


def _row(one: Compared) -> str:
    if one.before is None or one.after is None or one.change is None:
        return f"| {_cell(one.arm)} | {one.quantity} | undefined | undefined | {_cell(one.reason)} | ❌ not measured |"
    mark = "❌ worse" if one.regressed else "✅"
    limits = f"[{one.lower:+.1%}, {one.upper:+.1%}]"
    shares = f"{one.before:.1%} | {one.after:.1%} | {one.change:+.1%} {limits}"
    return f"| {_cell(one.arm)} | {one.quantity} | {shares} | {mark} |"


def _sentence(one: Compared) -> str:
    if one.before is None or one.after is None or one.worse_by is None:
        return f"{one.quantity} of {one.arm} cannot be compared: {one.reason}"
    went = f"{one.quantity} of {one.arm} went from {one.before:.1%} to {one.after:.1%} on {one.questions} questions"
    return f"{went}: worse by at least {one.worse_by:.1%}\nquestions: {', '.join(one.worst)}"


def _cell(text: str) -> str:
    """Escape text so that it cannot end a table cell, open a tag or mention a user."""
    plain = " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|").replace("`", "\\`")
    return plain.replace("<", "&lt;").replace("@", "@\u200b").replace("[", "\\[").replace("*", "\\*")


def _xml(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
