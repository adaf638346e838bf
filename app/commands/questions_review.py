"""Review a question file: keep, edit, drop or mark unanswerable, with one key each.

Keys: k keep, t new text, r new references, u unanswerable, d drop, s skip, b back, q quit. Every decision is written to
the file immediately. Dropped questions move to NAME.dropped.jsonl in the same folder. Several people can review the
same file (--reviewer NAME). Each sees the questions that they have not reviewed. Reports of runs on the file show how
many questions were reviewed.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from app.console import Output
from app.errors import EXIT_OK, UsageError

if TYPE_CHECKING:
    from app.questions.review import QuestionReview
    from app.questions.review_terminal import Texts


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", type=Path, metavar="FILE", help="questions as JSON Lines")
    parser.add_argument("--reviewer", metavar="NAME", default="me", help="name of the reviewer (default 'me')")
    parser.add_argument("--collection", metavar="NAME", help="show the evidence from this collection's documents")
    parser.add_argument("--web", action="store_true", help="review in a browser, served on this machine only")
    parser.add_argument("--port", type=int, default=0, help="port of --web (default: any free port)")
    parser.add_argument("--status", action="store_true", help="only print the progress of the review")


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Review the questions and print the progress."""
    from app.commands.options import open_pipeline
    from app.questions.review import QuestionReview
    from app.questions.review_terminal import review_in_terminal
    from retrieval.generations.contents import find_document

    if not 0 <= arguments.port <= 65535:
        raise UsageError(f"--port is {arguments.port}: it must be in 0..65535")
    review = QuestionReview(arguments.file, arguments.reviewer)
    counts: dict[str, int] = {}
    if not arguments.status:
        with open_pipeline(arguments) as pipeline:
            name = pipeline.collection_name(arguments.collection) if arguments.collection else None

            def text_of(document_id: str) -> str | None:
                document = find_document(pipeline.store, name, document_id) if name else None
                return document.text if document else None

            if arguments.web:
                _serve(review, text_of, arguments.port, output)
            else:
                counts = review_in_terminal(review, output, text_of)
    progress = review.progress()
    if output.as_json:
        output.json(
            {
                "file": str(arguments.file),
                "decisions": counts,
                "questions": progress.questions,
                "reviewed": progress.reviewed,
                "dropped": progress.dropped,
                "reviewers": dict(progress.by),
            }
        )
        return EXIT_OK
    output.data(f"{progress.reviewed} of {progress.questions} questions reviewed, {progress.dropped} dropped")
    for person, count in progress.by:
        output.data(f"  {person}: {count}")
    return EXIT_OK


def _serve(review: QuestionReview, texts: Texts, port: int, output: Output) -> None:
    from app.local_pages import HOST, loopback_socket
    from app.questions.review_page import serve_review

    with loopback_socket(port) as listener:
        output.info(f"plumbline: review at http://{HOST}:{listener.getsockname()[1]}/ (Ctrl-C stops)")
        try:
            serve_review(review, texts, listener)
        except KeyboardInterrupt:  # The normal end: every decision is already written.
            output.info("plumbline: stopped")
