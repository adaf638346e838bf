"""Answers in the layouts of other tools, as rows with the fields question, answer, contexts and references."""
