"""The parsers of the command line: suggestions, short and full help, nested commands, renamed options."""

from __future__ import annotations

import argparse
import pickle
from collections.abc import Iterator

import pytest

from app.cli import build_parser, with_flag
from app.commands.parser import Parser, add_nested, did_you_mean, options_of, rare, renamed
from app.errors import UnnamedCollectionError
from plumbline_errors import PlumblineError
from retrieval.errors import UnknownCollectionError

LONGEST = 100
"""Lines of two screens."""


def parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from parsers(below)


ALL = {parser.prog: parser for parser in parsers(build_parser())}


@pytest.mark.parametrize("prog", ALL)
def test_every_help_fits_two_screens_and_names_what_it_does(prog: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = ALL[prog].format_help()
    assert len(text.splitlines()) <= LONGEST
    assert ALL[prog].description
    assert text.startswith(f"usage: {prog}")


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["evalute"], "evaluate"),
        (["collections", "verifi", "notes"], "verify"),
        (["query", "Why?", "--colection", "notes"], "--collection"),
        (["index", "notes", "--colection", "notes"], "--collection"),  # not: --collection is missing
        (["query", "Why?", "--mode", "hybird"], "hybrid"),
        (["keys", "creat", "x"], "create"),
        (["model", "chek", "x"], "check"),
    ],
)
def test_a_misspelt_word_is_answered_with_the_right_one(
    words: list[str], meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        build_parser().parse_args(words)
    assert left.value.code == 2
    assert f"did you mean {meant!r}" in capsys.readouterr().err


def test_a_word_like_nothing_gets_no_suggestion() -> None:
    assert did_you_mean("zzz", ["index", "query"]) == ""


def test_a_negative_number_and_a_text_that_begins_with_dashes_are_values() -> None:
    parsed = build_parser().parse_args(["query", "--a question-- with spaces", "--temperature", "-1"])
    assert parsed.question == "--a question-- with spaces"
    assert parsed.temperature == -1


def test_rare_options_are_in_the_full_help_only() -> None:
    parser = Parser(prog="x")
    parser.add_argument("--usual", help="often")
    parser.add_argument("--odd", help="seldom")
    rare(parser, "--odd")
    assert "seldom" not in parser.format_help() and "--help-all" in parser.format_help()
    assert "seldom" in parser.format_full_help() and "--help-all" not in parser.format_full_help()
    assert parser.parse_args(["--odd", "1"]).odd == "1"
    with pytest.raises(ValueError, match="--none"):
        rare(parser, "--none")


def test_a_former_name_works_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    parser = Parser(prog="x")
    renamed(parser, "--old", parser.add_argument("--new", type=int, default=3))
    switch = parser.add_argument("--no-thing", dest="thing", action="store_false")
    renamed(parser, "--not-thing", switch)
    assert vars(parser.parse_args([])) == {"new": 3, "thing": True}
    assert capsys.readouterr().err == ""
    assert vars(parser.parse_args(["--old", "5", "--not-thing"])) == {"new": 5, "thing": False}
    error = capsys.readouterr().err
    assert all(name in error for name in ("--old", "--new", "--not-thing", "--no-thing"))
    assert "--old" not in parser.format_full_help()


def test_options_of_a_nested_command_are_read_before_its_name_too() -> None:
    def declare(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--size", type=int, default=1)
        parser.add_argument("--tag", action="append", default=[])

    parser = Parser(prog="x")
    add_nested(parser, "action", [("make", "Make one.", declare)], default="make")
    for words in (
        ["--size", "2", "--tag", "a", "--tag", "b", "make", "n"],
        ["make", "n", "--size=2", "--tag=a", "--tag=b"],
    ):
        parsed = parser.parse_args(words)
        assert (parsed.action, parsed.name, parsed.size, parsed.tag) == ("make", "n", 2, ["a", "b"])
    assert parser.parse_args(["make", "n"]).size == 1


def test_an_error_gets_the_flag_of_the_command_that_has_one() -> None:
    parser = build_parser()
    several = UnnamedCollectionError("there are several collections: name one of a, b", ["a", "b"])
    assert "--" not in str(several)
    query = options_of(parser, parser.parse_args(["query", "Why?"]))
    assert with_flag(several, query).endswith("(--collection)")
    listed = options_of(parser, parser.parse_args(["collections", "verify", "a"]))
    assert with_flag(several, listed) == str(several)
    assert with_flag(PlumblineError("plain"), query) == "plain"


@pytest.mark.parametrize("error", [UnnamedCollectionError("several", ["a"]), UnknownCollectionError("hse", ["house"])])
def test_errors_with_data_cross_processes(error: PlumblineError) -> None:
    back = pickle.loads(pickle.dumps(error))
    assert (str(back), back.parameter, back.known) == (str(error), error.parameter, error.known)


def test_an_unknown_collection_comes_with_the_nearest_name() -> None:
    assert "did you mean 'handbook'" in str(UnknownCollectionError("handbok", ["handbook", "notes"]))
    assert "did you mean" not in str(UnknownCollectionError("x", ["handbook"]))


def test_choices_are_those_of_the_types() -> None:
    from typing import get_args

    from app.commands import choices
    from app.judging.run_judge import VerifierChoice
    from app.settings import Settings
    from generation.style.restyling import Style
    from retrieval.retriever import Fusion, Mode

    assert set(choices.MODES) == set(get_args(Mode))
    assert set(choices.FUSIONS) == set(get_args(Fusion))
    assert set(choices.STYLES) == set(get_args(Style))
    assert set(choices.VERIFIERS) == set(get_args(VerifierChoice))
    assert set(choices.CLAIM_VERIFIERS) < set(choices.VERIFIERS)
    fields = Settings.model_fields
    assert {"", *choices.PRECISIONS} == set(get_args(fields["precision"].annotation))
    assert set(choices.ENCODER_PRECISIONS) == set(get_args(fields["encoder_precision"].annotation))


DIFFER = {
    "--max-tokens": "keys: a limit of a key",
    "--export": "report writes kinds of logs, label one CSV file",
    "--format": "report writes, score and model eval read",
    "--verifier": "verify judges single claims",
    "--dtype": "train writes half precision, model check computes in full",
    "--port": "serve has a known one, label a free one",
    "--k": "retrieve lists what measures need",
    "--measure": "retrieve computes several, tune raises one",
    "--hold-out": "train pretrain holds out a share, the others named sources",
    "--queries": "a renamed option of prune",
    "--alone": "a renamed option of train reader",
    "--answers": "a renamed option of train verifier",
    "--together": "a renamed option of plan and train verifier",
    "--evidence": "a renamed option of score",
    "--development": "",
    "--learning-rate": "",
    "--synthetic": "",
    "--made": "",
    "--tokens": "",
    "--tokens-at-once": "",
    "--epochs": "train pretrain takes parts of a round",
    "--data": "several files to train on, one to evaluate on",
    "--arms": "evaluate runs three by default, the others take all that a run has",
    "--name": "evaluate names a run, collections import a collection",
    "--seed": "label goes on with the stored draw's",
    "--model": "evaluate compares two, train decoder needs a folder",
    "--generator": "as --model",
    "--skip-bad": "train verifier must know whether it was given",
    "--texts": "likewise",
    "--limit": "likewise",
    "--n": "evaluate draws samples, questions make counts questions",
    "--policy": "query runs several, calibrate names the one that a certificate is of",
    "--threshold": "judging has 0.5, query a policy's own",
    "--check": "train verifier counts steps, calibrate reads a certificate",
    "--unanswerable": "verify says it of one claim, questions make takes a share",
}
"""Options that commands of different kinds share by name, and why they differ; "": sizes of models."""


def test_an_option_is_the_same_in_every_command() -> None:
    specs: dict[str, set[tuple[object, ...]]] = {}
    for parser in ALL.values():
        for action in parser._actions:
            for flag in action.option_strings if action.default != argparse.SUPPRESS else ():
                choices = tuple(action.choices) if action.choices else ()
                specs.setdefault(flag, set()).add((choices, repr(action.default)))
    differing = {flag for flag, found in specs.items() if len(found) > 1 and len(flag) > 2}
    assert differing <= DIFFER.keys()
