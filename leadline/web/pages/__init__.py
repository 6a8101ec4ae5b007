"""Every page by its address. To add one: write its module, then its line here."""

from __future__ import annotations

from flask import Flask

from leadline.web.pages import data, healthz, job, jobs, metrics, nodes, overview, search, usage

NAVIGATION = (
    ("overview", "Overview"),
    ("usage", "Usage"),
    ("jobs", "Jobs"),
    ("programs", "Programs"),
    ("users", "Users"),
    ("nodes", "Nodes"),
    ("search", "Search"),
    ("data", "Data"),
)


def add_pages(app: Flask) -> None:
    app.add_url_rule("/", "overview", overview.show)
    app.add_url_rule("/usage", "usage", usage.show)
    app.add_url_rule("/usage.svg", "usage_svg", usage.as_svg)
    app.add_url_rule("/usage.png", "usage_png", usage.as_png)
    app.add_url_rule("/jobs", "jobs", jobs.show)
    app.add_url_rule("/jobs/<path:job>", "job", job.show)
    app.add_url_rule("/programs", "programs", usage.programs)
    app.add_url_rule("/users", "users", usage.users)
    app.add_url_rule("/nodes", "nodes", nodes.show)
    app.add_url_rule("/search", "search", search.show)
    app.add_url_rule("/data", "data", data.show)
    app.add_url_rule("/metrics", "metrics", metrics.show)
    app.add_url_rule("/healthz", "healthz", healthz.show)
