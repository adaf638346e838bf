"""Detection of answers that decline to answer, in the most widely written languages."""
