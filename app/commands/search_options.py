"""Arguments of search, and functions that build the Search from them."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from app.commands.options import add_mode
from app.commands.parser import rare
from app.errors import UsageError

if TYPE_CHECKING:
    from app.pipeline import Pipeline
    from model.pairs.scoring import PairScorer
    from retrieval.retrieval_params import RetrievalParams
    from retrieval.search import Search, SearchComponents


def add_fusion(parser: argparse.ArgumentParser) -> None:
    """Declare --mode, --fusion, --dense-weight, --rrf-constant and --depth.

    The defaults are the saved settings of the collection, or else the built-in ones.
    """
    group = parser.add_argument_group("search (default: settings saved by tune --save, else a min-max hybrid)")
    add_mode(group)
    group.add_argument(
        "--dense-weight",
        type=float,
        metavar="W",
        help="weight W of the dense scores, 0 to 1; keyword scores have the weight 1 - W",
    )
    group.add_argument(
        "--rrf-constant", type=float, metavar="K", help="constant of reciprocal rank fusion (default 60)"
    )
    group.add_argument("--depth", type=int, metavar="N", help="candidates per retriever (default 100)")
    rare(group, "--rrf-constant", "--depth")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the optional stages of search, which are off by default: filters, RM3, reranking, MMR and others."""
    group = parser.add_argument_group("optional stages, off by default (docs/retrieval.md measures their effect)")
    group.add_argument(
        "--filter",
        action="append",
        default=[],
        metavar="F",
        help="search only documents whose metadata match: key=value, key=a|b, key!=v, key>=v; repeatable",
    )
    group.add_argument("--rm3", action="store_true", help="expand the query with words of the top passages (RM3)")
    group.add_argument(
        "--rerank", metavar="MODEL", help="cross-encoder (folder, hub ID, verifier) that rescores the top results"
    )
    group.add_argument(
        "--rerank-depth", type=int, default=50, metavar="N", help="number of results to rescore (default 50)"
    )
    group.add_argument(
        "--query-first", action="store_true", help="order of the cross-encoder's input: the query before the passage"
    )
    group.add_argument("--mmr", type=float, metavar="L", help="weight of relevance against diversity, 0 to 1")
    group.add_argument(
        "--deduplicate", type=float, metavar="R", help="drop chunks whose similarity to a better one is at least R"
    )
    group.add_argument("--neighbours", type=int, default=0, metavar="N", help="add N neighbouring chunks on each side")
    group.add_argument(
        "--rewrites", type=int, default=0, metavar="N", help="also search with N paraphrases, written by --model"
    )
    group.add_argument(
        "--hyde",
        type=int,
        default=0,
        metavar="N",
        help="also search with N hypothetical passages, written by --model (HyDE)",
    )
    group.add_argument(
        "--hops",
        type=int,
        default=1,
        metavar="N",
        help="total number of searches; later ones use a follow-up query (default 1)",
    )
    group.add_argument(
        "--hop-by",
        choices=("title", "model"),
        default="title",
        help="source of the follow-up query: title of the best result, or --model",
    )
    rare(group, "--rerank-depth", "--query-first", "--deduplicate", "--neighbours", "--rewrites", "--hyde", "--hops")
    rare(group, "--hop-by", "--mmr", "--rm3")


def fusion_params(arguments: argparse.Namespace, base: RetrievalParams) -> RetrievalParams:
    """Return ``base`` with the given arguments applied. Raises UsageError, which names the invalid value."""
    from retrieval.saved_search import with_given

    given = {name: getattr(arguments, name) for name in ("mode", "fusion", "dense_weight", "rrf_constant", "depth")}
    try:
        return with_given(base, **given)
    except ValueError as error:
        raise UsageError(str(error)) from error


def search(arguments: argparse.Namespace, pipeline: Pipeline, collection: str) -> Search:
    """Return the collection's search with the given arguments. Raises UsageError for invalid values."""
    from retrieval.ranking.diversity import MmrParams
    from retrieval.ranking.filtering import parse_filter
    from retrieval.ranking.reranking import RerankParams
    from retrieval.reformulation.rm3 import Rm3Params
    from retrieval.retrieval_params import RetrievalParams
    from retrieval.saved_search import saved_search
    from retrieval.search import Search

    retriever = pipeline.retriever(collection)  # First, because its error lists the collections.
    saved = saved_search(pipeline.home, collection)
    params = fusion_params(arguments, saved.params if saved else RetrievalParams())
    for name, least in (("rewrites", 0), ("hyde", 0), ("hops", 1)):
        if getattr(arguments, name) < least:
            raise UsageError(f"--{name} is {getattr(arguments, name)}: it must be at least {least}")
    try:
        params = replace(
            params,
            filters=tuple(parse_filter(text) for text in arguments.filter),
            rm3=Rm3Params() if arguments.rm3 else None,
            rerank=RerankParams(arguments.rerank_depth) if arguments.rerank else None,
            mmr=MmrParams(arguments.mmr) if arguments.mmr is not None else None,
            deduplicate=arguments.deduplicate,
            neighbours=arguments.neighbours,
        )
    except ValueError as error:
        raise UsageError(str(error)) from error
    return Search(retriever, params, _helpers(arguments, pipeline))


def _scorer(name: str, device: str, query_first: bool, home: Path) -> PairScorer:
    """Load a scorer for reranking.

    name: "verifier" for the shipped one, the folder of a trained verifier, or the name of any cross-encoder.
    """
    from app.models.known_tokenizers import check_tokenizer
    from app.models.support_scorers import open_support_scorer
    from model.pairs.foreign_scorer import ForeignPairScorer
    from model.pairs.presets import read_preset

    if name == "verifier" or (Path(name) / "verifier.json").is_file():
        return open_support_scorer(None if name == "verifier" else Path(name), device)
    check_tokenizer(Path(read_preset(name).checkpoint), home)
    return ForeignPairScorer(name, device=device, claim_first=query_first)


def _helpers(arguments: argparse.Namespace, pipeline: Pipeline) -> SearchComponents:
    from retrieval.reformulation.hops import HopBudget, by_best_title
    from retrieval.search import SearchComponents

    helpers = SearchComponents(budget=HopBudget(arguments.hops))
    if arguments.rerank:
        helpers = replace(
            helpers, scorer=_scorer(arguments.rerank, pipeline.device, arguments.query_first, pipeline.home)
        )
    if arguments.hops > 1 and arguments.hop_by == "title":
        helpers = replace(helpers, ask_again=by_best_title)
    if arguments.rewrites or arguments.hyde or (arguments.hops > 1 and arguments.hop_by == "model"):
        from app.retrieval.reformulate import HypotheticalPassageWriter, NextQueryWriter, Rewriter, check_can_write

        check_can_write(pipeline.generator)
        if arguments.rewrites:
            helpers = replace(helpers, rewrite=Rewriter(pipeline.generator, arguments.rewrites))
        if arguments.hyde:
            helpers = replace(helpers, imagine=HypotheticalPassageWriter(pipeline.generator, arguments.hyde))
        if arguments.hops > 1 and arguments.hop_by == "model":
            helpers = replace(helpers, ask_again=NextQueryWriter(pipeline.generator))
    return helpers
