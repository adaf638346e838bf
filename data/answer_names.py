"""Field names of an answer's parts in common formats.

Covers Ragas, Inspect, DeepEval, RAGTruth, RAGChecker, RefChecker, FlashRAG, HaluEval, SQuAD, and names that people use.
"""

from __future__ import annotations

from collections.abc import Mapping

MORE_REFERENCES = (
    *("golden_answers", "golden_answer", "gold_answers", "gold", "golds", "gt_answer", "gt_answers", "gt"),
    *("expected_answers", "expected", "targets", "ground_truth_answer", "ground_truth_answers", "correct_answer"),
    *("correct_answers", "right_answer", "best_answer", "ideal", "ideal_answer", "reference_output", "golden"),
)
"""Names of accepted answers that only some data sets use. Also used for questions (data.question_json)."""
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
"""For each part of a record its field names, in order of preference, ignoring case; a dot enters an object.

docs/score.md has the same table.
"""

FIRST_ANSWERS = 9
"""Number of answer names with equal rank; the others are used only if none of these is present."""
