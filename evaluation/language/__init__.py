"""What a text says, without a model: words, numbers, dates, units, negation, lists."""
