"""One YAML file, checked whole before anything runs."""
