"""What runs on every node: samples in, NDJSON out."""
