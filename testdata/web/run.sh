#!/bin/sh
# What "make web" and "make pictures" call: the tests of the report and the console in a browser, or the pictures that
# README.md and docs/tour.md show. They need node, npm, Chromium and the two packages of package-lock.json. Where one is
# missing, nothing runs and the status is 0; with WEB=required it is 1.
set -eu
cd "$(dirname "$0")"
what=$1

skip() {
  echo "$what: skipped, $1"
  [ "${WEB:-}" = required ] && exit 1
  exit 0
}

for program in node npm; do
  command -v "$program" >/dev/null 2>&1 || skip "there is no $program"
done
CHROMIUM=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || true)}
[ -x "$CHROMIUM" ] || skip "there is no Chromium; on Debian: apt-get install chromium"
WAYBILL=$(cd ../.. && pwd)/bin/waybill
export CHROMIUM WAYBILL

# A lock file that does not fit, or a package with another digest, is a defect and no lack of network.
if ! out=$(npm ci 2>&1); then
  printf '%s\n' "$out" >&2
  case $out in *EUSAGE* | *EINTEGRITY*) exit 1 ;; esac
  skip "npm cannot fetch the packages"
fi

case $what in
web) exec npm test --silent ;;
pictures) exec node pictures.mjs ;;
*) echo "run.sh: web or pictures, not $what" >&2; exit 2 ;;
esac
