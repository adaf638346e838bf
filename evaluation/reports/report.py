"""Render the HTML report of a run as one file without external resources, and write it atomically."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from pathlib import Path

import jinja2
from markupsafe import Markup

from evaluation.errors import EvaluationError
from evaluation.reports.analysis_view import analysis_view, setting_name
from evaluation.reports.corrected_view import corrected_view
from evaluation.reports.first_screen import first_screen
from evaluation.reports.policy_view import policy_view
from evaluation.reports.report_data import ReportData
from evaluation.reports.report_view import build_view, interval, left_out_text, p_value, percent, score, share
from evaluation.reports.terms import CHANGES, OUTCOMES, arm_meaning

_TEMPLATES = Path(__file__).parent / "templates"
# HTML cannot contain control characters and UTF-8 cannot contain lone surrogates.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def _visible(value: object) -> object:
    """Replace characters that HTML cannot contain by U+FFFD. Markup from our own macros is already escaped."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return _FORBIDDEN.sub("�", value)
    return value


def packaged_text(name: str) -> str:
    """Return a packaged style sheet or script for embedding. Raises ValueError if it cannot be embedded in HTML."""
    text = (_TEMPLATES / name).read_text(encoding="utf-8")
    if "</" in text or "<!--" in text:
        raise ValueError(f"{name} contains a closing tag or a comment, so it cannot be embedded in HTML")
    return text


def _source_hash(text: str) -> str:
    """Return the Content-Security-Policy source that allows exactly this inline text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def template_environment() -> jinja2.Environment:
    """Return a template engine that escapes automatically and rejects undefined variables."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_visible,
    )
    environment.filters |= {"percent": percent, "interval": interval, "p_value": p_value, "score": score}
    environment.filters |= {"share": share, "setting_name": setting_name}
    environment.globals |= {
        "left_out_text": left_out_text,
        "arm_meaning": arm_meaning,
        "meaning_of": OUTCOMES.get,
        "changes_explained": tuple(CHANGES.items()),
    }
    return environment


def render_report(run: ReportData) -> str:
    """Render the page. The same run gives the same text. The template engine escapes external text."""
    style, script = packaged_text("report.css"), packaged_text("report.js")
    policy = (
        f"default-src 'none'; style-src {_source_hash(style)}; script-src {_source_hash(script)}; "
        "base-uri 'none'; form-action 'none'"
    )
    return (
        template_environment()
        .get_template("report.html.j2")
        .render(
            view=build_view(run),
            screen=first_screen(run),
            corrected=corrected_view(run.corrected),
            analysis=analysis_view(run.analysis) if run.analysis else None,
            policies=policy_view(run.policies) if run.policies else None,
            style=style,
            script=script,
            policy=policy,
        )
    )


def write_report(path: Path, run: ReportData) -> None:
    """Render and write atomically: readers see the old file or the new one, never a partial one.

    Raises EvaluationError with the path if the file cannot be written.
    """
    page = render_report(run).encode("utf-8")
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(page)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise EvaluationError(
            f"cannot write the report to {path}: {error.strerror}. Choose an existing folder"
        ) from error
