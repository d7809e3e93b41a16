#!/bin/sh
# Runs the packages that have property tests with DRAWS draws each instead of the
# usual 100: properties.sh DRAWS.
set -eu
draws=${1:?usage: properties.sh DRAWS, for example properties.sh 1000}
packages=$(go list -f '{{.ImportPath}} {{.TestImports}} {{.XTestImports}}' ./... |
	grep -F 'pgregory.net/rapid' | cut -d ' ' -f 1)
# shellcheck disable=SC2086 # one argument per package
go test -count=1 -timeout 15m $packages -rapid.checks="$draws"
