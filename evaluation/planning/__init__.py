"""How many questions, samples and labels an answer of a wanted precision takes, by simulating the planned analysis."""
