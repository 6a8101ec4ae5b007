"""One YAML file, checked whole before anything runs."""

from leadline.settings.load import Settings, load
from leadline.settings.typed import Duration, Size

__all__ = ["Duration", "Settings", "Size", "load"]
