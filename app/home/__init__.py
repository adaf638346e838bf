"""The home folder: its permissions and the age of what it keeps."""
