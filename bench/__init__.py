"""Every benchmark is a script here: `python bench/NAME.py [--quick] [--json FILE]`."""
