"""
Short digests, as hashlib makes them.

hashlib itself loads OpenSSL, some 4 MB on every node, for functions nobody here calls.
"""

try:
    from _blake2 import blake2b
except ImportError:  # a Python built without it
    from hashlib import blake2b


def digest(data: bytes, size: int) -> str:
    """
    SIZE bytes of BLAKE2b in hex.
    """
    return blake2b(data, digest_size=size).hexdigest()
