"""The decoder engine: continuous batching of many requests on one model, with prefix sharing."""
