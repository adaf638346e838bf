"""Analyse text by rules, without a model: words, numbers, dates, units, negation, lists."""
