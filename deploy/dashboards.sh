#!/bin/bash
# Starts OpenSearch Dashboards with the generated password.
set -eu
OPENSEARCH_PASSWORD=$(cat /secrets/admin.password)
export OPENSEARCH_PASSWORD OPENSEARCH_USERNAME=kibanaserver
exec ./opensearch-dashboards-docker-entrypoint.sh opensearch-dashboards
