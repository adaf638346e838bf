"""Implementation of the training commands."""
