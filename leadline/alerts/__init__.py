"""Alerts: what is wrong is said once, to whom it concerns, and again when it is over."""
