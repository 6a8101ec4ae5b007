"""Every collector: one module each, listed in one table."""
