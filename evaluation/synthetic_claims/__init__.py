"""Claims written by rule, right and wrong, that train and test verifiers."""
