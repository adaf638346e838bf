"""What a run's rate is made of: repeated samples, kinds of questions, documents, and what retrieval did."""
