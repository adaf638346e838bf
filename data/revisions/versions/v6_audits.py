"""Add audits of answers in service, their labels, and checks of the verifier's anchors."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from data.columns import UtcDateTime

revision = "6"
down_revision = "5"


def upgrade() -> None:
    """Add the tables audits, audit_labels and anchor_checks."""
    op.create_table(
        "audits",
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("query_id", sa.String(64), nullable=False),
        sa.Column("collection_id", sa.Integer(), nullable=False),
        sa.Column("certificate", sa.String(64), nullable=False),
        sa.Column("policy", sa.Text(), nullable=False),
        sa.Column("probability", sa.Double(), nullable=False),
        sa.Column("answered", sa.Boolean(), nullable=False),
        sa.Column("score", sa.Double()),
        sa.Column("distance", sa.Double()),
        sa.Column("content", sa.JSON()),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_audits"),
        sa.UniqueConstraint("query_id", name="uq_audits_query_id"),
        sa.ForeignKeyConstraint(
            ["collection_id"], ["collections.id"], name="fk_audits_collection_id", ondelete="CASCADE"
        ),
        sqlite_autoincrement=True,
    )
    for column in ("collection_id", "certificate", "created_at"):
        op.create_index(f"ix_audits_{column}", "audits", [column])
    op.create_table(
        "audit_labels",
        sa.Column("audit", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("annotator", sa.String(64), nullable=False),
        sa.Column("settles", sa.Boolean(), nullable=False),
        sa.Column("label", sa.String(32), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("audit", "annotator", "settles", name="pk_audit_labels"),
        sa.ForeignKeyConstraint(["audit"], ["audits.number"], name="fk_audit_labels_audit", ondelete="CASCADE"),
        sa.CheckConstraint(
            "label IN ('hallucinated', 'supported', 'abstained', 'unscored')", name="ck_audit_labels_label"
        ),
    )
    op.create_table(
        "anchor_checks",
        sa.Column("certificate", sa.String(64), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("verifier", sa.Text(), nullable=False),
        sa.Column("anchors", sa.JSON(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("certificate", "number", name="pk_anchor_checks"),
    )
