#!/bin/sh
# Carries the bundled workflow wr.demo through to its end, in a store of its own
# that is removed afterwards, and shows the run. "make demo" calls it.
set -eu
bin=$(dirname "$0")/../bin/waybill
store=$(mktemp -d "${TMPDIR:-/tmp}/waybill-demo.XXXXXX")
trap 'rm -rf "$store"' EXIT INT TERM

echo "\$ waybill run wr.demo --trust --yes --notes '…'"
"$bin" run wr.demo --store "$store/store" --trust --yes --notes "Looked around: nothing stands out."
echo
echo "\$ waybill runs show @last"
"$bin" runs show @last --store "$store/store"
echo
echo "\$ waybill verify"
"$bin" verify --store "$store/store"
"$bin" runs show @last --store "$store/store" --json | grep -q '"status":"complete"' || { echo "the run is not complete" >&2; exit 1; }
