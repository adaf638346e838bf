"""The home folder: its permissions and the retention of stored queries."""
