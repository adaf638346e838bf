"""Add human labels of responses, and the samples drawn for labelling."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from data.columns import UtcDateTime

revision = "3"
down_revision = "2"

_SAMPLE = ("run_id", "question_id", "arm", "decoding", "sample")


def upgrade() -> None:
    """Add the tables label_draws and labels."""
    op.create_table(
        "label_draws",
        sa.Column("run_id", sa.String(64), nullable=False),
        sa.Column("draw", sa.JSON(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("run_id", name="pk_label_draws"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_label_draws_run_id", ondelete="CASCADE"),
    )
    op.create_table(
        "labels",
        sa.Column("run_id", sa.String(64), nullable=False),
        sa.Column("question_id", sa.Text(), nullable=False),
        sa.Column("arm", sa.String(64), nullable=False),
        sa.Column("decoding", sa.Text(), nullable=False),
        sa.Column("sample", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("annotator", sa.String(64), nullable=False),
        sa.Column("settles", sa.Boolean(), nullable=False),
        sa.Column("label", sa.String(32), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint(*_SAMPLE, "annotator", "settles", name="pk_labels"),
        sa.ForeignKeyConstraint(
            _SAMPLE, [f"samples.{name}" for name in _SAMPLE], name="fk_labels_sample", ondelete="CASCADE"
        ),
        sa.CheckConstraint("label IN ('hallucinated', 'supported', 'abstained', 'unscored')", name="ck_labels_label"),
    )
