"""
Roles on a real node with the real security plug-in: what each account can get out of it.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from leadline.commands import cli
from leadline.errors import SettingsError, StoreError
from leadline.formats import Document
from leadline.formats.templates import families
from leadline.settings.common import RetentionSettings
from leadline.store.opensearch import OpenSearchStore
from leadline.store.opensearch.node import scratch_folder
from leadline.store.opensearch.roles import MASKED, SHARED, TWINS, Access, roles, set_up_roles
from leadline.store.opensearch.settings import OpenSearchSettings
from leadline.store.opensearch.setup import set_up
from leadline.store.plan import Aggregate, Function, Group, Plan
from leadline.store.scope import EVERYTHING
from tests.needs import lacking
from tests.store.cases import COUNT, everything
from tests.store.documents import job, process
from tests.store.opensearch.secure import PASSWORD, SecureNode, plugin

PREFIX = "leadline"
ACCESS = Access(admins=("ada",), leaders=("dora:chem",), service="worker")
SECRET = "/home/alice/unpublished.inp"
Open = Callable[[str], OpenSearchStore]


def documents() -> list[Document]:
    people = (("alice", "chem"), ("bob", "chem"), ("carl", "ml"), ("dora", "chem"))
    found: list[Document] = [{**process(50), "dataset": "node"}]
    found[0].pop("process.entity_id")
    for number, (user, group) in enumerate(people):
        who = {"user.name": user, "user.group": group}
        line = SECRET if user == "alice" else f"run {user}"
        found.append(process(number, **who, **{"process.command_line": line, "core_seconds": 1.0}))
        found.append(job(number, 1, **who, **{"job.work_dir": f"/home/{user}"}))
    return found


@pytest.fixture(scope="module")
def node() -> Iterator[SecureNode]:
    try:
        plugin()
    except StoreError as error:
        lacking(f"the security plug-in is not to be had: {error}")
    node = SecureNode(scratch_folder(), heap="600m", tied=True)
    try:
        node.prepare()
    except (OSError, subprocess.CalledProcessError) as error:
        lacking(f"openssl cannot make certificates here: {error}")
    try:
        node.start(wait=180)
        prepare(node)
        yield node
    finally:
        node.stop()
        shutil.rmtree(node.folder, ignore_errors=True)


def prepare(node: SecureNode) -> None:
    """
    Roles by an administrator of the engine; the rest as leadline's own account.
    """
    node.account("root", "admin")
    engine = node.store("root", PREFIX)
    assert set_up_roles(engine.client, PREFIX, ACCESS, dry_run=False)
    engine.close()
    for name in ("alice", "bob", "carl", "dora"):
        node.account(name, f"{PREFIX}_user")
    node.account("ada", f"{PREFIX}_user")
    node.account("sue", role=f"{PREFIX}_support")
    node.account("worker")
    node.account("stranger")
    store = node.store("worker", PREFIX)
    set_up(store.client, PREFIX, OpenSearchSettings(refresh="1s"), RetentionSettings())
    assert len(documents()) == store.write(documents(), "create").accepted
    store.refresh_all_own()
    store.close()


@pytest.fixture
def opened(node: SecureNode) -> Iterator[Open]:
    stores: list[OpenSearchStore] = []

    def open_as(name: str) -> OpenSearchStore:
        stores.append(node.store(name, PREFIX))
        return stores[-1]

    yield open_as
    for store in stores:
        store.close()


def guessed(store: OpenSearchStore) -> list[int]:
    """
    How many documents a search by parts of alice's line comes to.
    """
    guesses = (
        {"term": {"process.command_line": SECRET}},
        {"prefix": {"process.command_line": SECRET[:12]}},
        {"match": {"process.command_line.text": "unpublished"}},
    )
    path = f"/{PREFIX}-process-*/_search"
    found = [store.client.post(path, {"query": guess, "size": 0}) for guess in guesses]
    return [answer["hits"]["total"]["value"] for answer in found]


def users(store: OpenSearchStore, dataset: str = "process") -> set[object]:
    return {document.get("user.name") for document in everything(store, dataset)}


@pytest.mark.opensearch
@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("alice", {"alice"}),
        ("carl", {"carl"}),
        ("dora", {"alice", "bob", "dora"}),
        ("ada", {"alice", "bob", "carl", "dora"}),
        ("sue", {"alice", "bob", "carl", "dora"}),
        ("worker", {"alice", "bob", "carl", "dora"}),
    ],
)
def test_each_sees_what_is_hers(opened: Open, name: str, seen: set[str]) -> None:
    """
    By documents, counts, distinct values and jobs alike; nodes as wholes are everybody's.
    """
    store = opened(name)
    assert seen == users(store) == users(store, "job")
    distinct = Aggregate("users", Function.DISTINCT, "user.name")
    (row,) = store.ask(Plan("process", (COUNT, distinct)), EVERYTHING)
    assert (len(seen), len(seen)) == (row["n"], row["users"])
    rows = store.ask(Plan("process", (COUNT,), by=(Group("user.name"),)), EVERYTHING)
    assert seen == {row["user.name"] for row in rows}
    assert 1 == len(everything(store, "node"))


@pytest.mark.opensearch
def test_without_a_role_nothing_is_to_be_seen(opened: Open) -> None:
    """
    An account of the engine that is none of ours.
    """
    with pytest.raises(StoreError):
        users(opened("stranger"))


@pytest.mark.opensearch
@pytest.mark.parametrize("name", ["dora", "sue"])
def test_masked_lines_are_neither_shown_nor_found(opened: Open, name: str) -> None:
    """
    Not by documents, not by values of the field, not by its words, not by guessing the whole.
    """
    store = opened(name)
    found = {d["user.name"]: d for d in everything(store)}
    assert SECRET not in str(found)
    assert found["alice"].get("process.command_line")
    rows = store.ask(Plan("process", (COUNT,), by=(Group("process.command_line"),)), EVERYTHING)
    assert SECRET not in {row["process.command_line"] for row in rows}
    assert not any(
        SECRET in hit.command_line for hit in store.search("unpublished", EVERYTHING).hits
    )
    assert [0, 0, 0] == guessed(store)
    jobs = {d["user.name"]: d for d in everything(store, "job")}
    assert "/home/alice" != jobs["alice"].get("job.work_dir")


@pytest.mark.opensearch
@pytest.mark.parametrize("name", ["alice", "ada", "worker"])
def test_own_lines_are_not_masked(opened: Open, name: str) -> None:
    """
    A user reads and searches what she typed herself; so do those who may see all.
    """
    store = opened(name)
    assert [SECRET] == [h.command_line for h in store.search("unpublished", EVERYTHING).hits]
    assert [1, 1, 1] == guessed(store)


@pytest.mark.opensearch
def test_a_leader_sees_her_own_lines_masked_too(opened: Open) -> None:
    """
    The plug-in masks a field that any of her roles masks; the pages show her own.
    """
    found = {d["user.name"]: d for d in everything(opened("dora"))}
    assert "run dora" != found["dora"]["process.command_line"]


@pytest.mark.opensearch
def test_readers_write_nothing(opened: Open) -> None:
    """
    Roles that read do just that.
    """
    for name in ("alice", "dora", "ada"):
        outcome = opened(name).write([process(9)], "create")
        assert 0 == outcome.accepted


@pytest.mark.opensearch
def test_second_run_changes_nothing_and_leaders_come_and_go(node: SecureNode) -> None:
    """
    What is right is left alone, what the site added too; a group nobody leads loses its role.
    """
    store = node.store("root", PREFIX)
    assert [] == set_up_roles(store.client, PREFIX, ACCESS, dry_run=True)
    changed = Access(("ada", "eve"), ("dora:chem", "carl:ml"), "worker")
    told = set_up_roles(store.client, PREFIX, changed, dry_run=False)
    assert [
        "role leadline_leader_ml: install",
        "role leadline_admin: for ada, eve",
        "role leadline_leader_ml: for carl",
    ] == told
    back = set_up_roles(store.client, PREFIX, ACCESS, dry_run=False)
    assert any("leadline_leader_ml: remove" in line for line in back)
    assert [] == set_up_roles(store.client, PREFIX, ACCESS, dry_run=True)
    store.close()


@pytest.mark.opensearch
def test_command_takes_who_is_what_from_the_settings(node: SecureNode, tmp_path: Path) -> None:
    """
    Those of the pages; a second run has nothing to do.
    """
    (tmp_path / "password").write_text(PASSWORD)
    (tmp_path / "settings.yaml").write_text(
        f"store:\n  address: opensearch={node.url}\n  username: root\n"
        f"  password_file: {tmp_path}/password\n  ca_file: {node.config}/ca.pem\n"
        "web: {admins: ada, leaders: dora:chem}\n"
    )
    words = ["--config", str(tmp_path / "settings.yaml"), "setup", "--roles"]
    done = CliRunner().invoke(cli, [*words, "--dry-run"], catch_exceptions=False)
    assert "would change  role leadline_service: for root, worker\n" == done.output


@pytest.mark.opensearch
def test_who_may_not_manage_roles_is_told(node: SecureNode) -> None:
    """
    One line with the way out.
    """
    store = node.store("worker", PREFIX)
    with pytest.raises(StoreError, match="may not manage roles"):
        set_up_roles(store.client, PREFIX, ACCESS, dry_run=True)
    store.close()


@pytest.mark.opensearch
def test_without_the_plugin_it_says_so(opensearch: str) -> None:
    """
    A node that anybody may read.
    """
    store = OpenSearchStore([opensearch], prefix="plain")
    with pytest.raises(StoreError, match="no security plug-in"):
        set_up_roles(store.client, "plain", ACCESS, dry_run=True)
    store.close()


def test_every_family_has_its_rule() -> None:
    """
    A family of indices that is added is personal until somebody says otherwise.
    """
    made = roles(PREFIX, ACCESS)
    assert set(SHARED) < set(families())
    for name in ("leadline_user", "leadline_support", "leadline_admin", "leadline_leader_chem"):
        parts = made[name]["index_permissions"]
        patterns = {pattern for part in parts for pattern in part["index_patterns"]}
        assert {f"leadline-{family}-*" for family in families()} == patterns
        assert all(part["dls"] for part in parts)
    assert {name.rpartition(".")[0] for name in TWINS} < set(MASKED)


def test_a_group_that_cannot_name_a_role_is_refused() -> None:
    """
    It would end in an address and in a query.
    """
    with pytest.raises(SettingsError, match="cannot be named"):
        roles(PREFIX, Access(leaders=('dora:che"m',)))
