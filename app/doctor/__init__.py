"""The checks of ``plumbline doctor`` on the server of a model, one module per check."""
