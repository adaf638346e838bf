"""English words, verb forms and tagged tokens, for rules that read sentences."""
