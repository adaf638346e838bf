"""Rules that detect a claim that contradicts its evidence although it uses the same words."""
