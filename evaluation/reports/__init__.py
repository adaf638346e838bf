"""Create reports of a run: HTML, Markdown, CSV, JSON and plots."""
