"""Devices, precision and memory."""
