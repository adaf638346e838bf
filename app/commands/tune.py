"""Choose the search settings of a collection on judged questions, and test whether the gain is significant.

Every fusion setting is scored by cross-validation over questions. A paired randomisation test compares the chosen
setting with the current one on held-out questions. The settings are saved only with --save or --save-anyway.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.console import Output
from app.errors import EXIT_OK, UsageError

if TYPE_CHECKING:
    from evaluation.retrieval.tuning import Tuning
    from retrieval.retrieval_params import RetrievalParams


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from app.commands.options import add_encoder, add_seed

    parser.add_argument("name", metavar="NAME", help="collection")
    parser.add_argument(
        "--qrels",
        type=Path,
        metavar="FILE",
        help="relevance judgements in TREC or BEIR format (default: those in the questions)",
    )
    parser.add_argument(
        "--queries",
        type=Path,
        metavar="FILE",
        help="questions (default: queries.jsonl of the BEIR folder that contains --qrels)",
    )
    parser.add_argument("--measure", default="nDCG@10", metavar="M", help="measure to maximise (default nDCG@10)")
    parser.add_argument(
        "--folds", type=int, default=5, metavar="N", help="number of cross-validation folds (default 5)"
    )
    add_seed(parser, "seed of folds, intervals and tests")
    parser.add_argument("--save", action="store_true", help="save the chosen settings if the gain is significant")
    parser.add_argument(
        "--save-anyway", action="store_true", help="save the chosen settings even if the gain may be chance"
    )
    parser.add_argument("--forget", action="store_true", help="restore the default search settings, without tuning")
    add_encoder(parser)


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Tune the search settings, print the results, and save the settings if requested."""
    from app.commands.options import open_pipeline
    from app.retrieval.tune import load_judged, tune_fusion
    from retrieval.collections import collection_info
    from retrieval.retrieval_params import RetrievalParams
    from retrieval.saved_search import SavedSearch, forget_search, save_search, saved_search, search_fields

    if arguments.forget:
        with open_pipeline(arguments) as pipeline:
            collection_info(pipeline.store, arguments.name)
            forgot = forget_search(pipeline.home, arguments.name)
        output.info(
            f"{arguments.name} is searched with the default settings" + ("" if forgot else ", as it was before")
        )
        return EXIT_OK
    if arguments.qrels is None and arguments.queries is None:
        raise UsageError("give --qrels FILE, or --queries FILE with questions that name relevant documents")
    if arguments.seed < 0:
        raise UsageError(f"--seed is {arguments.seed}: it must not be negative")
    with open_pipeline(arguments) as pipeline:
        retriever = pipeline.retriever(arguments.name)
        saved = saved_search(pipeline.home, arguments.name)
        baseline = saved.params if saved else RetrievalParams()
        judged = load_judged(retriever, arguments.queries, arguments.qrels)
        for note in judged.notes:
            output.info(note)
        with output.progress() as bar:
            tuning = tune_fusion(
                retriever,
                judged,
                baseline,
                arguments.measure,
                arguments.folds,
                arguments.seed,
                lambda done, total: bar.update("questions and settings", done, total),
            )
        keep = tuning.chosen if arguments.save_anyway else tuning.recommended
        path = None
        if (arguments.save or arguments.save_anyway) and keep != baseline:
            path = save_search(pipeline.home, arguments.name, SavedSearch(keep, _why(tuning), retriever.indexed_with))
    if output.as_json:
        output.json({**to_json(tuning), "recommended": search_fields(tuning.recommended), "saved": path is not None})
    else:
        _show(tuning, output)
    if path is not None:
        output.info(
            f"saved to {path}: these settings now apply to every search of {arguments.name} without explicit settings"
        )
    elif arguments.save or arguments.save_anyway:
        output.info("nothing was saved: the current settings remain")
    return EXIT_OK


def to_json(tuning: Tuning) -> dict[str, Any]:
    """Return the result as JSON values, including the grid with its means."""
    from retrieval.saved_search import search_fields

    gain = tuning.gain.difference
    return {
        "measure": tuning.measure,
        "questions": tuning.questions,
        "folds": tuning.folds,
        "baseline": {"settings": search_fields(tuning.baseline), "mean": tuning.baseline_mean.mean},
        "chosen": {"settings": search_fields(tuning.chosen), "mean_on_all": tuning.chosen_mean},
        "held_out": {"mean": tuning.held_out.mean, "lower": tuning.held_out.lower, "upper": tuning.held_out.upper},
        "gain": {"mean": gain.mean, "lower": gain.lower, "upper": gain.upper, "p_value": tuning.gain.p_value},
        "real": tuning.is_real,
        "chosen_by_fold": [search_fields(params) for params in tuning.by_fold],
        "grid": [
            {"settings": search_fields(params), "mean": mean}
            for params, mean in zip(tuning.settings, tuning.means, strict=True)
        ],
    }


def _show(tuning: Tuning, output: Output) -> None:
    gain = tuning.gain
    output.data(
        f"{tuning.measure} on {tuning.questions} questions, {len(tuning.settings)} settings, {tuning.folds} folds"
    )
    ranked = sorted(zip(tuning.means, tuning.settings, strict=True), key=lambda item: -item[0])
    for mean, params in ranked[:8]:
        output.data(f"  {mean:.4f}  {options(params)}")
    output.data(f"current: {tuning.baseline_mean.mean:.4f}  {options(tuning.baseline)}")
    output.data(f"cross-validated choice, on held-out questions: {tuning.held_out.mean:.4f}")
    limits = gain.difference
    interval = f" [{limits.lower:+.4f}, {limits.upper:+.4f}]" if limits.lower is not None else ""
    output.data(
        f"gain {limits.mean:+.4f}{interval}, better on {gain.better} questions, worse on {gain.worse}, "
        f"paired randomisation p = {gain.p_value:.4f}"
    )
    if tuning.is_real:
        output.data(f"the gain is significant at the 5 % level; use: {options(tuning.chosen)}")
    else:
        output.data(f"the gain may be chance; keep: {options(tuning.baseline)}")


def options(params: RetrievalParams) -> str:
    """Return the settings as arguments of ``plumbline retrieve``."""
    if params.mode != "hybrid":
        return f"--mode {params.mode}"
    constant = f" --rrf-constant {params.rrf_constant:g}" if params.fusion == "rrf" else ""
    return f"--mode hybrid --fusion {params.fusion} --dense-weight {params.dense_weight:g}{constant}"


def _why(tuning: Tuning) -> str:
    gain = tuning.gain
    return (
        f"{tuning.measure} {tuning.baseline_mean.mean:.4f} before, {tuning.held_out.mean:.4f} cross-validated on "
        f"{tuning.questions} questions, p = {gain.p_value:.4f}"
    )
