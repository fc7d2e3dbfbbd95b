#!/bin/sh
# Runs one of the three servers. NODE is its name. db1 creates the database and its roles in an empty directory; the others copy db1 and
# follow it. A server that was promoted or replaced later is set up by hand: docs/machines.md#fail-over.
set -eu
: "${NODE:?}" "${PGDATA:?}"
own=${SOCKET:-/var/run/postgresql} first=${FIRST:-/sockets/db1} here=$(cd "$(dirname "$0")" && pwd)

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  if [ "$NODE" = db1 ]; then
    initdb --username=postgres --auth=peer --data-checksums --encoding=UTF8 --locale=C.UTF-8
    printf '%s\n' 'create role waybill_owner login' 'create role agents login' 'create database team owner waybill_owner' |
      postgres --single -D "$PGDATA" postgres
  else
    pg_basebackup --pgdata="$PGDATA" --host="$first" --username=postgres --wal-method=stream --checkpoint=fast --write-recovery-conf
  fi
fi

others=$(printf '%s\n' db1 db2 db3 | grep -vx "$NODE" | paste -sd, -)
exec postgres -c listen_addresses= -c "unix_socket_directories=$own" -c "hba_file=$here/pg_hba.conf" \
  -c "cluster_name=$NODE" -c "synchronous_standby_names=ANY 1 ($others)" -c synchronous_commit=on \
  -c wal_keep_size=1GB -c idle_in_transaction_session_timeout=5min
