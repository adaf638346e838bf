"""English word lists, verb forms and tagged tokens, for rule-based sentence analysis."""
