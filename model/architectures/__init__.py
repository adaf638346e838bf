"""The families of Hugging Face checkpoints that the one decoder computes: their config.json and tensor names."""
