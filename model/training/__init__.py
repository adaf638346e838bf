"""Train decoders, readers and verifiers on rows of tokens."""
