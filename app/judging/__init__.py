"""Which verifier judges what."""
