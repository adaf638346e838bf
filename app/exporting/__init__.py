"""Export judged responses to files and to OpenTelemetry servers."""
