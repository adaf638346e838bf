"""Supported Hugging Face model families: their config.json fields and tensor names."""
