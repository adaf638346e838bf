"""Answers while they come: server-sent events."""
