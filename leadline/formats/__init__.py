"""What a document is: every dataset and field, defined once."""
