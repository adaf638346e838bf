"""Checkpoints: folders and files of weights, read, checked and written."""
