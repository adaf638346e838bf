"""The judge of policies: equal verdicts for one answer and for a batch, by passages or by search, with the names of
runs.
"""

from __future__ import annotations

from typing import Any

from app.policies.judging import PolicyJudge, PolicyJudging
from evaluation.analysis.faithfulness import verifier_name
from generation.completion import Completion, Usage

TRUE = "The warranty of the Heron 4 lasts for three years [1]."
FALSE = "The engineers of Lisbon painted seventeen submarines [1]."


def judging(world: Any, question: str, *texts: str, search: Any = None) -> PolicyJudging:
    prompt = world.says.prompt(question, world.line.search("notes").retrieve(question, 2), 32)
    made = [Completion(text, (), (), "stop", Usage(1, 1), 0) for text in texts]
    return PolicyJudging(question, tuple((prompt, completion) for completion in made), search)


def test_a_batch_gives_what_each_item_gives_alone(policy_world: Any, policy_judge: PolicyJudge) -> None:
    search = policy_world.line.search("notes")
    items = [
        judging(policy_world, "How long is the warranty of the Heron 4?", TRUE, FALSE),
        judging(policy_world, "When does the office in Lisbon open?", "It opens at nine.", "I do not know."),
        judging(policy_world, "How long is the warranty of the Heron 4?", FALSE, TRUE, search=search),
    ]
    together = policy_judge.judge(items)
    alone = [policy_judge.judge([item])[0] for item in items]
    assert [[e.outcome for e in found] for found in together] == [[e.outcome for e in found] for found in alone]
    assert [e.outcome for e in together[0]] == ["supported", "hallucinated"]
    assert [e.outcome for e in together[2]] == ["hallucinated", "supported"]
    assert together[1][1].outcome == "abstained"


def test_evidence_stands_in_its_document(policy_world: Any, policy_judge: PolicyJudge) -> None:
    question = "How long is the warranty of the Heron 4?"
    ((evaluation,),) = policy_judge.judge([judging(policy_world, question, TRUE)])
    chunks = {c.chunk.document_id: c.chunk for c in policy_world.line.search("notes").retrieve(question, 2)}
    evidence = evaluation.verdicts[0].evidence
    assert evidence
    for one in evidence:
        chunk = chunks[one.document_id or ""]
        assert chunk.text[one.start - chunk.start : one.end - chunk.start] == one.text


def test_names_are_those_of_runs(policy_world: Any, policy_judge: PolicyJudge) -> None:
    assert policy_judge.name == verifier_name(policy_judge._scorer, 0.5)
    routed, alone = policy_judge.searching_names(policy_world.line.search("notes"))
    assert routed.startswith("routed/") and routed.endswith(alone) and alone.startswith("entailment/")
