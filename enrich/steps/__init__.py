"""Every enrichment step: one module each, listed in one table."""
