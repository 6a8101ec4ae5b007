"""
Fifty random questions on each data set that sites may bring: the answers are the truth.
"""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from leadline.formats import Document
from leadline.store.contract import Store
from leadline.store.lake import LakeStore
from leadline.store.memory import MemoryStore
from tests.query.judge import Judge
from tests.query.loaded import SETS, documents, keep, read

LATER = timedelta(days=3)  # when all that was taken in is long dealt with
QUESTIONS = 50
ALSO = ("grid-engine", "slurm", "sonar-json_samples", "node", "fleet")


def loaded(name: str, store: Store, folder: Path, now: datetime) -> list[Document]:
    """
    STORE with the data set, and with what chores make of it; its documents as the naive store
    has them.
    """
    format, files = SETS[name]
    paths, naive = files(folder), MemoryStore()
    for each in (naive, store):
        read(each, format, paths, folder)
        keep(each, now)
    return documents(naive)


@pytest.mark.parametrize("name", SETS)
def test_the_lake_tells_the_truth(name: str, tmp_path: Path) -> None:
    """
    Rows, totals, others and ranks are what plain Python finds in the documents, to 1e-9.
    """
    lake, now = LakeStore(tmp_path / "lake"), datetime.now(UTC) + LATER
    judge = Judge(loaded(name, lake, tmp_path, now))
    judge.examine(lake, QUESTIONS, now, random.Random(name))
    lake.close()


@pytest.mark.opensearch
@pytest.mark.parametrize("name", ALSO)
def test_opensearch_tells_the_truth(name: str, tmp_path: Path, opensearch_store: Store) -> None:
    """
    The same of fewer questions; what is marked as approximate within 2 %.
    """
    now = datetime.now(UTC) + LATER
    judge = Judge(loaded(name, opensearch_store, tmp_path, now))
    judge.examine(opensearch_store, 10, now, random.Random(name), 0.02)


def test_a_wrong_answer_is_not_taken_for_the_truth(tmp_path: Path) -> None:
    """
    One sample more or less in the store is found out.
    """
    now = datetime.now(UTC) + LATER
    known = loaded("sonar-json_samples", MemoryStore(), tmp_path, now)
    spoilt = MemoryStore()
    samples = [d for d in known if d["dataset"] == "process"]
    spoilt.write([d for d in known if d is not samples[-1]], "create")
    with pytest.raises(AssertionError, match="not"):
        Judge(known).examine(spoilt, QUESTIONS, now, random.Random(1))
