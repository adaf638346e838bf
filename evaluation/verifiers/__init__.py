"""Implement verifiers, which compute V(c). All have the same interface."""
