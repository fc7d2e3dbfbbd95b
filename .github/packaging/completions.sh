#!/bin/sh
# Writes the completion scripts of every shell below the directory $1, for packages.
set -eu
out=$1/completions
mkdir -p "$out"
go run ./cmd/waybill completion bash >"$out/waybill.bash"
go run ./cmd/waybill completion zsh >"$out/_waybill"
go run ./cmd/waybill completion fish >"$out/waybill.fish"
