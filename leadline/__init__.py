"""leadline: see what really runs on your clusters."""
