"""Which program stands behind a command line."""
