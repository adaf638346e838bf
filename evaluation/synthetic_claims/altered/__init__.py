"""The evidence of an answer altered, so that claims nobody rewrote change their truth."""
