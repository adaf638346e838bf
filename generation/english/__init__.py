"""English word lists, verb forms and a tagger, for rule-based analysis of sentences."""
