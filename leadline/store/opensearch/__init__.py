"""
OpenSearch as the store, for more than one machine: time-based indices, templates, lifecycle, and
the same answers as the lake gives.
"""
