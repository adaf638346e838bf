"""Keys and values of many sequences at once: one arena, ranges of it, and reads shared by all that have a beginning."""
