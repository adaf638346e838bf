"""``plumbline watch``: rates by certificate, alarms with their exit codes, labels, and rejected input."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from app.accounts.tenants import tenant_collections
from app.home.query_age import prune_audits
from app.watching.status import Watching
from data.columns import utc_now
from data.documents import Document
from evaluation.audits.audit_store import AuditLabel, AuditStore
from tests.app.watching.conftest import QUESTIONS, WAYS

Watch = Callable[..., SimpleNamespace]
OTHERS = tuple(f"Which composer wrote the symphony number {n} in a minor key?" for n in range(60))


def only(ran: SimpleNamespace) -> dict[str, Any]:
    """Return the only watch of the only collection."""
    (collection,) = json.loads(ran.out)["data"]
    (found,) = collection["watches"]
    return dict(found)


def test_nothing_is_watched_before_a_certificate_or_an_audit(watch: Watch) -> None:
    ran = watch("status")
    assert ran.code == 0 and ran.out == "" and "--audit-rate" in ran.err
    assert json.loads(watch("--json").out)["data"] == []


def test_a_certificate_is_watched_from_its_first_day(watch: Watch, watched: Any) -> None:
    certificate = watched.certify()
    found = only(watch("status", "--json"))
    assert found["certificate"] == certificate.id and found["valid"] and found["alarms"] == []
    assert (found["audits"]["drawn"], found["rate"]["estimate"]) == (0, None)
    assert (found["rate"]["lower"], found["rate"]["upper"], found["rate"]["alarm"]) == (0.0, 1.0, False)
    text = watch("status")
    assert "never renews" in text.err and "not checked" in text.out and "no labelled answer yet" in text.out


def test_hallucinated_audits_raise_the_alarm_with_exit_code_3(watch: Watch, watched: Any) -> None:
    certificate = watched.certify()
    watched.audit(certificate.id, ["q"] * 20, "supported")
    quiet = watch("status", "notes", "--json")
    assert quiet.code == 0 and only(quiet)["rate"]["estimate"] == 0.0 and only(quiet)["rate"]["upper"] < 0.3
    watched.audit(certificate.id, ["q"] * 12, "hallucinated")
    ran = watch("status", certificate.id, "--json")
    rate = only(ran)["rate"]
    assert ran.code == 3 and only(ran)["alarms"] == ["rate"] and rate["alarm"]
    assert rate["estimate"] == pytest.approx(12 / 32) and 20 < rate["raised_after"] <= 32
    assert json.loads(ran.out)["alarms"] == [f"notes {certificate.id} rate"]
    assert "ALARM: above 10 %" in watch("status").out


def test_answers_without_a_certificate_have_a_rate_and_no_alarm(watch: Watch, watched: Any) -> None:
    watched.audit("", ["q"] * 30, "hallucinated")
    ran = watch("status", "--json")
    found = only(ran)
    assert ran.code == 0 and found["certificate"] is None and found["rate"]["alarm"] is None
    assert found["rate"]["estimate"] == 1.0 and found["rate"]["lower"] > 0.7


def test_an_answer_without_a_label_holds_up_those_behind_it(watch: Watch, watched: Any) -> None:
    certificate = watched.certify()
    first, *_ = watched.audit(certificate.id, ["q"] * 3)
    watched.audit(certificate.id, ["q"] * 12, "hallucinated")
    held = only(watch("status", "--json"))
    assert (held["audits"]["waiting"], held["audits"]["behind"], held["audits"]["counted"]) == (3, 12, 0)
    labels = [AuditLabel(first + place, "bob", "unscored") for place in range(3)]
    AuditStore(watched.line.store).save_labels(labels, utc_now())
    ran = watch("status", "--json")
    assert ran.code == 3 and only(ran)["audits"]["counted"] == 15  # people could not tell: counts as hallucinated


def test_pruned_audits_keep_their_figures_and_lapse_without_a_label(watch: Watch, watched: Any) -> None:
    certificate = watched.certify()
    watched.audit(certificate.id, ["q"] * 4, "hallucinated", days=-100)
    watched.audit(certificate.id, ["q"] * 2, days=-100)
    watched.audit(certificate.id, ["q"] * 2, "supported")
    before = only(watch("status", "--json"))
    assert before["audits"]["counted"] == 4 and before["audits"]["waiting"] == 2
    prune_audits(watched.line.store, timedelta(days=90))
    after = only(watch("status", "--json"))
    assert after["audits"]["counted"] == 6 and after["audits"]["lapsed"] == 2 and after["audits"]["waiting"] == 0
    assert after["rate"]["estimate"] == pytest.approx(4 / 6)


def test_withheld_answers_count_for_the_answer_rate_only(watch: Watch, watched: Any) -> None:
    certificate = watched.certify()
    watched.audit(certificate.id, ["q"] * 6, "abstained")
    watched.audit(certificate.id, ["q"] * 2, answered=False)
    found = only(watch("status", "--json"))
    assert found["answer_rate"] == {"certified": 0.8, "in_service": 0.75}
    assert (found["audits"]["declined"], found["audits"]["withheld"], found["rate"]["estimate"]) == (6, 2, None)


def test_questions_unlike_those_of_the_calibration_raise_their_own_alarm(watch: Watch, watched: Any) -> None:
    certificate = watched.certify(watched.run())
    like = [way.format(thing) for thing in ("crane", "hinge", "spring", "piston", "belt") for way in WAYS]
    watched.audit(certificate.id, like, "supported")
    quiet = only(watch("status", "--json"))
    assert quiet["questions"]["seen"] == len(like) and quiet["questions"]["alarm"] is False
    watched.audit(certificate.id, OTHERS, "supported")
    ran = watch("status", "--json")
    found = only(ran)
    assert ran.code == 3 and found["alarms"] == ["questions"] and found["rate"]["alarm"] is False
    assert len(like) < found["questions"]["raised_after"] <= len(like) + len(OTHERS)
    stored = AuditStore(watched.line.store).load("notes")
    assert all(audit.distance is not None for audit in stored)
    assert "ALARM: unlike the calibration's" in watch("status").out


@pytest.mark.parametrize(("questions", "reason"), [(QUESTIONS[:20], "20 questions"), (None, "no longer stored")])
def test_a_calibration_that_cannot_be_compared_is_named(
    watch: Watch, watched: Any, questions: tuple[str, ...] | None, reason: str
) -> None:
    certificate = watched.certify(watched.run(questions) if questions else "gone")
    watched.audit(certificate.id)
    found = only(watch("status", "--json"))
    assert found["questions"]["alarm"] is None and reason in found["questions"]["reason"]


def test_a_void_certificate_says_why_and_one_that_was_edited_raises_no_alarm(watch: Watch, watched: Any) -> None:
    certificate = watched.certify()
    watched.audit(certificate.id, ["q"] * 12, "hallucinated")
    watched.line.index("notes", [Document("new", "New", "The warranty was changed.")])
    ran = watch("status", "--json")
    assert ran.code == 3 and not only(ran)["valid"] and "collection" in only(ran)["problems"][0]
    path = watched.line.home / "certificates" / f"{certificate.id}.json"
    path.write_text(path.read_text().replace('"alpha": 0.1', '"alpha": 0.9'))
    edited = only(watch("status", "--json"))
    assert edited["problems"] == ["edited after it was signed: alpha"] and edited["rate"]["alarm"] is None
    path.unlink()
    assert "no longer in this home" in only(watch("status", "--json"))["problems"][0]


def test_a_clock_that_was_set_back_is_an_error(watch: Watch, watched: Any) -> None:
    watched.audit("", label="supported", days=2)
    ran = watch("status", "--json")
    assert ran.code == 1 and "clock was set back" in ran.err
    assert "set back" in json.loads(ran.out)["data"][0]["clock"]
    assert "set back" in watch("status").err


def test_the_order_of_audits_is_not_that_of_the_clock(watched: Any) -> None:
    later, earlier = watched.audit("", ["a"], days=1), watched.audit("", ["b"], days=-1)
    numbers = [audit.number for audit in AuditStore(watched.line.store).load("notes")]
    assert numbers == [*later, *earlier]


def test_unknown_names_are_refused(watch: Watch, watched: Any) -> None:
    ran = watch("status", "nots")
    assert ran.code == 1 and "'nots'" in ran.err and "notes" in ran.err
    assert watch("label", "nots").code == 1
    assert watch("label").code == 2
    assert watch("anchors", "0" * 16).code == 1 and watch("anchors").code == 1


def test_a_reading_is_computed_again_only_if_something_changed(watched: Any) -> None:
    own = tenant_collections(watched.line.store, "")
    watching = Watching(watched.line)
    numbers = watched.audit("", ["q"] * 3, "supported")
    first = watching.status(own)[0].watches[0].reading
    assert watching.status(own)[0].watches[0].reading is first
    store = AuditStore(watched.line.store)
    store.save_labels([AuditLabel(numbers[0], "ann", "hallucinated")], utc_now())
    assert watching.status(own)[0].watches[0].reading.watch.rate == pytest.approx(1 / 3)


def test_labels_go_out_and_come_back_as_csv(watch: Watch, watched: Any, tmp_path: Path) -> None:
    certificate = watched.certify()
    watched.audit(certificate.id, [f"Question {n}?" for n in range(6)])
    watched.audit(certificate.id, ["Withheld?"], answered=False)
    file = tmp_path / "labels.csv"
    assert watch("label", "notes", "--export", file).code == 0
    with file.open(newline="", encoding="utf-8-sig") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["question"] for row in rows] == [f"Question {n}?" for n in range(6)]
    assert "lasts for three years" in rows[0]["evidence"] and "Batteries" in rows[0]["evidence"]
    shown = file.read_text(encoding="utf-8-sig")
    assert certificate.id not in shown and "abstain" not in shown and "0.7" not in shown
    for row in rows:
        row["label"] = "hallucinated" if row["question"] == "Question 2?" else "supported"
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    assert "6 labels of ann imported" in watch("label", "notes", "--import", file, "--annotator", "ann").err
    assert only(watch("status", "--json"))["rate"]["estimate"] == pytest.approx(1 / 6)
    file.write_text(file.read_text().replace("hallucinated", "wrong"))
    refused = watch("label", "notes", "--import", file)
    assert refused.code == 1 and "wrong" in refused.err


def test_disagreements_are_settled(watch: Watch, watched: Any) -> None:
    (number,) = watched.audit("", ["q"], "supported")
    store = AuditStore(watched.line.store)
    store.save_labels([AuditLabel(number, "bob", "hallucinated")], utc_now())
    tied = only(watch("status", "--json"))
    assert tied["rate"]["estimate"] == 1.0  # undecided counts as hallucinated
    store.save_labels([AuditLabel(number, "eve", "supported", settles=True)], utc_now())
    assert only(watch("status", "--json"))["rate"]["estimate"] == 0.0
