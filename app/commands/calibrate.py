"""Certify that at most a share alpha of a labelled run's answers above a score threshold are hallucinated.

Thresholds on the verifier's score are tested from strict to loose until one fails. The last threshold that passes is
certified. The rate among answered questions is then at most alpha, with probability at least 1 - delta over draws of
labels. Each --alpha gets its own certificate, which is signed and stored in the home. Several alphas share delta.

Label a run first (``plumbline label RUN``). ``plumbline plan --alpha`` computes how many labels are needed. Exit code
3: an alpha could not be certified.

--list shows the certificates in the home. --check FILE checks whether a certificate is still valid (exit code 1 if
not). docs/guarantees.md explains what a certificate means and what makes it void.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.console import Output
from app.errors import EXIT_ERROR, EXIT_OK, EXIT_THRESHOLD, UsageError

if TYPE_CHECKING:
    from app.calibration.calibrating import Calibration, Certification
    from app.calibration.certificate_files import CertificateCheck

DEFAULT_ALPHA = 0.1


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from app.commands.options import add_model

    parser.add_argument(
        "run_id", nargs="?", metavar="RUN", help="finished, labelled run: name, ID, or prefix of the ID"
    )
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--list", action="store_true", help="list the certificates in the home folder")
    instead.add_argument(
        "--check", type=Path, metavar="FILE", help="check whether a certificate is valid for the current deployment"
    )
    group = parser.add_argument_group("certificate")
    group.add_argument(
        "--alpha",
        type=float,
        action="append",
        default=[],
        help=f"largest hallucination rate among answers, e.g. 0.1; repeatable (default {DEFAULT_ALPHA})",
    )
    group.add_argument("--delta", type=float, default=0.05, help="probability of a wrong certificate (default 0.05)")
    group.add_argument("--arm", help="arm to calibrate (default: rag, or the only labelled arm)")
    group.add_argument("--verifier", metavar="NAME", help="verifier of the run, by its name or a prefix of it")
    group.add_argument(
        "--policies",
        nargs="?",
        const="",
        metavar="LIST",
        help="certify these policies of the run together, such as none,strip,best_of_n; without LIST all labelled "
        "policies (plumbline evaluate --policies)",
    )
    group.add_argument(
        "--thresholds",
        metavar="LIST",
        help="thresholds to test, from strict to loose, e.g. 0.9,0.8,0.7; choose them before you see labels (default: "
        "computed from the scores of answers that are not in the test)",
    )
    group.add_argument(
        "--start",
        type=float,
        metavar="SHARE",
        help="share of questions answered at the first threshold, e.g. 0.5 (default one third, more if there are few "
        "labels)",
    )
    group.add_argument(
        "--predictions",
        action="store_true",
        help="use the scores of unlabelled answers in addition to randomly drawn labels (a prediction-powered test; "
        "the exact test usually needs fewer labels)",
    )
    add_model(parser)


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Calibrate a run, list certificates, or check one."""
    if arguments.policies is not None and arguments.arm is not None:
        raise UsageError("--policies and --arm exclude each other: each policy has its own arm")
    if (arguments.run_id is None) == (not arguments.list and arguments.check is None):
        raise UsageError("give a RUN to calibrate, --list, or --check FILE (one of them)")
    if arguments.list:
        return _list(arguments, output)
    if arguments.check is not None:
        return _check(arguments, output)
    return _calibrate(arguments, output)


def _calibrate(arguments: argparse.Namespace, output: Output) -> int:
    from app.calibration.calibrating import CalibrationRequest, calibrate
    from app.calibration.policies import calibrate_policies
    from app.commands.options import open_pipeline

    request = CalibrationRequest(
        arguments.run_id,
        tuple(arguments.alpha) or (DEFAULT_ALPHA,),
        arguments.delta,
        arguments.arm,
        arguments.verifier,
        _thresholds(arguments.thresholds),
        arguments.start,
        arguments.predictions,
    )
    several: tuple[Calibration, ...] | None = None
    with open_pipeline(arguments) as pipeline:
        if arguments.policies is None:
            every: tuple[Calibration, ...] = (calibrate(pipeline, request),)
        else:
            names = tuple(name.strip() for name in arguments.policies.split(",")) if arguments.policies else ()
            several = every = calibrate_policies(pipeline, request, names)
    if output.as_json:
        documents = [calibration_json(calibration) for calibration in every]
        output.json(documents[0] if several is None else {"run": every[0].run_id, "policies": documents})
    else:
        for calibration in every:
            _show(calibration, output)
    certified = [[result.certificate is not None for result in calibration.results] for calibration in every]
    return EXIT_OK if all(any(of_alpha) for of_alpha in zip(*certified, strict=True)) else EXIT_THRESHOLD


def _thresholds(text: str | None) -> tuple[float, ...]:
    if text is None:
        return ()
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise UsageError(f"--thresholds is {text!r}: give numbers joined by commas, such as 0.9,0.8,0.7") from None


def calibration_json(calibration: Calibration) -> dict[str, Any]:
    """Return the result as JSON values.

    p_value is null for a threshold that was not tested because a stricter one failed.
    """
    from dataclasses import asdict

    return {
        "run": calibration.run_id,
        "arm": calibration.arm,
        "verifier": calibration.verifier,
        "policy": calibration.policy,
        "delta": calibration.request.delta,
        "offers": calibration.request.offers * len(calibration.request.alphas),
        "thresholds_from": calibration.grid,
        "labels": calibration.tested,
        "scored": calibration.scored,
        "looks": calibration.earlier,
        "results": [
            {
                "alpha": r.sequence.alpha,
                "level": r.sequence.delta,
                "test": r.sequence.test,
                "certified": r.certificate is not None,
                "certificate": r.certificate.to_json() if r.certificate else None,
                "file": str(r.path) if r.path else None,
                "thresholds": [asdict(t) for t in r.sequence.tests],
                "fewest_answered": r.fewest_answered,
                "labels_needed": r.labels_needed,
                "conformal": asdict(r.conformal) if r.conformal else None,
            }
            for r in calibration.results
        ],
        "curve": asdict(calibration.curve) if calibration.curve else None,
    }


def _show(calibration: Calibration, output: Output) -> None:
    output.data(
        f"run {calibration.run_id}, arm {calibration.arm}: {calibration.tested} labels tested; "
        f"thresholds from {calibration.grid}"
    )
    output.data(f"policy: {calibration.policy}")
    output.data(f"score: {calibration.verifier}")
    if calibration.scored < calibration.tested:
        missing = calibration.tested - calibration.scored
        output.info(
            f"note: {missing} of {calibration.tested} labelled answers have no score, so they pass no threshold"
        )
    for result in calibration.results:
        _show_result(result, calibration, output)
    if calibration.curve is not None and calibration.curve.area is not None:
        output.data(
            f"area under rate against share answered (AURC): {calibration.curve.area:.3f}; best order "
            f"{calibration.curve.best_area:.3f}, no order {calibration.curve.random_area:.3f}"
        )
    if calibration.earlier:
        output.info(
            f"note: this run was calibrated in {calibration.earlier} other ways before (labels, thresholds, levels). "
            "Every calibration is a test: the probability of a wrong certificate is at most "
            f"{calibration.earlier + 1} times delta"
        )


def _show_result(result: Certification, calibration: Calibration, output: Output) -> None:
    sequence = result.sequence
    offers = len(calibration.results) * calibration.request.offers
    shared = f" (delta {calibration.request.delta:g} / {offers})" if offers > 1 else ""
    test = sequence.test.replace("_", " ")
    output.data("")
    output.data(f"alpha {sequence.alpha:g}, each threshold at level {sequence.delta:g}{shared}, {test} test")
    output.data(f"{'threshold':>10} {'answered':>9} {'answer rate':>12} {'hallucinated':>13} {'p-value':>9}")
    for row in sequence.tests:
        p = "-" if row.p_value is None else f"{row.p_value:.4f}"
        verdict = "passed" if row.passed else "not tested" if row.p_value is None else "failed"
        output.data(
            f"{row.threshold:>10.4f} {row.answered:>9} {100 * row.answer_rate:>10.1f} % {row.hallucinated:>13} {p:>9}  "
            f"{verdict}"
        )
    if result.certificate is not None:
        c = result.certificate
        output.data(
            f"certified: answers with a score of at least {c.threshold:.6g} hallucinate at a rate of at most "
            f"{c.alpha:g}, with probability at least {1 - c.delta:g}; {100 * c.answer_rate:.1f} % of the questions are "
            f"answered [{100 * c.answer_rate_lower:.1f}, {100 * c.answer_rate_upper:.1f}]"
        )
        output.data(f"certificate {c.id}: {result.path}")
    else:
        output.data(f"cannot be certified: {_needed(result)}")


def _needed(result: Certification) -> str:
    first, alpha = result.sequence.tests[0], result.sequence.alpha
    least = f"no threshold passes with fewer than {result.fewest_answered} answered labels"
    if result.conformal is None:
        return (
            "the number of missing labels cannot be estimated from an active draw (plumbline plan --alpha estimates "
            f"it); {least}"
        )
    if not first.answered:
        return f"no labelled answer reaches the first threshold; {least}"
    if result.labels_needed is None:
        return (
            f"at the first threshold {first.hallucinated} of {first.answered} answers are hallucinated, which is not "
            f"below {alpha:g}: more labels would not help, but a better model, retrieval or verifier may; {least}"
        )
    return (
        f"with about {result.labels_needed} labels the first threshold passes in 80 of 100 cases, if its observed "
        f"rate and answer rate are the true ones; {least}"
    )


def _list(arguments: argparse.Namespace, output: Output) -> int:
    from app.calibration.certificate_files import CertificateFiles
    from app.commands.options import open_pipeline

    with open_pipeline(arguments) as pipeline:
        checks = CertificateFiles(pipeline.home).check_all()
    if output.as_json:
        output.json({"certificates": [check_json(check) for check in checks]})
        return EXIT_OK
    if not checks:
        output.info("there is no certificate in this home: create one with plumbline calibrate RUN")
    for check in checks:
        output.data(_line(check))
    return EXIT_OK


def _check(arguments: argparse.Namespace, output: Output) -> int:
    from app.calibration.checking import check_here
    from app.commands.options import open_pipeline

    with open_pipeline(arguments) as pipeline:
        check = check_here(pipeline, arguments.check)
    if output.as_json:
        output.json(check_json(check))
    else:
        output.data(_line(check))
        if check.valid:
            output.info("verifier, retrieval and decoding are checked when a query uses the certificate")
    return EXIT_OK if check.valid else EXIT_ERROR


def check_json(check: CertificateCheck) -> dict[str, Any]:
    """Return the check as JSON values."""
    return {
        "file": str(check.path),
        "valid": check.valid,
        "problems": list(check.problems),
        "certificate": check.certificate.to_json() if check.certificate else None,
    }


def _line(check: CertificateCheck) -> str:
    c = check.certificate
    if c is None:
        what = str(check.path)
    else:
        answers = f"{c.deployment.policy} at {c.threshold:.4g}, answers {100 * c.answer_rate:.0f} %"
        what = f"{c.id}  {c.created_at[:10]}  alpha {c.alpha:g}, delta {c.delta:g}, {answers}"
    return f"{what}  {'valid' if check.valid else 'void: ' + '; '.join(check.problems)}"
