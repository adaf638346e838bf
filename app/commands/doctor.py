"""Check versions, device, home, database, models, model server and collections, and advise on problems.

Each line begins with ok, warn or fail. The exit code is 1 if a check fails.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from app.console import Output
from app.errors import EXIT_ERROR, EXIT_OK

if TYPE_CHECKING:
    from app.doctor.findings import Finding


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from app.commands.options import add_model

    add_model(parser)


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Run all checks and print each finding as soon as it is available."""
    from dataclasses import asdict

    findings: list[Finding] = []
    for finding in _findings(arguments):
        findings.append(finding)
        if not output.as_json:
            output.data(f"{finding.status:<4} {finding.check}: {finding.found}")
            if finding.advice:
                output.data(f"     -> {finding.advice}")
    failed = sum(finding.status == "fail" for finding in findings)
    warned = sum(finding.status == "warn" for finding in findings)
    if output.as_json:
        status = "fail" if failed else "warn" if warned else "ok"
        output.json({"status": status, "checks": [asdict(finding) for finding in findings]})
    elif failed or warned:
        output.info(f"{failed} failed, {warned} warnings, {len(findings)} checks")
    return EXIT_ERROR if failed else EXIT_OK


def _findings(arguments: argparse.Namespace) -> Iterator[Finding]:
    from pydantic import ValidationError

    from app.commands.options import open_pipeline
    from app.doctor.diagnosis import diagnose
    from app.doctor.findings import Finding

    try:
        pipeline = open_pipeline(arguments)
    except ValidationError as error:
        for problem in error.errors():
            name = "PLUMBLINE_" + "_".join(str(part) for part in problem["loc"]).upper()
            yield Finding("settings", "fail", f"{name}: {problem['msg']}", "correct it in the environment")
        return
    with pipeline:
        yield from diagnose(pipeline)
