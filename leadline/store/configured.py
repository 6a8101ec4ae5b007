"""
The store that the settings name.
"""

from __future__ import annotations

from leadline.settings import Settings
from leadline.settings.common import PathSettings, StoreSettings
from leadline.settings.secret import secret
from leadline.store import open_store
from leadline.store.contract import Store


def address_of(settings: Settings) -> str:
    named = settings.get("store", StoreSettings).address
    return named or f"lake:{settings.get('paths', PathSettings).lake}"


def configured_store(settings: Settings, address: str = "") -> Store:
    """
    The store at ADDRESS, else where the settings say.
    """
    address = address or address_of(settings)
    remote = address.startswith("opensearch")
    return open_store(address, **(store_options(settings) if remote else {}))


def store_options(settings: Settings) -> dict[str, object]:
    """
    How to reach a remote store, secrets read from their files.
    """
    store = settings.get("store", StoreSettings)
    options: dict[str, object] = {
        "verify": store.verify,
        "settings": settings.sections["opensearch"],
    }
    if store.ca_file:
        options["ca_file"] = store.ca_file
    if store.username:
        options["username"] = store.username
    if store.password_file:
        options["password"] = secret(store.password_file)
    if store.api_key_file:
        options["api_key"] = secret(store.api_key_file)
    return options
