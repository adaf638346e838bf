"""Run the main commands on the sample corpus: index, query, evaluate and report.

The demo asks two questions and evaluates the reader, and SmolLM2 if it is installed. All data goes to one folder
(--home or PLUMBLINE_HOME, by default .demo), which can be deleted afterwards.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.console import Output
from app.errors import EXIT_OK

if TYPE_CHECKING:
    from evaluation.statistics.run_summary import RunSummary

ANSWERED = "How deep can the Heron 4 probe be used?"
NOT_ANSWERED = "How much does the Curlew 8 data logger weigh?"
_COLLECTION = "samples"
_QUESTION_STEP = 6
"""Every sixth sample question is evaluated, unless --limit is given."""


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from app.commands.options import add_model, add_retrieval, add_sampling

    parser.add_argument(
        "--limit", type=int, default=None, help="evaluate the first N sample questions (default: every sixth)"
    )
    add_retrieval(parser)
    add_sampling(parser)
    add_model(parser)
    parser.set_defaults(**_evaluate_defaults(parser))
    parser.set_defaults(collection=_COLLECTION, name="Plumbline demo: the sample questions")


def _evaluate_defaults(parser: argparse.ArgumentParser) -> dict[str, Any]:
    """Return the values of ``plumbline evaluate samples`` for the options that the demo does not have."""
    from app.commands import evaluate
    from app.commands.parser import add_common

    full = type(parser)(add_help=False)
    add_common(full)
    evaluate.add(full)
    own = vars(parser.parse_args([]))
    return {name: value for name, value in vars(full.parse_args(["samples"])).items() if name not in own}


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Run the commands in one process, as a user would type them."""
    from app.answers import QueryRequest
    from app.commands import query
    from app.commands.options import checked_k, open_pipeline
    from app.runs.tables import models_table
    from data.loaders import load_documents
    from data.samples_paths import sample_corpus_path
    from generation.decoding.params import SamplingParams
    from retrieval.indexing.report import IndexProgress

    arguments.home = home_folder(arguments.home)
    k = checked_k(arguments)
    with open_pipeline(arguments) as pipeline:
        output.info("1. plumbline index: the sample corpus")
        with output.progress() as bar:

            def show(progress: IndexProgress) -> None:
                bar.update(progress.phase, progress.done, progress.total)

            report = pipeline.index(_COLLECTION, load_documents([sample_corpus_path()]), progress=show)
        output.data(f"{report.documents} documents, {report.chunks} chunks, generation {report.generation_hash[:12]}")
        output.info("\n2. plumbline query: one question with an answer in the corpus, one without")
        for question in (ANSWERED, NOT_ANSWERED):
            result = pipeline.answer(QueryRequest(question, _COLLECTION, k=k, params=SamplingParams(max_tokens=32)))
            output.data(f"\n{question}")
            query.show(result, output)
        output.info("\n3. plumbline evaluate: sample questions, with retrieval and without")
        runs = {_label(arguments.model): _evaluate(arguments, pipeline, output)}
        chat = None if arguments.model else _chat_model(arguments, output)
        if chat is not None:
            output.info("\n4. plumbline evaluate --model smollm2: the same questions for a chat model")
            with open_pipeline(chat) as second:
                runs["smollm2"] = _evaluate(chat, second, output)
            output.out.print(models_table(runs))
    return EXIT_OK


def home_folder(given: Path | None) -> Path:
    """Return the home of the demo: --home, else PLUMBLINE_HOME, else .demo in the current folder."""
    from app.settings import Settings

    settings = Settings.for_home(given)
    return settings.home if "home" in settings.model_fields_set else Path(".demo")


def _label(model: str | None) -> str:
    return model or "reader"


def _chat_model(arguments: argparse.Namespace, output: Output) -> argparse.Namespace | None:
    """Return the arguments with SmolLM2 as model. If it is not installed, print a message and return None."""
    from app.models.named_models import MODELS, find_model

    if find_model(MODELS["smollm2"], arguments.home) is None:
        output.info(
            "\nsmollm2 is not installed: run plumbline model add smollm2 first to let the demo show both models"
        )
        return None
    values = vars(arguments) | {"model": "smollm2", "precision": arguments.precision or "auto"}
    return argparse.Namespace(**values)


def _evaluate(arguments: argparse.Namespace, pipeline: Any, output: Output) -> RunSummary:
    """Evaluate a part of the sample questions, print the run, and return its summary.

    Samples that could not be scored are counted in the table, but do not make the demo fail.
    """
    from app.commands.evaluation_options import plan_of
    from app.commands.report_output import ReportFiles, report_run
    from app.runs.evaluate import evaluate, judge_of
    from app.runs.report import report_data

    plan = plan_of(arguments)
    plan = replace(plan, questions=plan.questions[:: 1 if arguments.limit else _QUESTION_STEP])
    judge = judge_of(pipeline, plan)
    with output.progress() as bar:
        result = evaluate(
            pipeline,
            plan,
            name=f"{arguments.name}, {_label(arguments.model)}",
            command="plumbline demo",
            judge=judge,
            progress=lambda progress: bar.update("samples", progress.done, progress.total),
            retry_failed=arguments.retry_failed,
        )
    report_run(pipeline, result.run_id, ReportFiles(arguments.report), output, judge.entailment)
    return report_data(pipeline, result.run_id).summary
