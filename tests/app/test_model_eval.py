"""``plumbline model eval``: every kind of model and file, output, messages and exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import app.models.evaluate as model_evaluation
from app.cli import main
from app.models.evaluation_data import file_format
from data.errors import DataError
from model.pairs.scoring import Pair, PairScorer

Eval = Callable[..., SimpleNamespace]

PAIRS: list[dict[str, Any]] = [
    {
        "evidence": f"Lamp {n} of the harbour is green and {n} metres high.",
        "claim": claim,
        "supported": good,
        "source": s,
    }
    for n in range(1, 13)
    for claim, good, s in (
        (f"Lamp {n} is green.", True, "lamps"),
        (f"Lamp {n} sings opera loudly.", False, "lamps"),
        (f"The lamp is {n} metres high.", True, "heights"),
        (f"It towers {n + 70} feet over Bergen.", False, "heights"),
    )
]
READING: list[dict[str, Any]] = [
    {"question": f"How high is lamp {n}?", "context": f"Lamp {n} is {n} metres high.", "answers": [f"{n} metres"]}
    for n in range(3)
] + [{"question": "Who paid?", "context": "Lamp 9 is red.", "answers": [], "answerable": False}]


@pytest.fixture
def evaluate(capsys: pytest.CaptureFixture[str]) -> Eval:
    def run(*arguments: object) -> SimpleNamespace:
        capsys.readouterr()
        try:
            code = main(["model", "eval", *map(str, arguments)])
        except SystemExit as error:  # argparse leaves this way
            code = int(error.code or 0)
        captured = capsys.readouterr()
        return SimpleNamespace(code=code, out=captured.out, err=" ".join(captured.err.split()))

    return run


def write(path: Path, lines: Sequence[object]) -> Path:
    path.write_text("\n".join(x if isinstance(x, str) else json.dumps(x) for x in lines), "utf-8")
    return path


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    return write(tmp_path / "pairs.jsonl", PAIRS)


@pytest.fixture
def ragtruth(tmp_path: Path) -> Path:
    folder = tmp_path / "rag"
    folder.mkdir()
    sources = [
        {"source_id": str(n), "task_type": task, "source_info": f"Lamp {n} of the harbour is green."}
        for n, task in enumerate(["QA", "Summary"] * 6)
    ]
    responses = []
    for n in range(12):
        base = {"source_id": str(n), "model": "m", "split": "test" if n else "train", "quality": "good"}
        good, bad = f"Lamp {n} is green.", f"Lamp {n} is green. Opera singers built Bergen."
        span = {"start": bad.index("Opera"), "end": len(bad), "text": "x", "label_type": "Evident Baseless Info"}
        responses.append({**base, "id": f"{n}a", "response": good, "labels": []})
        responses.append({**base, "id": f"{n}b", "response": bad, "labels": [span]})
    responses.append({**base, "id": "c", "response": "Unable to answer based on given passages.", "labels": []})
    write(folder / "source_info.jsonl", sources)
    write(folder / "response.jsonl", responses)
    return folder


def test_a_verifier_on_pairs_ends_in_one_json_line(evaluate: Eval, pairs: Path) -> None:
    ran = evaluate("token-overlap", "--data", pairs, "--json")
    assert ran.code == 0
    assert ran.out.count("\n") == 1
    found = json.loads(ran.out)
    assert (found["name"], found["kind"], found["format"], found["n"]) == ("token-overlap", "verifier", "pairs", 48)
    for name in ("auroc", "balanced_accuracy", "f1_hallucinated", "calibration_error", "pairs_per_second"):
        figure = found[name]
        assert 0 <= figure["lower"] <= figure["estimate"] <= figure["upper"]
    assert [s["source"] for s in found["sources"]] == ["heights", "lamps"]
    assert found["auroc"]["estimate"] == 1.0 > found["auroc"]["lower"]
    assert found["best_threshold"]["chosen_on_this_data"] is True
    assert found["fingerprint"] and found["data"] == str(pairs)
    again = json.loads(evaluate("token-overlap", "--data", pairs, "--json").out)
    assert {**again, "pairs_per_second": 0} == {**found, "pairs_per_second": 0}


def test_a_table_for_people(evaluate: Eval, pairs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    ran = evaluate("token-overlap", "--data", pairs)
    assert ran.code == 0
    assert "\x1b" not in ran.out
    for expected in ("AUROC", "mean of sources", "lamps", "heights", "all", "pairs/s", "chosen on the same data"):
        assert expected in ran.out
    assert max(map(len, ran.out.splitlines())) <= 92


def test_responses_are_judged_per_response_and_per_span(evaluate: Eval, ragtruth: Path) -> None:
    ran = evaluate("token-overlap", "--data", ragtruth, "--json", "--words")
    found = json.loads(ran.out)
    assert ran.code == 0
    assert (found["format"], found["split"], found["n"], found["abstained"]) == ("ragtruth", "test", 23, 1)
    assert found["auroc"]["estimate"] == found["spans"]["f1"]["estimate"] == 1.0
    assert {s["source"] for s in found["sources"]} == {"QA", "Summary"}
    assert found["word_spans"]["recall"]["estimate"] is not None
    everything = json.loads(
        evaluate("token-overlap", "--data", ragtruth / "response.jsonl", "--json", "--split", "all").out
    )
    assert everything["n"] == 25
    first = evaluate("token-overlap", "--data", ragtruth, "--limit", "3", "--json")
    assert (json.loads(first.out)["n"], json.loads(first.out)["limit"]) == (3, 3)
    assert "precision" in evaluate("token-overlap", "--data", ragtruth).out


@pytest.mark.parametrize("layout", ["reading", "squad"])
def test_a_reader_ends_in_one_json_line(evaluate: Eval, reader_folder: Path, tmp_path: Path, layout: str) -> None:
    path = write(tmp_path / "q.jsonl", READING)
    if layout == "squad":
        paragraphs = [
            {
                "context": r["context"],
                "qas": [
                    {
                        "id": r["question"],
                        "question": r["question"],
                        "answers": [{"text": a, "answer_start": 0} for a in r["answers"]],
                        "is_impossible": not r["answers"],
                    }
                ],
            }
            for r in READING
        ]
        path = tmp_path / "q.json"
        path.write_text(json.dumps({"data": [{"title": "Lamps", "paragraphs": paragraphs}]}, indent=2))
    ran = evaluate(reader_folder, "--data", path, "--json", "--max-tokens", "4")
    assert ran.code == 0
    found = json.loads(ran.out)
    assert (found["kind"], found["format"], found["n"], found["answerable"]) == ("reader", layout, 4, 3)
    for name in ("f1", "em", "no_answer_accuracy"):
        figure = found[name]
        assert 0 <= figure["lower"] <= figure["estimate"] <= figure["upper"] <= 1
    assert found["answers_per_second"]["estimate"] > 0
    assert len(found["sources"]) == 1
    assert "answers/s" in evaluate(reader_folder, "--data", path, "--max-tokens", "2").out


class Constant:
    """A scorer that gives every claim the same high support."""

    name = "constant/1"

    def room(self, claim: str, question: str = "") -> int:
        return 50

    def count(self, texts: Sequence[str]) -> Sequence[int]:
        return [len(text.split()) for text in texts]

    def score(self, pairs: Sequence[Pair], progress: Callable[[int, int], None] | None = None) -> tuple[float, ...]:
        return (0.75,) * len(pairs)


def test_a_trained_verifiers_folder(
    evaluate: Eval, pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Path | None] = []

    def load(folder: Path | None, device: str) -> PairScorer:
        opened.append(folder)
        return Constant()

    monkeypatch.setattr(model_evaluation, "_support_scorer", load)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "verifier.json").write_text("{}")
    for name in ("verifier-network", tmp_path / "mine"):
        ran = evaluate(name, "--data", pairs, "--json")
        assert ran.code == 0
        assert json.loads(ran.out)["auroc"]["estimate"] == 0.5
    assert opened == [None, tmp_path / "mine"]


class Reader(Constant):
    """A scorer that reads entire answers, and gives higher support if it does."""

    answer_tokens = 100

    def score(self, pairs: Sequence[Pair], progress: Callable[[int, int], None] | None = None) -> tuple[float, ...]:
        return tuple(0.75 if pair.answer else 0.25 for pair in pairs)


def test_responses_are_read_together_or_alone(evaluate: Eval, ragtruth: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_evaluation, "_support_scorer", lambda folder, device: Reader())
    base = ("verifier-network", "--data", ragtruth, "--json")
    together, alone = (json.loads(evaluate(*base, *more).out) for more in ((), ("--alone",)))
    assert together["f1_hallucinated"]["estimate"] == 0.0  # believes all of them
    assert alone["f1_hallucinated"]["estimate"] > 0.5


def test_unscored_pairs_are_counted_and_the_exit_code_says_so(evaluate: Eval, tmp_path: Path) -> None:
    blank = {**PAIRS[0], "claim": "  "}
    path = write(tmp_path / "a.jsonl", [*PAIRS, blank, {**PAIRS[1], "claim": "..."}])
    ran = evaluate("token-overlap", "--data", path, "--json")
    found = json.loads(ran.out)
    assert ran.code == 4
    assert (found["n"], found["unscored"]) == (48, 2)
    assert "NaN" not in ran.out
    assert "unscored" in ran.err and "empty" in ran.err
    bad = write(tmp_path / "b.jsonl", [*PAIRS, blank, {**PAIRS[0], "supported": "yes"}, "{"])
    assert evaluate("token-overlap", "--data", bad).code == 1
    skipped = evaluate("token-overlap", "--data", bad, "--skip-bad", "--json")
    assert (json.loads(skipped.out)["skipped"], json.loads(skipped.out)["unscored"]) == (2, 1)
    assert "b.jsonl:50" in skipped.err


def test_what_does_not_go_together_or_is_not_there(evaluate: Eval, pairs: Path, tmp_path: Path) -> None:
    reading = write(tmp_path / "reading.jsonl", READING)
    empty = write(tmp_path / "empty.jsonl", [])
    strange = write(tmp_path / "strange.jsonl", [{"a": 1}])
    label = write(tmp_path / "label.jsonl", [PAIRS[0], {**PAIRS[0], "supported": "maybe"}])
    broken = write(tmp_path / "broken.jsonl", [PAIRS[0], "{"])
    (tmp_path / "nothing").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "config.json").write_text('{"architectures": ["T5Model"]}')
    cases: list[tuple[Sequence[object], int, str]] = [
        (["reader", "--data", pairs], 2, "reader"),
        (["token-overlap", "--data", reading], 2, "token-overlap"),
        (["nonsense", "--data", pairs], 1, "minilm-cosine"),
        (["./no/such", "--data", pairs], 1, "./no/such"),
        ([tmp_path / "nothing", "--data", pairs], 1, "verifier.json"),
        ([tmp_path / "other", "--data", pairs], 1, "T5Model"),
        (["token-overlap", "--data", tmp_path / "none.jsonl"], 1, "none.jsonl"),
        (["token-overlap", "--data", empty], 1, "empty.jsonl"),
        (["token-overlap", "--data", strange], 1, "strange.jsonl"),
        (["token-overlap", "--data", tmp_path / "nothing"], 1, "response.jsonl"),
        (["token-overlap", "--data", label], 1, "label.jsonl:2: supported"),
        (["token-overlap", "--data", broken], 1, "broken.jsonl:2:"),
        (["token-overlap", "--data", pairs, "--split", "test"], 2, "--split test"),
        (["token-overlap", "--data", pairs, "--limit", "0"], 2, "--limit is 0"),
        (["token-overlap", "--data", pairs, "--seed", "-1"], 2, "--seed is -1"),
        (["token-overlap", "--data", pairs, "--format", "ragtruth"], 1, "RAGTruth"),
        (["token-overlap"], 2, "--data"),
    ]
    for arguments, code, expected in cases:
        ran = evaluate(*arguments, "--json")
        assert (ran.code, ran.out) == (code, ""), ran.err
        assert expected in ran.err
        assert "Traceback" not in ran.err


@pytest.mark.drill
def test_questions_may_name_their_passages(evaluate: Eval, reader_folder: Path, tmp_path: Path) -> None:
    text = "The canal was opened in 1843 by the mayor of Osk."
    excerpt = {"document": "9", "start": 0, "end": len(text), "sha256": sha256(text.encode()).hexdigest()}
    named = [{"question": "Who opened it?", "answers": ["the mayor of Osk"], "excerpt": excerpt} for _ in range(3)]
    copied = [{**line, "context": text, "title": "Canal"} for line in named]
    for line in copied:
        del line["excerpt"]
    documents = write(tmp_path / "d.jsonl", [{"id": "9", "title": "Canal", "text": text}])
    by_name, by_copy = write(tmp_path / "named.jsonl", named), write(tmp_path / "copied.jsonl", copied)
    first = json.loads(evaluate(reader_folder, "--data", by_name, "--texts", documents, "--json").out)
    second = json.loads(evaluate(reader_folder, "--data", by_copy, "--json").out)
    assert (first["n"], first["f1"]) == (second["n"], second["f1"])
    missing = evaluate(reader_folder, "--data", by_name)
    assert missing.code == 1
    assert "named.jsonl:1" in missing.err
    assert "--texts" in missing.err


def test_texts_are_for_questions(evaluate: Eval, pairs: Path) -> None:
    ran = evaluate("token-overlap", "--data", pairs, "--texts", pairs)
    assert ran.code == 2
    assert "--texts" in ran.err


def test_layouts_are_told_by_content_even_behind_broken_lines(tmp_path: Path, ragtruth: Path) -> None:
    assert file_format(write(tmp_path / "a", ["{", *PAIRS])) == "pairs"
    assert file_format(write(tmp_path / "b", READING)) == "reading"
    assert file_format(write(tmp_path / "c", [{"data": []}])) == "squad"
    assert file_format(ragtruth / "response.jsonl") == file_format(ragtruth) == "ragtruth"
    with pytest.raises(DataError, match="--format NAME"):
        file_format(write(tmp_path / "d", ["{", "{"]))


def test_sources_with_any_name_are_shown_as_they_are(evaluate: Eval, tmp_path: Path) -> None:
    """Neither markup of the table library nor control characters take effect."""
    rows = [
        {
            "evidence": "The cable is red.",
            "claim": f"The cable is {colour}.",
            "supported": colour == "red",
            "source": name,
        }
        for name in ("[/bold] x", "[red]", "\x1b[2Jy\nz", ":smile:")
        for colour in ("red", "blue")
    ]
    ran = evaluate("token-overlap", "--data", str(write(tmp_path / "pairs.jsonl", rows)))
    assert ran.code in (0, 4), ran.err
    for name in ("[/bold] x", "[red]", "\\x1b[2Jy z", ":smile:"):
        assert name in ran.out
    assert "\x1b" not in ran.out


def test_help_names_models_and_files(evaluate: Eval) -> None:
    ran = evaluate("--help")
    assert ran.code == 0
    for expected in ("RAGTruth", "SQuAD", "token-overlap", "--supported-label", "--claim-first", "unscored"):
        assert expected in ran.out
