"""The embedded reader: its Generator, its prompts and its training rows."""
