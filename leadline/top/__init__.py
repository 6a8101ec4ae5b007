"""`leadline top`: a live screen of who runs what where, for a terminal of 80×24 and more."""
