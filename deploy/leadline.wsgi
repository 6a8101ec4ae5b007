"""
For Apache's mod_wsgi, and any other server that wants a file with an `application` in it.
"""

import os

os.environ.setdefault("LEADLINE_CONFIG", "/etc/leadline/leadline.yaml")

from leadline.web import create_app  # noqa: E402 - the settings file is named first

application = create_app()
