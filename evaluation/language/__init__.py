"""Rule-based text analysis, without a model: words, numbers, dates, units, negation, lists."""
