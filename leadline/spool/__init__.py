"""Where documents wait: append-only segments with durable read positions."""
