"""Index templates and lifecycle policies, generated from leadline.formats."""
