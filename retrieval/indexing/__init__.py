"""The steps of the indexing job: reading, cutting, embedding and assembling, each of which works ahead of the next."""
