"""Readers of foreign files: one module per format."""
