"""Generation: from a question and retrieved chunks to a completion with citations.

Does not depend on evaluation.
"""
