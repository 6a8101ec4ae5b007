"""What a document is: every dataset and field, defined once."""

from __future__ import annotations

from leadline.formats.field import Dataset, Field, Kind, Type
from leadline.formats.jobs import JOBS
from leadline.formats.samples import SAMPLES
from leadline.formats.summaries import SUMMARIES

Document = dict[str, object]

SCHEMA_VERSION = 1

DATASETS: dict[str, Dataset] = {d.name: d for d in (*SAMPLES, *JOBS, *SUMMARIES)}

__all__ = ["DATASETS", "SCHEMA_VERSION", "Dataset", "Document", "Field", "Kind", "Type"]
