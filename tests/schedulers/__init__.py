"""Real schedulers, started and stopped by the tests that need them."""
