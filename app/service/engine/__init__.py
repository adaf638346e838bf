"""The engine of the service, which answers many queries concurrently."""
