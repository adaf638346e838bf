"""Parsers that turn files of many formats into documents. Untrusted formats are parsed in a child process."""
