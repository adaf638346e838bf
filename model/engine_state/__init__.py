"""Keys and values of many sequences in one arena, and attention shared by sequences with a common prefix."""
