"""Convert answers in the layouts of other tools to rows with the fields question, answer, contexts and references."""
