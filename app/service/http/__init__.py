"""HTTP: access, limits, errors, server-sent events."""
