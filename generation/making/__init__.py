"""Training examples made by rule from plain text: no model, no labels, and nothing the text does not say."""
