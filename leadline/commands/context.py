"""
What every command may ask for: the settings, and the store they name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

import click

from leadline.commands.sections import built_in, schema
from leadline.errors import StoreError
from leadline.settings import Settings, load
from leadline.settings.common import ClusterSettings, PathSettings
from leadline.settings.load import load_section
from leadline.settings.plugins import PluginSettings, install

if TYPE_CHECKING:
    from leadline.store.contract import Store

P = ParamSpec("P")
R = TypeVar("R")


class Context:
    def __init__(
        self,
        config: Path | None,
        overrides: Sequence[str],
        store: str | None,
        cluster: str | None,
        verbose: bool,
    ) -> None:
        self.config = config
        self.overrides = tuple(overrides)
        self.store_option = store
        self.cluster = cluster
        self.verbose = verbose

    @cached_property
    def settings(self) -> Settings:
        file, overrides = self.config, self.overrides
        plugins = load_section("plugins", PluginSettings, file=file, overrides=overrides)
        install(plugins, built_in)  # before all others, for they may name plug-ins
        return load(schema(), file=file, overrides=overrides)

    @property
    def paths(self) -> PathSettings:
        return self.settings.get("paths", PathSettings)

    @property
    def clusters(self) -> dict[str, ClusterSettings]:
        clusters = self.settings.sections["clusters"]
        assert isinstance(clusters, dict)
        return clusters

    @property
    def store_address(self) -> str:
        from leadline.store.configured import address_of

        return self.store_option or address_of(self.settings)

    @property
    def store(self) -> Store:
        """
        The store, for who reads it: a lake that is not there is not begun, for its name may be
        mistyped.
        """
        from leadline.store import kind_and_place

        kind, folder = kind_and_place(self.store_address)
        if kind == "lake" and not Path(folder).is_dir():
            raise StoreError(
                f"{folder}: no lake is there yet; `leadline up` and `leadline backfill` begin one,"
                " --store lake:FOLDER names another"
            )
        return self.own_store

    @cached_property
    def own_store(self) -> Store:
        """
        The store, for who writes it, opened on first use and closed when the command ends.
        """
        from leadline.store.configured import configured_store

        return configured_store(self.settings, self.store_address)

    def close(self) -> None:
        if "own_store" in self.__dict__:
            self.own_store.close()


def with_context(function: Callable[Concatenate[Context, P], R]) -> Callable[P, R]:
    """
    Hand a command its Context as first argument.
    """
    return click.pass_obj(function)
