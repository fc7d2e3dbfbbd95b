#!/bin/sh
# What "make demo" shows: a run that is killed in its third step continues where it was,
# and verify finds one changed byte in a copy of the store. It needs no terminal and no
# network; the store stays in bin/demo until the next demo or "make clean".
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
bin=$root/bin/waybill
demo=$root/bin/demo
store=store # in $demo, where the commands run
[ -x "$bin" ] || { echo "demo: $bin does not exist; run: make binary" >&2; exit 1; }
rm -rf "$demo"
mkdir -p "$demo"
temp=$(mktemp -d "${TMPDIR:-/tmp}/waybill-demo.XXXXXX")
pid=
trap 'test -z "$pid" || kill -9 "$pid" 2>/dev/null || true; rm -rf "$temp"' EXIT
trap 'exit 130' INT TERM

say() { printf '\n== %s\n\n' "$*"; }
try() { # prints a command as it would be typed, and runs it
  printf '$ waybill %s\n' "$*"
  "$bin" "$@" --store "$store" </dev/null
}

cd "$demo"
cat >ship.yaml <<'YAML'
id: project.ship
name: Ship it
description: Four commands; the third one hangs the first time.
version: 1.0.0
steps:
  - id: build
    title: Build
    action: {kind: command, argv: [sh, -c, "echo built 12 files"]}
  - id: test
    title: Test
    action: {kind: command, argv: [sh, -c, "echo 41 tests passed"]}
  - id: upload
    title: Upload
    action:
      kind: command
      argv: [sh, -c, "test -e uploading || { : >uploading; sleep 60; }; echo uploaded"]
  - id: note
    title: Announce
    action: {kind: command, argv: [sh, -c, "echo announced"]}
YAML

say "A run is killed (SIGKILL) in its third step"
printf '$ waybill run ship.yaml --trust\n'
"$bin" run ship.yaml --trust --store "$store" </dev/null >"$temp/first" 2>&1 &
pid=$!
tries=0
until [ -e uploading ]; do
  tries=$((tries + 1))
  [ $tries -le 20 ] || { cat "$temp/first"; echo "demo: the third step did not begin" >&2; exit 1; }
  sleep 1
done
kill -9 "$pid"
wait "$pid" 2>/dev/null || true
pid=
cat "$temp/first"
printf 'Killed\n'

say "It continues in the third step; the first two are not repeated"
try run ship.yaml --run @last --trust

say "Every step and its result is on record"
try runs show @last

say "The store is as it was written"
try verify

say "One byte is changed in a copy of the store: verify finds it"
cp -R "$store" "$temp/copy"
set -- "$temp"/copy/sessions/*/events/00000000-*.jsonl
printf X | dd of="$1" bs=1 seek=100 conv=notrunc 2>/dev/null
printf '$ waybill verify --store COPY\n'
status=0
"$bin" verify --store "$temp/copy" </dev/null || status=$?
[ $status -eq 5 ] || { echo "demo: verify ended with $status instead of 5" >&2; exit 1; }
printf '(exit status 5: integrity)\n'

"$bin" runs show @last --store "$store" --json </dev/null | grep -q '"status":"complete"' ||
  { echo "demo: the run is not complete" >&2; exit 1; }
say "The demo's store is kept. Everything that happened, in order:"
cd "$root"
echo "bin/waybill runs timeline @last --store bin/demo/store"
