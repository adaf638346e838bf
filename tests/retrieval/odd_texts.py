"""Texts for which encoders may differ in truncation, lower-casing or padding."""

ODD = (
    "The notice period is six weeks.",
    "  leading blanks,\n\n and LINES\t",
    "",
    "Ünïcode ﬁne: 漢字 and \u0301 marks, 1,000.50 $ \U0001f600",
    "very long " * 300,
    "a",
    "[SEP] [MASK] [CLS] are words here too",
)
