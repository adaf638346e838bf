"""Monitor answers in service by labelled audits, with alarms if a certified rate is exceeded.

``plumbline serve --audit-rate 0.05`` draws audits. ``plumbline watch label COLLECTION`` shows them for labelling.
``plumbline watch status`` shows the rate of each certificate with its confidence sequence, and three alarms: the rate
exceeds the certified rate; questions differ from those of the calibration; the verifier became worse on labelled
anchors (``plumbline watch anchors``).

Every alarm has its own false-alarm rate, which holds for any number of looks over the entire watch. The absence of an
alarm never renews a certificate.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.commands.parser import add_nested
from app.console import Output
from app.errors import EXIT_ERROR, EXIT_OK, EXIT_THRESHOLD, AppError

if TYPE_CHECKING:
    from app.accounts.tenants import TenantCollection
    from app.pipeline import Pipeline
    from evaluation.guarantee.certificate import Certificate

_STATUS = """Show the rate in service of each certificate, and the alarms.

Exit code 3: an alarm is raised. Exit code 1: the clock was set back. The absence of an alarm never renews a
certificate."""
_ANCHORS = """Judge the labelled answers of a calibration again, with the installed verifier.

Run this command after every update of Plumbline or of the verifier. The first call fixes the anchors. A verifier that
has already judged them is not tested again. Exit code 3: the verifier became worse, by an exact test."""
_LABEL = """Label the audits of a collection. Score, policy and certificate are hidden.

Label in this terminal (keys: s supported, h hallucinated, a abstained, u cannot tell, b back, q quit), or in a CSV file
(--export FILE, fill in the column label, --import FILE). The pages of ``plumbline serve`` show the same audits. Label
in the given order, because an answer counts only when all earlier ones have labels."""


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the actions."""
    actions = (("status", _STATUS, _add_status), ("anchors", _ANCHORS, _add_anchors), ("label", _LABEL, _add_label))
    add_nested(parser, "action", actions, default="status")
    parser.set_defaults(name=None)


def _add_status(parser: argparse.ArgumentParser) -> None:
    from app.commands.options import add_encoder

    parser.add_argument(
        "name", metavar="COLLECTION|CERTIFICATE", nargs="?", help="collection or certificate to show (default: all)"
    )
    add_encoder(parser)


def _add_anchors(parser: argparse.ArgumentParser) -> None:
    from app.commands.options import add_device

    parser.add_argument(
        "name", metavar="CERTIFICATE", nargs="?", help="ID of the certificate (default: all valid certificates)"
    )
    parser.add_argument(
        "--again", action="store_true", help="test the verifier even if it has already judged the anchors"
    )
    add_device(parser)


def _add_label(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="COLLECTION", help="collection whose audits are labelled")
    parser.add_argument("--annotator", metavar="NAME", default="me", help="name of the annotator (default 'me')")
    parser.add_argument(
        "--adjudicate", action="store_true", help="label the answers on which annotators disagree, to resolve them"
    )
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--export", type=Path, metavar="FILE", help="write the answers as a CSV file, to fill in")
    mode.add_argument(
        "--import", dest="import_file", type=Path, metavar="FILE", help="read the labels of a filled-in CSV file"
    )


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Run the action."""
    from app.commands.options import open_pipeline

    with open_pipeline(arguments) as pipeline:
        if arguments.action == "anchors":
            return _anchors(pipeline, arguments, output)
        if arguments.action == "label":
            return _label(pipeline, arguments, output)
        return _status(pipeline, arguments, output)


def _status(pipeline: Pipeline, arguments: argparse.Namespace, output: Output) -> int:
    from app.watching.status import NEVER_RENEWS, Watching
    from app.watching.status_json import status_json
    from app.watching.status_lines import status_lines

    watches = Watching(pipeline).status(_collections(pipeline), arguments.name)
    if output.as_json:
        output.json(status_json(watches))
    else:
        for line in status_lines(watches):
            output.data(line)
        if watches:
            output.info(NEVER_RENEWS)
        else:
            output.info("nothing to show: there is no certificate and no audit (plumbline serve --audit-rate 0.05)")
    problems = [one.clock for one in watches if one.clock]
    for problem in problems:
        output.info(f"plumbline: error: {problem}")
    if problems:
        return EXIT_ERROR
    return EXIT_THRESHOLD if any(one.alarms for one in watches) else EXIT_OK


def _collections(pipeline: Pipeline) -> tuple[TenantCollection, ...]:
    """Return all collections of the home by their stored names. The command line sees those of every tenant."""
    from app.accounts.tenants import TenantCollection
    from retrieval.collections import list_collections

    return tuple(TenantCollection(info.name, info.name, info) for info in list_collections(pipeline.store))


def _anchors(pipeline: Pipeline, arguments: argparse.Namespace, output: Output) -> int:
    from app.judging.run_judge import load_scorer
    from app.policies.judging import PolicyJudge
    from app.watching.anchors import check_certificate
    from app.watching.status_json import anchors_json
    from app.watching.status_lines import anchor_lines

    chosen = _chosen(pipeline, arguments.name)
    judge = PolicyJudge(load_scorer(None, pipeline.device))
    raised, documents = False, []
    for certificate in chosen:
        state, fresh = check_certificate(pipeline, certificate, judge, again=arguments.again)
        raised = raised or state.raised
        documents.append({"certificate": certificate.id, "new": fresh, **(anchors_json(state) or {})})
        if output.as_json:
            continue
        for line in anchor_lines(certificate, state):
            output.data(line)
        if not fresh:
            output.info(f"{certificate.id}: this verifier has already judged these anchors (--again tests it again)")
    if output.as_json:
        output.json(documents)
    return EXIT_THRESHOLD if raised else EXIT_OK


def _chosen(pipeline: Pipeline, name: str | None) -> list[Certificate]:
    """Return the named certificate, or all valid ones. Raises AppError if there is none."""
    from app.calibration.certificate_files import CertificateFiles

    checks = CertificateFiles(pipeline.home).check_all()
    if name is None:
        certificates = [check.certificate for check in checks if check.valid and check.certificate is not None]
        if not certificates:
            raise AppError("there is no valid certificate, so there are no anchors: run plumbline calibrate RUN first")
        return certificates
    known = [check.certificate.id for check in checks if check.certificate is not None]
    for check in checks:
        if check.certificate is not None and check.certificate.id == name:
            if not check.valid:
                raise AppError(f"certificate {name} is void: {'; '.join(check.problems)}")
            return [check.certificate]
    listed = f"known certificates: {', '.join(known)}" if known else "this home has none (plumbline calibrate RUN)"
    raise AppError(f"there is no certificate {name!r}; {listed}")


def _label(pipeline: Pipeline, arguments: argparse.Namespace, output: Output) -> int:
    from app.labelling.label_files import export_labels
    from app.labelling.terminal import label_in_terminal
    from app.watching.audit_session import AuditSession, import_audit_labels
    from app.watching.status import UnknownWatchError

    names = [own.name for own in _collections(pipeline)]
    if arguments.name not in names:
        raise UnknownWatchError(arguments.name, names)
    document: dict[str, Any] = {"collection": arguments.name}
    session = AuditSession(pipeline.store, arguments.name, arguments.annotator, arguments.adjudicate)
    if arguments.import_file is not None:
        read = import_audit_labels(session, arguments.import_file)
        document["imported"] = read.labels
        blank = f", {read.blank} lines without a label" if read.blank else ""
        output.info(f"{read.labels} labels of {', '.join(read.annotators)} imported{blank}")
    elif arguments.export is not None:
        document |= {"exported": export_labels(session, arguments.export), "file": str(arguments.export)}
        output.info(f"{document['exported']} answers in {arguments.export}: fill in the column label, then --import")
    else:
        document["given"] = label_in_terminal(session, output)
    progress = session.progress()
    document |= {"items": len(progress.items), "labelled": progress.done, "disputed": len(progress.disputed)}
    if output.as_json:
        output.json(document)
        return EXIT_OK
    output.data(f"{arguments.name}: {progress.done} of {len(progress.items)} audited answers have a label")
    if progress.disputed:
        output.info(f"{len(progress.disputed)} are disputed: plumbline watch label {arguments.name} --adjudicate")
    output.info(f"plumbline watch status {arguments.name} shows the rate and the alarms")
    return EXIT_OK
