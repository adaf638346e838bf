"""The decoder: configuration, attention, blocks, heads, and the KV cache."""
