"""Reference-free signals from samples and token probabilities, and how well they detect hallucinations."""
