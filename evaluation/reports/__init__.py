"""Reports of a run: HTML, Markdown, CSV, JSON and plots."""
