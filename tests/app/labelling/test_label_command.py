"""``plumbline label``: terminal, files, status, several annotators, and rejected input."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.labelling.draws import DrawRequest, open_draw
from app.labelling.sessions import LabelSession
from app.pipeline import Pipeline

Run = Callable[..., Any]


def fill(source: Path, target: Path, label: Callable[[str], str], most: int | None = None) -> Path:
    """Fill in the labels of the first lines of the exported file, by answer."""
    with source.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows[:most]:
        row["label"] = label(row["answer"])
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    return target


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Function that types keys, one per line."""
    return lambda typed: monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(typed) + "\n"))


def test_keys_label_one_after_the_other_and_a_later_call_goes_on(
    plumbline: Run, world: Any, keys: Callable[[str], None]
) -> None:
    run_id = world.store()
    keys("shxbau")
    first = plumbline("label", run_id[:6], "--questions", "10", "--json")
    assert first.code == 0
    assert json.loads(first.out[first.out.rindex('{"run"') :])["labelled"] == 4
    assert "'x'" in first.err
    with Pipeline(world.settings()) as pipeline:
        session = LabelSession(pipeline.store, open_draw(pipeline, run_id, DrawRequest()), "me")
        own = session.own()
        # s, h, then (x) back to the second: a, then u for the third.
        assert [own.get(item.key) for item in session.items[:4]] == ["supported", "abstained", "unscored", None]
        assert session.first_open() == 3
    keys("q")
    again = plumbline("label", run_id)
    assert "── 4 of 20 " in again.out and "3 of 20 answers have a label" in again.out
    keys("s" * 30)
    assert "20 of 20 answers have a label" in plumbline("label", run_id).out
    keys("s")
    done = plumbline("label", run_id)
    assert "── " not in done.out and f"plumbline report {run_id}" in done.err


def test_what_is_shown_is_blind_and_has_no_power_over_the_terminal(
    plumbline: Run, world: Any, keys: Callable[[str], None]
) -> None:
    run_id = world.store()
    keys("s" * 240)
    shown = plumbline("label", run_id, "--questions", "120")
    assert "240 of 240" in shown.out
    items = shown.out[: shown.out.rindex("run ")]
    assert "rag" not in items and "closed_book" not in items and "[1]" not in items and "contradicted" not in items
    assert not set(shown.out) & set("\x1b\x07\u202e") and "<script>alert(1)</script>\ufffd[2J" in items
    assert "value 7" in items and "evidence of q007" in items


@pytest.mark.drill
def test_a_file_goes_out_comes_back_and_corrects_the_report(
    plumbline: Run, world: Any, read_truth: Any, tmp_path: Path
) -> None:
    run_id, file = world.store(), tmp_path / "labels.csv"
    exported = json.loads(plumbline("label", run_id, "--questions", "80", "--export", str(file), "--json").out)
    assert exported["exported"] == exported["items"] == 160
    assert json.loads(plumbline("report", run_id, "--json").out).get("corrected") is None
    done = fill(file, tmp_path / "done.csv", read_truth)
    read = plumbline("label", run_id, "--import", str(done))
    assert read.code == 0 and "160 labels" in read.err
    page = tmp_path / "report.html"
    report = plumbline("report", run_id, "--report", str(page))
    assert "Corrected by labels of 80 of 120 questions" in report.out and "Rogan-Gladen" in report.out
    document = json.loads(plumbline("report", run_id, "--json").out)["corrected"]["run"]
    for arm, rate in zip(document["arms"], (0.45, 0.225), strict=True):
        headline = arm["hallucinated"][arm["hallucinated"]["headline"]]
        # 0.9 of the question rates' means; four standard errors of the widest: a fixed seed, so no false alarm.
        assert headline["rate"] == pytest.approx(rate, abs=0.22)
        assert arm["labelled"] == 80 and arm["disagreements"] > 0
    html = page.read_text("utf-8")
    assert 'href="#corrected"' in html and "Only the figures under “Corrected by labels” are corrected" in html
    assert "<script>alert" not in html
    for layout, part in (("csv", "corrected (headline)"), ("markdown", "## Corrected by labels")):
        assert part in plumbline("report", run_id, "--format", layout).out


@pytest.mark.drill
def test_gates_name_corrected_figures_and_fail_without_labels(
    plumbline: Run, world: Any, read_truth: Any, tmp_path: Path
) -> None:
    run_id, file = world.store(), tmp_path / "labels.csv"
    gate = ("--fail-if", "corrected_hall_rag.upper > 0.99")
    without = plumbline("report", run_id, *gate)
    assert without.code == 3 and "labelled" in without.err
    plumbline("label", run_id, "--questions", "40", "--export", str(file))
    plumbline("label", run_id, "--import", str(fill(file, file, read_truth)))
    assert plumbline("report", run_id, *gate).code == 0
    assert plumbline("report", run_id, "--fail-if", "corrected_diff_closed_book_rag < 0.9").code == 3
    unknown = plumbline("report", run_id, "--fail-if", "corrected_hall_oracle > 0")
    assert unknown.code == 2 and "corrected_hall_answered_rag" in unknown.err


@pytest.mark.drill
def test_two_people_disagree_and_a_third_settles_it(
    plumbline: Run, world: Any, read_truth: Any, tmp_path: Path, keys: Callable[[str], None]
) -> None:
    run_id, file = world.store(), tmp_path / "labels.csv"
    plumbline("label", run_id, "--questions", "20", "--export", str(file))
    fill(file, tmp_path / "bo.csv", lambda answer: "h")
    plumbline("label", run_id, "--import", str(fill(file, tmp_path / "ann.csv", read_truth)), "--annotator", "ann")
    plumbline("label", run_id, "--import", str(tmp_path / "bo.csv"), "--annotator", "bo")
    status = json.loads(plumbline("label", run_id, "--status", "--json").out)
    kappa, alpha = status["agreement"]
    assert kappa["annotators"] == ["ann", "bo"] and kappa["items"] == alpha["items"] == 40
    assert status["disputed"] == status["ties"] > 10
    keys("h" * status["disputed"])
    settled = plumbline("label", run_id, "--adjudicate", "--annotator", "cy")
    assert f"── 1 of {status['disputed']} " in settled.out
    assert f"cy: 0, {status['disputed']} disagreements resolved" in settled.out
    after = json.loads(plumbline("label", run_id, "--status", "--json").out)
    assert (after["disputed"], after["ties"]) == (0, 0)
    rows = json.loads(plumbline("report", run_id, "--json").out)["corrected"]
    assert [a["positives"] for a in rows["run"]["arms"]] == [20, 20]  # all settled as bo said
    assert "Krippendorff's alpha" in plumbline("report", run_id).out


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("ffffffffffff,h", "'ffffffffffff'"),
        ("{first},perhaps", "'perhaps'"),
        ("{first},h\n{first},s", "line 2"),
    ],
)
def test_an_impossible_file_is_refused_whole(
    plumbline: Run, world: Any, tmp_path: Path, line: str, expected: str
) -> None:
    run_id, file = world.store(), tmp_path / "labels.csv"
    plumbline("label", run_id, "--questions", "10", "--export", str(file))
    with file.open(encoding="utf-8-sig", newline="") as source:
        first, good = [row["item"] for row in csv.DictReader(source)][:2]
    file.write_text(f"item,label\n{line.format(first=first)}\n{good},s\n", "utf-8")
    read = plumbline("label", run_id, "--import", str(file))
    assert read.code == 1 and expected in read.err
    assert json.loads(plumbline("label", run_id, "--status", "--json").out)["labelled_items"] == 0


def test_a_draw_grows_and_is_not_changed_behind_ones_back(plumbline: Run, world: Any, tmp_path: Path) -> None:
    run_id, file, more = world.store(), tmp_path / "few.csv", tmp_path / "more.csv"
    plumbline("label", run_id, "--questions", "10", "--seed", "4", "--arms", "rag", "--export", str(file))
    plumbline("label", run_id, "--questions", "25", "--export", str(more))
    few, many = (path.read_text("utf-8-sig").splitlines() for path in (file, more))
    assert many[: len(few)] == few and len(many) == 26
    for options in (("--seed", "5"), ("--arms", "closed_book,rag"), ("--stratify",)):
        refused = plumbline("label", run_id, "--status", *options)
        assert refused.code == 2 and "--redraw" in refused.err
    assert plumbline("label", run_id, "--status", "--questions", "121").code == 2
    again = plumbline("label", run_id, "--status", "--redraw", "--arms", "closed_book,rag", "--stratify", "--json")
    assert json.loads(again.out)["items"] == 120


@pytest.mark.parametrize(
    ("options", "code", "expected"),
    [
        (("nothere",), 1, "'nothere'"),
        (("RUN", "--questions", "1"), 1, "120"),
        (("RUN", "--questions", "121"), 1, "120"),
        (("RUN", "--arms", "oracle"), 1, "'oracle'"),
        (("RUN", "--seed", "-1"), 2, "--seed -1"),
        (("RUN", "--annotator", "a\x1b"), 1, "printable"),
        (("RUN", "--import", "/no/such/file.csv"), 1, "/no/such/file.csv"),
        (("RUN", "--export", "/no/such/folder/x.csv"), 1, "/no/such/folder"),
        (("RUN", "--web", "--port", "70000"), 2, "--port 70000"),
        (("RUN", "--web", "--status"), 2, "--web"),
    ],
)
def test_bad_arguments_get_one_clear_message(
    plumbline: Run, world: Any, options: tuple[str, ...], code: int, expected: str
) -> None:
    run_id = world.store()
    found = plumbline("label", *(run_id if o == "RUN" else o for o in options))
    assert found.code == code and all(word in found.err for word in expected.split()) and "Traceback" not in found.err


def test_a_run_that_is_not_finished_is_not_labelled(plumbline: Run, world: Any) -> None:
    found = plumbline("label", world.store("interrupted"))
    assert found.code == 1 and "interrupted" in found.err
