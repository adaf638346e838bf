"""The stages of the indexing job: reading, chunking, embedding and assembling. They run concurrently as a pipeline."""
