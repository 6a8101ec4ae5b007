"""Saved objects for OpenSearch Dashboards and Kibana."""
