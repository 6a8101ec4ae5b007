"""Every page by its address. To add one: write its module, then its line here."""

from __future__ import annotations

from flask import Flask

from leadline.language import later
from leadline.web.kept import add_kept, kept
from leadline.web.pages import (
    allocations,
    burndown,
    compare,
    course,
    data,
    drawing,
    findings,
    healthz,
    job,
    jobs,
    login,
    metrics,
    node,
    nodes,
    overview,
    search,
    states,
    usage,
)

NAVIGATION = (
    ("overview", later("Overview")),
    ("usage", later("Usage")),
    ("jobs", later("Jobs")),
    ("users", later("Users")),
    ("projects", later("Projects")),
    ("programs", later("Programs")),
    ("nodes", later("Nodes")),
    ("findings", later("Findings")),
    ("allocations", later("Allocations")),
    ("search", later("Search")),
    ("data", later("Data")),
)


def add_pages(app: Flask) -> None:
    add_kept(app)
    app.add_url_rule("/", "overview", kept(overview.show))
    app.add_url_rule("/usage", "usage", kept(usage.show))
    app.add_url_rule("/usage.svg", "usage_svg", drawing.as_svg)
    app.add_url_rule("/usage.png", "usage_png", drawing.as_png)
    app.add_url_rule("/usage.vega", "usage_vega", drawing.as_vega)
    app.add_url_rule("/jobs", "jobs", kept(jobs.show))
    app.add_url_rule("/jobs/<path:job>", "job", kept(job.show))
    app.add_url_rule("/job.vega", "job_vega", job.as_vega)
    app.add_url_rule("/programs", "programs", kept(usage.programs))
    app.add_url_rule("/users", "users", kept(usage.users))
    app.add_url_rule("/projects", "projects", kept(usage.projects))
    app.add_url_rule("/nodes", "nodes", kept(nodes.show))
    app.add_url_rule("/nodes/<cluster>/<host>", "node", kept(node.show))
    app.add_url_rule("/nodes/<cluster>/<host>/over-time.<form>", "node_over_time", course.show)
    app.add_url_rule("/nodes/<cluster>/<host>/states.<form>", "node_states", states.show)
    app.add_url_rule("/compare", "compare", kept(compare.show))
    app.add_url_rule("/findings", "findings", kept(findings.show))
    app.add_url_rule("/allocations", "allocations", kept(allocations.show))
    app.add_url_rule("/allocations/over-time.<form>", "allocations_over_time", burndown.show)
    app.add_url_rule("/search", "search", kept(search.show))
    app.add_url_rule("/data", "data", kept(data.show))
    app.add_url_rule("/login", "login", login.show, methods=["GET", "POST"])
    app.add_url_rule("/logout", "logout", login.leave, methods=["POST"])
    app.add_url_rule("/metrics", "metrics", metrics.show)
    app.add_url_rule("/healthz", "healthz", healthz.show)
