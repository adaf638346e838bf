"""Generators on remote servers with an OpenAI-compatible API."""
