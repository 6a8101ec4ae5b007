#!/bin/sh
# Run once before everything else in docker-compose.yml: makes the passwords, the token and the
# certificates that the services share. What is there already is kept.
#   leadline-init FOLDER
set -eu
folder=${1:?usage: leadline-init FOLDER}
umask 077
mkdir -p "$folder"
cd "$folder"

secret() {
    [ -s "$1" ] || printf 'Ll1-%s' "$(openssl rand -hex 20)" >"$1"
}

secret admin.password
secret shipper.token

if [ ! -s ca.pem ]; then
    openssl req -x509 -newkey rsa:3072 -nodes -days 3650 -subj "/CN=leadline CA" \
        -addext "basicConstraints=critical,CA:TRUE" -keyout ca.key -out ca.pem 2>/dev/null
fi

# certificate NAME EXTENSIONS: signed by our own authority.
certificate() {
    [ -s "$1.pem" ] && return
    openssl req -newkey rsa:3072 -nodes -subj "/O=leadline/CN=$1" \
        -keyout "$1.raw.key" -out "$1.csr" 2>/dev/null
    # OpenSearch reads PKCS 8 keys only.
    openssl pkcs8 -topk8 -nocrypt -in "$1.raw.key" -out "$1.key"
    printf '%s\n' "$2" >"$1.ext"
    openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days 3650 \
        -extfile "$1.ext" -out "$1.pem" 2>/dev/null
    rm -f "$1.raw.key" "$1.csr" "$1.ext"
}

certificate node "subjectAltName=DNS:opensearch,DNS:opensearch-2,DNS:opensearch-3,DNS:localhost"
certificate admin "extendedKeyUsage=clientAuth"
# The services run as users of their own and share nothing but this volume.
chmod 755 .
chmod 644 ./*.pem ./*.key ./*.password ./*.token
chmod 600 ca.key
