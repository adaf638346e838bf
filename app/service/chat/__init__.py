"""OpenAI's interface: chat completions and models."""
