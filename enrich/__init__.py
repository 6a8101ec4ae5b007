"""The worker: receives samples, names what ran, hands it to a store."""
