"""The decoder: configuration, attention, blocks, heads, and the cache of keys and values."""
