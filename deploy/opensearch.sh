#!/bin/bash
# Starts OpenSearch with our certificates and the generated password, then sets up security once.
set -eu
config=/usr/share/opensearch/config
mkdir -p "$config/tls"
cp /secrets/ca.pem /secrets/node.pem /secrets/node.key /secrets/admin.pem /secrets/admin.key \
    "$config/tls/"
OPENSEARCH_INITIAL_ADMIN_PASSWORD=$(cat /secrets/admin.password)
export OPENSEARCH_INITIAL_ADMIN_PASSWORD
if [ "${LEADLINE_SECURITY:-}" = init ]; then
    tools=/usr/share/opensearch/plugins/opensearch-security/tools
    hash=$(bash "$tools/hash.sh" -p "$OPENSEARCH_INITIAL_ADMIN_PASSWORD" | tail -n 1)
    cat >"$config/opensearch-security/internal_users.yml" <<USERS
_meta:
  type: internalusers
  config_version: 2
admin:
  hash: "$hash"
  reserved: true
  backend_roles: [admin]
kibanaserver:
  hash: "$hash"
  reserved: true
USERS
fi
exec ./opensearch-docker-entrypoint.sh opensearch
