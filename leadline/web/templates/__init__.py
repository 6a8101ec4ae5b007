"""Jinja templates of the pages: a package, so that they are shipped."""
