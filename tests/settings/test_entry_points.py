"""Plug-ins that packages bring along, found by their entry points."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from leadline.commands.sections import built_in
from leadline.errors import SettingsError
from leadline.settings.plugins import PluginSettings, forget, install, listed, plugged
from tests.settings.test_plugins import EXAMPLES

STEP = next(text for name, text in EXAMPLES.items() if name.startswith("steps/"))


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """
    A folder on Python's path in which distributions may lie, as pip would leave them.
    """
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    forget()
    sys.modules.pop("site_of_ours", None)


def distribution(site: Path, entry: str, text: str = STEP) -> None:
    (site / "site_of_ours.py").write_text(text)
    info = site / "site_of_ours-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: site-of-ours\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(entry)


def test_installed_plugin_is_found_when_asked_for(site: Path) -> None:
    """
    A package's step is loaded by its entry point, and only when the settings allow it.
    """
    distribution(site, "[leadline.steps]\nours = site_of_ours\n")
    install(PluginSettings(), built_in)
    assert {} == plugged("steps")
    install(PluginSettings(installed=True), built_in)
    assert ["ours"] == list(plugged("steps"))
    assert "entry point site_of_ours" == listed()["steps"]["ours"]


def test_installed_plugin_cannot_take_a_built_in_name(site: Path) -> None:
    """
    A package that calls its step `program` is refused by name.
    """
    distribution(site, "[leadline.steps]\nprogram = site_of_ours\n")
    with pytest.raises(SettingsError, match="taken by a built-in of steps"):
        install(PluginSettings(installed=True), built_in)


def test_broken_package_is_named(site: Path) -> None:
    """
    A package that cannot be imported is one line with the way out.
    """
    distribution(site, "[leadline.sinks]\nours = site_of_ours\n", "import nothing_like_it\n")
    with pytest.raises(SettingsError, match=r"site_of_ours: ModuleNotFoundError.*remove its"):
        install(PluginSettings(installed=True), built_in)
