"""Define policies, which act on an answer after a verifier has scored its claims. Each policy has its own module."""
