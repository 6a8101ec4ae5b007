"""Work that runs once however many workers there are."""
