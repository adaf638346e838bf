"""Claims made by rule, from text and from records, to train a verifier: no model and no third-party sentence in
here.
"""
