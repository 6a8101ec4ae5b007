"""The style sheet: a package, so that it is shipped."""
