"""Readers of foreign files: one module per format, listed in enrich.backfill.readers."""
