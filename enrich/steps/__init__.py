"""Every step of the chain by name, in the order it runs. To add one: its module, then its line."""

from __future__ import annotations

from enrich.step import StepModule
from enrich.steps import (
    cluster,
    identity,
    ingested,
    job_context,
    job_id,
    job_run,
    local_time,
    program,
    redact,
    tags,
)

BUILT_IN: dict[str, StepModule] = {
    "redact": redact,
    "cluster": cluster,
    "job_id": job_id,
    "job_run": job_run,
    "job_context": job_context,
    "program": program,
    "tags": tags,
    "local_time": local_time,
    "identity": identity,
    "ingested": ingested,
}
