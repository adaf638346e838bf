"""How good a search is: judgements, measures with intervals, paired tests, tuning, and what failed."""
