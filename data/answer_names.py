"""Field names of the parts of an answer record in common formats.

They cover Ragas, Inspect, DeepEval, RAGTruth, RAGChecker, RefChecker, FlashRAG, HaluEval, SQuAD, and common variants.
"""

from __future__ import annotations

from collections.abc import Mapping

MORE_REFERENCES = (
    *("golden_answers", "golden_answer", "gold_answers", "gold", "golds", "gt_answer", "gt_answers", "gt"),
    *("expected_answers", "expected", "targets", "ground_truth_answer", "ground_truth_answers", "correct_answer"),
    *("correct_answers", "right_answer", "best_answer", "ideal", "ideal_answer", "reference_output", "golden"),
)
"""Names of accepted answers that only some data sets use. data.question_json uses them too."""
UNANSWERABLE = ("is_impossible", "unanswerable", "is_unanswerable")
"""Names of fields that mark a question as unanswerable when true (SQuAD 2.0)."""

NAMES: Mapping[str, tuple[str, ...]] = {
    "question": ("question", "user_input", "query", "prompt", "input"),
    "answer": (
        *("answer", "response", "output.completion", "completion", "prediction", "generated_answer"),
        *("model_answer", "actual_output", "generated_text"),
        *("output", "output.pred", "pred", "predicted_answer", "generated_response", "generation", "model_response"),
        *("model_output", "chatgpt_response", "result"),
    ),
    "contexts": (
        *("contexts", "retrieved_contexts", "context", "retrieval_context", "metadata.contexts", "passages"),
        *("retrieved_documents", "documents", "evidence", "retrieved_context", "knowledge", "source_documents"),
        *("output.retrieval_result", "retrieval_result", "retrieved_docs", "retrieved_passages", "retrieved_chunks"),
        *("search_results", "ctxs", "chunks", "docs"),
    ),
    "references": (
        *("references", "ground_truths", "reference", "ground_truth", "target", "answers", "expected_output"),
        *("expected_answer", "gold_answer", "reference_answer", "reference_answers", *MORE_REFERENCES),
    ),
    "arm": ("arm", "system", "metadata.arm", "model", "generator"),
    "id": ("id", "_id", "sample_id", "response_id", "answer_id"),
    "sample": ("sample", "epoch", "sample_index"),
    "group": ("group", "question_id", "query_id", "source_id", "metadata.group"),
    "kind": ("kind", "task", "task_type", "metadata.kind", "category"),
    "answerable": ("answerable", "is_answerable", "metadata.answerable"),
    "unanswerable": UNANSWERABLE,
    "hallucinated": ("hallucinated", "is_hallucinated", "is_hallucination", "hallucination"),
    "supported": ("supported", "is_supported", "faithful", "is_faithful", "grounded", "factual"),
    "label": ("label", "human_label", "annotation"),
    "spans": ("labels",),
}
"""Field names of each part of a record, in order of preference, compared without case. A dot separates nested names.

docs/score.md has the same table.
"""

FIRST_ANSWERS = 9
"""Number of answer names with equal rank. The other names are used only if none of these is present."""
