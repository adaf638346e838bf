"""Keys and values of many sequences: an arena, ranges of it, and attention shared by sequences with a common prefix."""
