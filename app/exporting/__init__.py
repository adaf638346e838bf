"""Exports of judged responses to files and to servers of traces."""
