#!/bin/sh
# Runs the packages that have property tests with DRAWS draws each instead of the
# usual 100: properties.sh DRAWS [SEED]. The seed is 1 unless given, so that a
# change and not luck decides the outcome; 0 draws a new one.
set -eu
draws=${1:?usage: properties.sh DRAWS [SEED], for example properties.sh 1000 0}
seed=${2:-1}
packages=$(go list -f '{{.ImportPath}} {{.TestImports}} {{.XTestImports}}' ./... |
	grep -F 'pgregory.net/rapid' | cut -d ' ' -f 1)
# shellcheck disable=SC2086 # one argument per package
go test -count=1 -timeout 15m $packages -rapid.checks="$draws" -rapid.seed="$seed"
