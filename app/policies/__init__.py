"""Policies wired to the pipeline: the request, the verifier, the certificate, and a query answered with them."""
