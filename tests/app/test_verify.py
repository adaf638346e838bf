"""``plumbline verify``: one claim, or a stream of pairs, judged against the given evidence."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from app.cli import main
from app.errors import AppError
from app.judging.answer_judge import FAILURES_IN_A_ROW, JudgePlan
from app.judging.verification import ClaimChecker, ClaimPair, pairs_of
from data.refused import Refused
from evaluation.detection.baselines import TokenOverlapScorer
from evaluation.verifiers.evidence import EvidenceText
from evaluation.verifiers.layered_scorer import WrappingScorer
from model.pairs.scoring import Pair

NOTE = "Batteries are not covered. The warranty of the Heron 4 lasts for three years."
WITH = ("--verifier-model", "token-overlap")


@pytest.fixture
def note(tmp_path: Path) -> str:
    (tmp_path / "note.txt").write_text(NOTE)
    return str(tmp_path / "note.txt")


def out(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_a_claim_that_the_evidence_bears(note: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "--evidence", note, "The warranty lasts for three years.", *WITH, "--json"]) == 0
    (found,) = out(capsys)
    assert (found["label"], found["support"], found["weak"]) == ("supported", 1.0, [])
    (best,) = found["best"]
    assert NOTE[best["start"] : best["end"]] == best["text"] == "The warranty of the Heron 4 lasts for three years."


def test_a_claim_that_it_does_not_has_weak_words(note: str, capsys: pytest.CaptureFixture[str]) -> None:
    claim = "The warranty lasts for eleven purple centuries."
    arguments = ["verify", "--evidence", note, claim, *WITH, "--threshold", "0.8"]
    assert main([*arguments, "--json"]) == 0
    (found,) = out(capsys)
    assert found["label"] == "unverifiable"
    assert {claim[w["start"] : w["end"]] for w in found["weak"]} == {"eleven", "purple", "centuries"}
    assert main([*arguments, "--fail-unsupported"]) == 3
    shown = capsys.readouterr().out
    assert "unverifiable" in shown and "best evidence note.txt 27-77" in shown and '"purple" (+' in shown


def test_a_claim_of_several_sentences_is_as_good_as_its_worst(note: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "--evidence", note, f"{NOTE} Pelicans founded Zeppelin.", *WITH, "--json"]) == 0
    (found,) = out(capsys)
    assert [s["label"] for s in found["sentences"]] == ["supported", "supported", "unverifiable"]
    assert (found["label"], found["support"]) == ("unverifiable", 0.0)


def test_pairs_stream_in_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = [
        {"id": "a", "claim": "The warranty lasts.", "evidence": NOTE},
        {"id": 7, "claim": "Pelicans.", "evidence": ["Nothing.", NOTE], "question": "Who?"},
        {"claim": "...", "evidence": NOTE},
        {"claim": "It lasts.", "evidence": []},
    ]
    text = "".join(json.dumps(pair) + "\n\n" for pair in pairs)
    (tmp_path / "pairs.jsonl").write_text(text)
    assert main(["verify", "--pairs", str(tmp_path / "pairs.jsonl"), *WITH, "--json"]) == 4
    found = out(capsys)
    assert [f["label"] for f in found] == ["supported", "unverifiable", "unscored", "unscored"]
    assert [f.get("id") for f in found] == ["a", "7", None, None]
    assert [f["reason"] for f in found[2:]] == ["the claim has no letter and no digit", "there is no evidence"]
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    assert main(["verify", "--pairs", "-", *WITH, "--json"]) == 4
    assert out(capsys) == found


class Reading(WrappingScorer):
    """A scorer that supports every claim, like a reader that gave the answer itself."""

    name = "reading"

    def score(self, pairs: Sequence[Pair], progress: Callable[[int, int], None] | None = None) -> tuple[float, ...]:
        return (1.0,) * len(pairs)


def test_no_short_answer_is_read_to_a_question_that_the_evidence_does_not_answer() -> None:
    checker = ClaimChecker(JudgePlan(), load=lambda name, device: Reading(TokenOverlapScorer()))
    evidence = (EvidenceText("note", NOTE, 0),)
    pairs = [ClaimPair("Pelicans", evidence, "Who?", answerable=marked) for marked in (True, False, True)]
    assert [c.support for c in checker.check(pairs)] == [1.0, 0.0, 1.0]
    line = {"claim": "Pelicans", "evidence": NOTE, "question": "Who?"}
    lines = [{**line, "answerable": value} for value in (False, True, "no")]
    read = list(pairs_of((str(n), json.dumps(one)) for n, one in enumerate(lines)))
    assert [p.answerable for p in read if isinstance(p, ClaimPair)] == [False, True]
    assert isinstance(read[2], Refused) and '"answerable"' in str(read[2])


def test_one_claim_of_such_a_question(note: str, capsys: pytest.CaptureFixture[str]) -> None:
    """With the shipped verifier, a short answer that occurs in the evidence is read unless the question is marked."""
    arguments = ("verify", "--evidence", note, "three years", "--question", "How long are batteries covered?", "--json")
    main([*arguments])
    read = out(capsys)[0]
    main([*arguments, "--unanswerable"])
    separate = out(capsys)[0]
    assert read["verifier"] == separate["verifier"] and read["support"] != separate["support"]
    assert main([*arguments[:4], "--unanswerable"]) == 2
    assert "--unanswerable" in capsys.readouterr().err


def test_bad_lines_and_usage(tmp_path: Path, note: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text('{"claim": "It lasts.", "evidence": "It lasts."}\n{"claim": 1}\n')
    assert main(["verify", "--pairs", str(path), *WITH]) == 1
    err = capsys.readouterr().err
    assert "pairs.jsonl:2" in err and '"claim"' in err
    assert main(["verify", "--pairs", str(path), *WITH, "--skip-bad"]) == 0
    assert "1 bad" in capsys.readouterr().err
    path.write_text("\n")
    assert main(["verify", "--pairs", str(path), *WITH]) == 1
    for wrong in (
        [],
        ["a claim"],
        ["--evidence", note],
        ["--evidence", note, "..."],
        ["--pairs", str(path), "--evidence", note],
        ["--evidence", note, "a claim", "--threshold", "2"],
    ):
        assert main(["verify", *wrong, *WITH]) == 2
    assert main(["verify", "--evidence", str(tmp_path / "none.txt"), "a claim", *WITH]) == 1


class Sometimes(TokenOverlapScorer):
    """A scorer that gives NaN for claims about pelicans."""

    def score(self, pairs: Sequence[Pair], progress: Callable[[int, int], None] | None = None) -> tuple[float, ...]:
        bad = [math.nan if "pelican" in pair.claim else s for pair, s in zip(pairs, super().score(pairs), strict=True)]
        return tuple(bad)


def test_a_scorer_that_fails_on_a_claim_leaves_it_unscored_and_one_that_fails_on_all_ends_it() -> None:
    checker = ClaimChecker(JudgePlan(), load=lambda name, device: Sometimes())
    evidence = (EvidenceText("note", NOTE, 0),)
    good, bad = ClaimPair("The warranty lasts.", evidence), ClaimPair("A pelican lasts.", evidence)
    labels = [c.label for c in checker.check([good, bad, good])]
    assert labels == ["supported", "unscored", "supported"]
    with pytest.raises(AppError, match="in a row"):
        checker.check([bad] * (FAILURES_IN_A_ROW + 1))
