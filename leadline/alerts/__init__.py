"""Rules that watch, and the notifiers that tell."""
